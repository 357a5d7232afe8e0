"""Escapes, interrupts and pipes: a terminal is sent text, and no more than it takes."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.shell import RUN, Shell, is_one_sentence, process

# --- escapes

# click takes colours out where it does not write to a terminal; this it leaves in.
ESCAPE = "\x1b]0;x\x07"


@pytest.mark.parametrize("options", [[], ["-q"], ["--json", "-q"]], ids=" ".join)
def test_escapes_in_ids_are_not_sent(options: list[str], shell: Shell) -> None:
    qrels = shell.write("esc.txt", f"q{ESCAPE} 0 a 1\nr{ESCAPE} 0 a 1\n")
    run = shell.write("esc.run", f"q{ESCAPE} Q0 a 1 1 t\ns{ESCAPE} Q0 a 1 1 t\n")

    done = shell.run("evaluate", qrels, run, "-m", "AP", "--lenient", *options)

    assert done.code == 0
    assert "\x1b" not in done.out
    assert r"\x1b]0;x" in done.out or r"\u001b]0;x" in done.out


@pytest.mark.parametrize("mark", ["\x1b]0;x\x07", "\x9b31m", "\u202e"], ids=ascii)
def test_other_marks_in_ids_are_not_sent(mark: str, shell: Shell) -> None:
    qrels = shell.write("esc.txt", f"q{mark} 0 a 1\n")
    run = shell.write("esc.run", f"q{mark} Q0 a 1 1 t\n")

    done = shell.run("evaluate", qrels, run, "-m", "AP", "-q", "--lenient")

    assert done.code == 0
    assert mark[0] not in done.out


def test_markup_in_ids_is_not_read(shell: Shell) -> None:
    qrels = shell.write("esc.txt", "[red]q[/red] 0 a 1\n")
    run = shell.write("[b].run", "[red]q[/red] Q0 a 1 1 t\n")

    done = shell.run("evaluate", qrels, run, "-m", "AP", "-q")

    assert "[red]q[/red]" in done.out
    assert "[b].run" in done.out


@pytest.mark.parametrize(
    "lines",
    [
        f"q1 Q0 a 1 {ESCAPE} t\n",
        f"q1 Q0 a 1 1 t\nq1 {ESCAPE}\n",
        f"q1 Q0 {ESCAPE} 1 1 t\nq1 Q0 {ESCAPE} 1 1 t\n",
        f"{ESCAPE} Q0 a 1 1 t\n",
    ],
    ids=["score", "line", "item", "query"],
)
def test_escapes_in_errors_are_not_sent(lines: str, shell: Shell) -> None:
    run = shell.write("esc.run", lines)

    done = shell.run("evaluate", shell.path("qrels.txt"), run)

    assert is_one_sentence(done, 3), done
    assert "\x1b" not in done.err


@pytest.mark.parametrize("options", [[], ["--fail-under", "AP=2"]], ids=" ".join)
def test_escapes_in_names_of_files_are_not_sent(
    options: list[str], shell: Shell
) -> None:
    run = shell.write(f"a{ESCAPE}.run", RUN)

    done = shell.run("evaluate", shell.path("qrels.txt"), run, *options)

    assert "\x1b" not in done.out
    assert "\x1b" not in done.err


def test_escapes_in_arguments_are_not_sent(shell: Shell) -> None:
    done = shell.evaluate("-m", f"nDCG{ESCAPE}", "--ties", "best")

    assert "\x1b" not in done.err


# --- interrupts, pipes, terminals


def test_an_interrupt_is_told(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("rankine._evaluate.evaluate.prepare", interrupt)

    done = shell.evaluate()

    assert (done.code, done.out) == (130, "")
    assert done.err.strip() == "rankine: interrupted"


@pytest.mark.slow
@pytest.mark.parametrize("command", ["metrics", "demo"])
def test_a_closed_pipe_ends_quietly(command: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "rankine", command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as started:
        assert started.stdout is not None
        assert started.stderr is not None
        started.stdout.close()
        complaint = started.stderr.read()
        code = started.wait(timeout=30)

    assert complaint == ""
    assert code == 0


@pytest.mark.slow
@pytest.mark.parametrize("command", ["metrics", "demo"])
def test_a_terminal_without_unicode_still_gets_numbers(
    command: str, shell: Shell
) -> None:
    done = process(
        command, folder=shell.folder, PYTHONIOENCODING="ascii", PYTHONUTF8="0"
    )

    assert done.returncode == 0
    assert done.stderr == ""
    assert "nDCG" in done.stdout
