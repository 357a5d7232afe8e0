"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  const PAGE = 50;
  const PRINTED = 20;

  // All text goes through textContent, so that no data become markup.
  const make = (name, options = {}, ...children) => {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(options)) {
      if (key === "text") node.textContent = value;
      else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else if (value !== null && value !== false) node.setAttribute(key, value === true ? "" : value);
    }
    node.append(...children);
    return node;
  };

  // Rounds as Python does: halves go to the even number.
  const rounded = (x) => {
    if (Number.isNaN(x)) return "undefined";
    const parts = x * 32;
    if (Number.isInteger(parts) && parts % 2 !== 0) {
      const whole = Math.floor(Math.abs(x) * 1e4);
      const size = ((whole + (whole % 2)) / 1e4).toFixed(4);
      return (x < 0 ? "-" : "") + size;
    }
    return x.toFixed(4);
  };
  const signed = (x) => (x > 0 || Object.is(x, 0) ? "+" : "") + rounded(x);

  for (const words of document.querySelectorAll(".scripted")) words.hidden = false;

  // Wrap each word of a command, so that no line breaks after the hyphen of an option.
  for (const code of document.querySelectorAll("pre code")) {
    const words = code.textContent.split(" ").map((text) => make("span", { text }));
    code.replaceChildren(...words.flatMap((word, place) => (place ? [" ", word] : [word])));
  }

  // Theme.
  const theme = byId("theme");
  const preferred = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme || (preferred.matches ? "dark" : "light")) === "dark";
  const nameTheme = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
  theme.hidden = false;
  nameTheme();
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    nameTheme();
    repaint();
  });
  preferred.addEventListener("change", () => { nameTheme(); repaint(); });

  // Tables that sort by their titles.
  // Numbers in names sort by their size: q9 before q10.
  const natural = (text) => text.toLowerCase().replace(/\d+/g, (digits) => digits.padStart(16, "0"));
  const sortBy = (rows, key, falling) => {
    const sign = falling ? -1 : 1;
    return rows
      .map((row, place) => [key(row), place, row])
      .map(([value, place, row]) => [typeof value === "string" ? natural(value) : value, place, row])
      .sort(([a, i], [b, j]) => {
        if (typeof a === "number" && typeof b === "number") {
          if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b) || i - j;
          return sign * (a - b) || i - j;
        }
        // Undefined values are words and come last.
        if (typeof a !== typeof b) return typeof a === "string" ? 1 : -1;
        return sign * ((a > b) - (a < b)) || i - j;
      })
      .map(([, , row]) => row);
  };
  const keyOf = (column) => (row) => {
    const cell = row.cells[column];
    return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
  };
  const titles = (table, sort) => {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = make("button", { type: "button", class: "title" }, ...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const before = head.getAttribute("aria-sort");
        const first = head.classList.contains("at-r") ? "descending" : "ascending";
        const other = first === "descending" ? "ascending" : "descending";
        const now = before === first ? other : first;
        heads.forEach((each) => each.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", now);
        sort(column, now === "descending");
      });
    });
    return heads;
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    titles(table, (column, falling) => {
      const body = table.tBodies[0];
      body.append(...sortBy([...body.rows], keyOf(column), falling));
    });
  }

  // Charts, in the colours of the page around them, so that they change with the theme.
  const views = new Map();
  const NARROW = 54;
  const embed = async (name, spec) => {
    const figure = byId(name);
    const live = figure.querySelector(".live");
    live.hidden = false;
    if (typeof spec.width === "number") {
      spec.width = "container";
      spec.autosize = { type: "fit-x", contains: "padding" };
    }
    if (spec.width && spec.width.step >= NARROW) {
      // On a narrow page, cells are as narrow as their numbers allow.
      const [names, columns] = [spec.encoding.y, spec.encoding.x].map((axis) => axis.scale.domain);
      const label = Math.min(220, 7 * Math.max(...names.map((text) => text.length))) + 16;
      spec.width.step = Math.max(NARROW, Math.min(spec.width.step, Math.floor((live.clientWidth - label) / columns.length)));
    }
    const place = make("div");
    live.replaceChildren(place);
    const drawn = await window.vegaEmbed(place, spec, {
      mode: "vega-lite", ast: true, actions: false, defaultStyle: false, renderer: "svg",
      tooltip: { disableDefaultStyle: true },
    });
    // The reader chose another chart in the meantime.
    if (place.parentNode !== live) { drawn.finalize(); return null; }
    figure.querySelector(".drawn").hidden = true;
    live.removeAttribute("aria-hidden");
    live.setAttribute("role", "img");
    live.setAttribute("aria-label", figure.querySelector(".drawn").getAttribute("aria-label"));
    // A map of many systems may be wider than the page: it scrolls, also by keyboard, and fades at the edge.
    const fade = () => live.classList.toggle("more", live.scrollLeft + live.clientWidth < live.scrollWidth - 1);
    if (live.scrollWidth > live.clientWidth + 1) live.tabIndex = 0;
    live.onscroll = fade;
    fade();
    const before = views.get(name);
    if (before) before.finalize();
    views.set(name, drawn);
    return drawn.view;
  };
  const copied = (value) => JSON.parse(JSON.stringify(value));
  // A long name keeps its beginning and its end.
  const isNarrow = () => root.clientWidth <= 520;
  const brief = (text, most = 24) => {
    const letters = [...text];
    const end = Math.floor((most - 1) / 2);
    return letters.length <= most ? text : `${letters.slice(0, most - 1 - end).join("")}…${letters.slice(-end).join("")}`;
  };
  const fill = (spec, words) => JSON.parse(JSON.stringify(spec), (key, value) =>
    (key === "title" || key === "text") && typeof value === "string"
      ? value.replace(/\{(metric|a|b)\}/g, (_, name) => (name === "metric" ? words.metric : brief(words[name])))
      : value);

  // Marks of queries are painted here, over the frame that Vega draws, because thousands must change at once when readers choose.
  const painters = new Map();
  const repaint = () => painters.forEach((again) => again());
  const MARGIN = 4;
  const REACH = 8;
  const kinds = {
    bars: {
      frame: (spec, rows, low, high) => {
        spec.mark.opacity = 0;
        spec.data.values = [{ start: 0, end: rows.length, difference: low }, { start: 0, end: rows.length, difference: high }];
      },
      sizes: (row) => [row.d],
      paint: (context, rows, x, y, colors) => {
        rows.forEach((row, place) => {
          const [left, top] = [x(place), Math.min(y(row.d), y(0))];
          context.fillStyle = colors[row.change];
          context.fillRect(left, top, Math.max(x(place + 1) - left - 0.25, 0.25), Math.abs(y(row.d) - y(0)));
        });
      },
      hit: (rows, x, y, left) => rows[Math.floor(x.invert(left))],
    },
    dots: {
      frame: (spec, rows, low, high) => {
        spec.layer[1].mark.opacity = 0;
        spec.data.values = [{ a: low, b: low, n: 1 }, { a: high, b: high, n: 1 }];
        delete spec.layer[0].data; // the diagonal goes from end to end
      },
      sizes: (row) => [row.a, row.b],
      paint: (context, rows, x, y, colors) => {
        context.globalAlpha = rows.length > 1000 ? 0.35 : 0.8;
        for (const row of rows) {
          context.fillStyle = colors[row.change];
          context.beginPath();
          context.arc(x(row.a), y(row.b), 3.4, 0, 2 * Math.PI);
          context.fill();
        }
      },
      hit: (rows, x, y, left, top) => {
        let [nearest, least] = [undefined, REACH * REACH];
        for (const row of rows) {
          const size = (x(row.a) - left) ** 2 + (y(row.b) - top) ** 2;
          if (size <= least) [nearest, least] = [row, size];
        }
        return nearest;
      },
    },
  };
  const paint = (kind, view, rows, canvas) => {
    const drawing = canvas.parentNode.querySelector("svg");
    const outer = drawing.getBoundingClientRect();
    const plot = drawing.querySelector(".role-frame .background").getBoundingClientRect();
    const [width, height] = [view.width() + 2 * MARGIN, view.height() + 2 * MARGIN];
    // At least twice the resolution of a plain screen; sizes are relative to the drawing, which is smaller on paper.
    const fine = Math.max(devicePixelRatio, 2);
    const sheet = new OffscreenCanvas(width * fine, height * fine);
    const part = (size, whole) => `${(100 * size) / whole}%`;
    Object.assign(canvas.style, {
      left: part(plot.left - outer.left - MARGIN, outer.width), width: part(width, outer.width),
      top: part(plot.top - outer.top - MARGIN, outer.height), height: part(height, outer.height),
    });
    const context = sheet.getContext("2d");
    context.scale(fine, fine);
    context.translate(MARGIN, MARGIN);
    const style = getComputedStyle(root);
    const colors = Object.fromEntries(["gains", "loses", "stays"].map((name) => [name, style.getPropertyValue(`--${name}`)]));
    kind.paint(context, rows, view.scale("x"), view.scale("y"), colors);
    // Shown as a picture: for paper, Chromium would repaint a canvas, out of place and over the axes.
    [canvas.width, canvas.height] = [sheet.width, sheet.height];
    canvas.getContext("bitmaprenderer").transferFromImageBitmap(sheet.transferToImageBitmap());
  };
  const tip = make("div", { class: "vg-tooltip", id: "of-query" });
  document.body.append(tip);
  const drawQueries = async (name, rows, words) => {
    if (!byId(name) || !window.vegaEmbed) return;
    const kind = kinds[name];
    let [low, high] = rows.length ? [Infinity, -Infinity] : [0, 1];
    for (const row of rows) for (const size of kind.sizes(row)) [low, high] = [Math.min(low, size), Math.max(high, size)];
    const spec = fill(data.charts[name], words);
    const heading = byId(name).querySelector("h3");
    heading.textContent = fill({ text: heading.dataset.title }, words).text;
    kind.frame(spec, rows, low, high);
    const view = await embed(name, spec);
    if (!view) return;
    const canvas = make("canvas");
    view.container().append(canvas);
    const again = () => paint(kind, view, rows, canvas);
    again();
    painters.set(name, again);
    view.addResizeListener(again);
    const under = (event) => kind.hit(rows, view.scale("x"), view.scale("y"), event.offsetX - MARGIN, event.offsetY - MARGIN);
    const leave = () => { tip.classList.remove("visible"); canvas.style.cursor = ""; };
    canvas.addEventListener("pointermove", (event) => {
      const row = under(event);
      if (!row) { leave(); return; }
      const lines = [[data.unit, data.queries[row.place]], [words.a, rounded(row.a)], [words.b, rounded(row.b)], ["difference", signed(row.d)]];
      tip.replaceChildren(make("table", {}, make("tbody", {}, ...lines.map(([key, text]) =>
        make("tr", {}, make("td", { class: "key", text: key }), make("td", { class: "value", text }))))));
      tip.classList.add("visible");
      const { offsetWidth: width, offsetHeight: height } = tip;
      tip.style.left = `${Math.max(Math.min(event.clientX + 12, root.clientWidth - width - 4), 4)}px`;
      tip.style.top = `${event.clientY + 12 + height > root.clientHeight ? event.clientY - height - 8 : event.clientY + 12}px`;
      canvas.style.cursor = "pointer";
    });
    canvas.addEventListener("pointerleave", leave);
    canvas.addEventListener("click", (event) => {
      const row = under(event);
      if (row) { leave(); open(row.place); }
    });
  };

  // Values of queries.
  const bytesOf = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const unpack = ([text, places]) => {
    const numbers = new Float64Array(bytesOf(text).buffer);
    if (places === undefined) return numbers;
    const bytes = bytesOf(places);
    const codes = numbers.length <= 256 ? bytes : new Uint16Array(bytes.buffer);
    return Float64Array.from(codes, (code) => numbers[code]);
  };
  const values = (data.values || []).map((systems) => systems.map(unpack));
  const state = { metric: 0, a: 0, b: 0, words: "", column: 0, falling: true, room: PAGE, open: null };
  const compares = (data.pairs || []).length > 0;
  if (compares) [state.a, state.b] = data.pairs[0];
  const rowsOf = () => {
    const [a, b] = [values[state.metric][state.a], values[state.metric][state.b]];
    const rows = [];
    for (let place = 0; place < a.length; place += 1) {
      const d = b[place] - a[place];
      if (!Number.isNaN(compares ? d : a[place])) rows.push({ place, a: a[place], b: b[place], d });
    }
    return rows;
  };
  const gain = (d) => (data.higher[state.metric] === false ? -d : d);
  const change = (d) => (Math.abs(d) <= 1e-12 ? "stays" : gain(d) > 0 ? "gains" : "loses");
  const drawPair = () => {
    if (!compares) return;
    const rows = rowsOf().sort((x, y) => gain(y.d) - gain(x.d) || x.place - y.place);
    for (const row of rows) row.change = change(row.d);
    const words = { metric: data.metrics[state.metric], a: data.systems[state.a], b: data.systems[state.b] };
    for (const name of Object.keys(kinds)) drawQueries(name, rows, words);
  };

  // The explorer.
  const explorer = byId("explorer");
  const unitTitle = (data.units || "").replace(/^./, (letter) => letter.toUpperCase());
  const textOf = (texts, place) => texts[place] || "";
  let list = null;
  let detail = null;
  let status = null;

  const select = (label, names, value, chosen) => {
    const box = make("select", { onchange: (event) => chosen(Number(event.target.value)) });
    names.forEach((name, place) => box.append(make("option", { value: place, text: brief(name, isNarrow() ? 32 : 40), title: name })));
    box.value = value;
    return make("label", {}, make("span", { text: label }), box);
  };

  const build = () => {
    const again = () => { state.room = PAGE; state.open = null; detail.replaceChildren(); fillList(); drawPair(); };
    const controls = byId("controls");
    const boxes = [select("Metric", data.metrics, 0, (place) => { state.metric = place; again(); })];
    if (compares) {
      boxes.push(select("From", data.systems, state.a, (place) => { state.a = place; again(); }));
      boxes.push(select("To", data.systems, state.b, (place) => { state.b = place; again(); }));
    }
    controls.append(...boxes);
    const search = make("input", { type: "search", id: "search", oninput: (event) => {
      state.words = event.target.value.toLowerCase();
      state.room = PAGE;
      fillList();
    } });
    status = make("p", { class: "hint", role: "status" });
    const heads = compares
      ? [[data.unit, "at-l"], ["from", "at-r"], ["to", "at-r"], ["difference", "at-r"]]
      : [[data.unit, "at-l"], ["value", "at-r"]];
    list = make("table", {}, make("caption", { class: "unseen", text: unitTitle }),
      make("thead", {}, make("tr", {}, ...heads.map(([text, side]) => make("th", { text, scope: "col", class: side })))),
      make("tbody"));
    state.column = heads.length - 1;
    state.falling = compares || data.higher[0] === false;
    titles(list, (column, falling) => { state.column = column; state.falling = falling; fillList(); });
    detail = make("div", { class: "detail", tabindex: "-1" });
    explorer.append(
      make("label", { class: "search" }, make("span", { text: `Search ${data.units}` }), search),
      status,
      make("div", { class: "two" },
        make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": unitTitle }, list), detail));
    controls.hidden = false;
    explorer.hidden = false;
    fillList();
  };

  const fillList = () => {
    const all = rowsOf();
    const name = ({ place }) => data.queries[place];
    const matching = state.words
      ? all.filter((row) => (name(row) + " " + textOf(data.queryTexts, row.place)).toLowerCase().includes(state.words))
      : all;
    const keys = compares
      ? [name, (row) => row.a, (row) => row.b, (row) => Math.abs(row.d)]
      : [name, (row) => row.a];
    const rows = sortBy(matching, keys[state.column], state.falling);
    const shown = rows.slice(0, state.room);
    const body = list.tBodies[0];
    body.replaceChildren(...shown.map((row) => {
      const button = make("button", { type: "button", class: "link", text: name(row), onclick: () => open(row.place) });
      const text = textOf(data.queryTexts, row.place);
      const first = make("td", {}, button, ...(text ? [make("small", { text, dir: "auto" })] : []));
      const numbers = [row.a, ...(compares ? [row.b] : [])]
        .map((value) => make("td", { class: "at-r", text: rounded(value) }));
      const last = compares ? [make("td", { class: `at-r ${change(row.d)}`, text: signed(row.d) })] : [];
      return make("tr", { "data-place": row.place, "aria-current": state.open === row.place ? "true" : null }, first, ...numbers, ...last);
    }));
    const n = rows.length.toLocaleString("en");
    status.replaceChildren(`${n} ${rows.length === 1 ? data.unit : data.units}`);
    if (rows.length > shown.length) {
      status.append(`, the first ${shown.length} are shown. `, make("button", {
        type: "button", class: "link", text: "Show more",
        onclick: () => { state.room *= 4; fillList(); },
      }));
    }
  };

  const gradeClass = (grade) => (grade === null ? "unjudged" : grade <= 0 ? "g0" : `g${Math.min(Math.ceil(grade), 4)}`);
  const chip = (grade) => make("span", {
    class: `grade ${gradeClass(grade)}`,
    title: grade === null ? "unjudged" : `grade ${grade}`,
    text: grade === null ? "–" : String(grade),
  });
  const itemRow = ([rank, item, grade], other) => {
    const text = textOf(data.itemTexts, item);
    const name = data.items[item];
    const moved = other === undefined ? "" : other === null ? "new" : other === rank ? "=" : other > rank ? `▲${other - rank}` : `▼${rank - other}`;
    return make("li", { "data-item": item, title: text ? `${name}: ${text}` : name },
      make("span", { class: "rank", text: rank || "–", title: rank ? null : "not retrieved" }), chip(grade),
      // Right-to-left text is cut off at its own end, so it needs its own line.
      make("span", { class: "item" }, make("span", { text: name, dir: "auto" }), ...(text ? [make("small", { text, dir: "auto" })] : [])),
      make("span", { class: "move", text: moved }));
  };
  const listOf = (system, place) => (data.lists[system] || {})[place];
  const lines = (left, right, height) => {
    const space = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(space, "svg");
    const rows = Math.max(left.length, right.length);
    svg.setAttribute("viewBox", `0 0 40 ${rows * height}`);
    svg.setAttribute("height", rows * height);
    svg.setAttribute("aria-hidden", "true");
    svg.setAttribute("preserveAspectRatio", "none");
    left.forEach(([, item, grade], i) => {
      const j = right.findIndex((row) => row[1] === item);
      if (j < 0) return;
      const line = document.createElementNS(space, "line");
      line.setAttribute("x1", 0);
      line.setAttribute("x2", 40);
      line.setAttribute("y1", (i + 0.5) * height);
      line.setAttribute("y2", (j + 0.5) * height);
      line.setAttribute("class", grade > 0 ? "relevant" : "other");
      svg.append(line);
    });
    return svg;
  };
  // Full texts, for readers who cannot hover over a line.
  const wholeTexts = (known) => {
    const items = [...new Set(known.flatMap((each) => (each || []).flat()).map((row) => row[1]))];
    const withText = items.filter((item) => textOf(data.itemTexts, item));
    if (!withText.length) return [];
    return [make("details", { class: "whole" }, make("summary", { text: "Texts of these items" }),
      make("dl", {}, ...withText.flatMap((item) => [make("dt", { text: data.items[item], dir: "auto" }),
        make("dd", { text: textOf(data.itemTexts, item), dir: "auto" })])))];
  };
  const missedOf = (system, place) => {
    const missed = (listOf(system, place) || [[], []])[1];
    if (!missed.length) return [];
    return [make("h4", { text: "Relevant, but missed" }),
      make("ul", { class: "items" }, ...missed.map((row) => itemRow(row)))];
  };

  const open = (place) => {
    state.open = place;
    for (const row of list.tBodies[0].rows) {
      if (Number(row.dataset.place) === place) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
    }
    const systems = compares ? [state.a, state.b] : [0];
    const text = textOf(data.queryTexts, place);
    const numbers = make("table", {}, make("caption", { class: "unseen", text: `Values of the ${data.unit}` }),
      make("thead", {}, make("tr", {}, make("th", { text: "metric", scope: "col" }),
        ...systems.map((system) => make("th", { text: brief(data.systems[system]), title: data.systems[system], scope: "col", class: "at-r" })))),
      make("tbody", {}, ...data.metrics.map((metric, row) => make("tr", {}, make("th", { text: metric, scope: "row" }),
        ...systems.map((system) => make("td", { class: "at-r", text: rounded(values[row][system][place]) }))))));
    const known = systems.map((system) => listOf(system, place));
    const close = make("button", { type: "button", text: "Close", onclick: () => {
      state.open = null;
      detail.replaceChildren();
      const row = list.querySelector(`tr[data-place="${place}"]`);
      if (row) { row.removeAttribute("aria-current"); row.querySelector("button").focus(); }
    } });
    const parts = [make("div", { class: "bar" }, make("h3", { text: data.queries[place] }), close)];
    if (text) parts.push(make("p", { text, dir: "auto" }));
    parts.push(numbers);
    if (known.every((each) => each === undefined)) {
      parts.push(make("p", { class: "hint", text: `The lists of this ${data.unit} are not in this file.` }));
    } else {
      const tops = known.map((each) => (each || [[], []])[0]);
      const ranks = tops.map((top) => new Map(top.map(([rank, item]) => [item, rank])));
      // Without the other list, it is unknown which items are new.
      const isMarked = (side) => compares && side === 1 && known[0] !== undefined;
      const columns = systems.map((system, side) => make("div", {},
        make("h4", { class: "system", text: brief(data.systems[system], isNarrow() ? 15 : 24), title: data.systems[system] }),
        known[side] === undefined
          ? make("p", { class: "hint", text: `The list of ${data.systems[system]} is not in this file.` })
          : make("ol", { class: "items" }, ...tops[side].map((row) =>
            itemRow(row, isMarked(side) ? (ranks[0].has(row[1]) ? ranks[0].get(row[1]) : null) : undefined)))));
      // The style sheet sets the height of rows, so lines need no measuring.
      const whole = wholeTexts(known);
      const kind = `${compares ? "pair" : "single"}${whole.length ? " texts" : ""}`;
      if (compares) columns.splice(1, 0, make("div", { class: "moves" }, lines(...tops, whole.length ? 46 : 30)));
      parts.push(make("div", { class: kind }, ...columns));
      const missed = systems.map((system) => make("div", {}, ...missedOf(system, place)));
      if (compares) missed.splice(1, 0, make("div"));
      parts.push(make("div", { class: kind }, ...missed), ...whole);
    }
    detail.replaceChildren(...parts);
    detail.focus({ preventScroll: true });
    detail.scrollIntoView({ block: "nearest" });
  };
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && state.open !== null) detail.querySelector("button").click();
  });

  if (explorer && values.length) build();
  for (const name of Object.keys(window.vegaEmbed ? data.charts : {})) if (!kinds[name]) embed(name, copied(data.charts[name]));
  drawPair();
  // Paper is light, and painted marks do not follow the style sheet.
  let before = null;
  addEventListener("beforeprint", () => {
    before = root.dataset.theme;
    root.dataset.theme = "light";
    repaint();
    // On paper, long lists of sentences and tables of days stay closed: tables and charts have their numbers.
    for (const each of document.querySelectorAll("details")) each.open ||= each.querySelectorAll("li, tbody tr").length <= PRINTED;
  });
  addEventListener("afterprint", () => {
    if (before) root.dataset.theme = before;
    else delete root.dataset.theme;
    repaint();
  });
})();
