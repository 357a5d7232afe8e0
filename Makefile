# Two commands set everything up: make demo, make test.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PEERS := .venv-peers
ORACLE := .venv-oracle
DOCS := .venv-docs
SPARK := .venv-spark
# Python compiles what it imports; pip would compile all of it, torch included.
INSTALL := pip install --quiet --no-compile
# So it must be allowed to keep that: the tests start it hundreds of times.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help

.PHONY: help
help:
	@echo "make demo    install, evaluate three systems on sample data, write a report"
	@echo "make quick   install and run the tests that are not slow, in about a minute"
	@echo "make test    install and run all tests"
	@echo "make axe     install what tests of the report in a browser use, by npm"
	@echo "make oldest  the tests of readers and results with the oldest dependencies"
	@echo "make spark   the tests on Spark, which needs Java 17"
	@echo "make lint    format, lint and types"
	@echo "make check   the tests, and what make lint looks at"
	@echo "make fuzz    200,000 broken inputs, in about half an hour"
	@echo "make format  format, and fix what can be fixed"
	@echo "make names   write the lists of names that follow from the code"
	@echo "make counts  count what makes the code large or small"
	@echo "make bench   rankine and its peers on the same work"
	@echo "make bench-against BEFORE=COMMIT  what became slower since a commit"
	@echo "make bench-report  a large report, and how fast it answers in a browser"
	@echo "make oracle  the conventions against the tools they are named after"
	@echo "make oracle-long  the same on ten times as many cases"
	@echo "make clients  the same for tools that need torch or much else"
	@echo "make simulate  how often tests, intervals and gates err, in a few minutes"
	@echo "make docs    make the documentation, in site/, and look for what is cut off"
	@echo "make dist    build what is published, in dist/, and try it"
	@echo "make clean   remove what was made"

$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m $(INSTALL) --constraint constraints.txt --editable ".[report]"
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed
	$(BIN)/python -m $(INSTALL) --constraint constraints.txt --editable ".[dev]"
	@touch $@

# Peers conflict with each other: those of recommenders need an older NumPy.
$(PEERS)-%/installed: pyproject.toml benchmarks/%.in benchmarks/%.txt
	$(PYTHON) -m venv $(PEERS)-$*
	$(PEERS)-$*/bin/python -m $(INSTALL) --only-binary :all: \
		--requirement benchmarks/$*.in --constraint benchmarks/$*.txt
	$(PEERS)-$*/bin/python -m $(INSTALL) --no-deps --editable .
	@touch $@

# recommenders without what it imports elsewhere, such as notebooks.
$(PEERS)-spark/recommenders: $(PEERS)-spark/installed
	$(PEERS)-spark/bin/python -m $(INSTALL) --only-binary :all: --no-deps \
		recommenders==1.2.1
	@touch $@

$(ORACLE)-%/installed: pyproject.toml oracle/%.in oracle/%.txt
	$(PYTHON) -m venv $(ORACLE)-$*
	$(ORACLE)-$*/bin/python -m $(INSTALL) --only-binary :all: \
		--requirement oracle/$*.in --constraint oracle/$*.txt
	$(ORACLE)-$*/bin/python -m $(INSTALL) --no-deps --editable .
	@touch $@

$(DOCS)/installed: pyproject.toml docs/requirements.in docs/constraints.txt
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python -m $(INSTALL) --requirement docs/requirements.in \
		--constraint docs/constraints.txt --editable ".[pandas,report]"
	@touch $@

# All that .ci/run needs, two at a time: pip waits for the disk more than it computes.
.PHONY: environments
environments: $(VENV)/installed-dev $(VENV)-oldest/installed $(DOCS)/installed \
		$(SPARK)/installed \
		$(ORACLE)-rag/beir \
		$(patsubst oracle/%.in,$(ORACLE)-%/installed,\
		$(filter-out oracle/clients.in,$(wildcard oracle/*.in)))

.PHONY: demo
demo: $(VENV)/installed
	@mkdir -p build
	@$(BIN)/rankine demo --report build/demo.html

.PHONY: test
test: $(VENV)/installed-dev
	$(BIN)/python -m pytest -q -n auto --dist worksteal

# Without processes, browsers, databases and large data; tests/conftest.py says how.
.PHONY: quick
quick: $(VENV)/installed-dev
	$(BIN)/python -m pytest -q -n auto --dist worksteal -m "not slow"

# What looks for barriers in the report, for tests in a browser.
AXE := build/axe/node_modules/axe-core/axe.min.js

$(AXE):
	npm install --silent --no-save --prefix build/axe axe-core@4.14.0

.PHONY: axe
axe: $(AXE)

# The other end of what the dependencies may be: polars 1, pandas 2, NumPy 1.
$(VENV)-oldest/installed: pyproject.toml constraints-oldest.txt
	$(PYTHON) -m venv $(VENV)-oldest
	$(VENV)-oldest/bin/python -m $(INSTALL) --constraint constraints-oldest.txt \
		--editable . hypothesis pandas pyarrow pytest pytest-xdist zstandard
	@touch $@

.PHONY: oldest
oldest: $(VENV)-oldest/installed
	$(VENV)-oldest/bin/python -m pytest -q -n auto --dist worksteal \
		tests/test_forms.py tests/test_forms_agree.py tests/io tests/refused \
		tests/tables tests/join tests/cli tests/metrics/contract tests/metrics/lists \
		tests/metrics/similarity tests/evaluate tests/online tests/engines

# Spark, with pandas 2: it warns about pandas 3.
$(SPARK)/installed: pyproject.toml constraints-spark.txt
	$(PYTHON) -m venv $(SPARK)
	$(SPARK)/bin/python -m $(INSTALL) --constraint constraints-spark.txt \
		--editable ".[spark]" "pyspark[connect]" hypothesis pytest
	@touch $@

.PHONY: spark
spark: $(SPARK)/installed
	$(SPARK)/bin/python -m pytest -q tests/spark

.PHONY: lint
lint: $(VENV)/installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

.PHONY: check
check: lint test

# Every property of tests/fuzz on so many times more cases than in make test.
FUZZ ?= 40

.PHONY: fuzz
fuzz: $(VENV)/installed-dev
	RANKINE_FUZZ=$(FUZZ) POLARS_MAX_THREADS=1 RUST_BACKTRACE=0 \
		$(BIN)/python -m pytest -q -n 2 tests/fuzz

.PHONY: format
format: $(VENV)/installed-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# The lists of names that follow from the code.
.PHONY: names
names: $(VENV)/installed-dev
	$(BIN)/python tools/make_names.py

# How many lines each package has, how many places decide what, how far a call goes.
.PHONY: counts
counts: $(VENV)/installed-dev
	$(BIN)/python tools/count_code.py

# Events of the log of online metrics; 100000000 needs 2 GB on the disk.
EVENTS ?= 10000000

.PHONY: bench
bench: $(PEERS)-search/installed $(PEERS)-recommend/installed $(ORACLE)-online/installed \
		$(SPARK)/installed $(PEERS)-spark/recommenders
	$(PEERS)-search/bin/python benchmarks/run.py $(PEERS)-recommend/bin/python
	$(PEERS)-search/bin/python benchmarks/online.py $(EVENTS)
	$(ORACLE)-online/bin/python benchmarks/ab.py
	$(PEERS)-search/bin/python benchmarks/streaming.py
	$(SPARK)/bin/python benchmarks/spark.py
	$(SPARK)/bin/python benchmarks/spark.py 60000 100 growth
	$(PEERS)-spark/bin/python benchmarks/spark.py 10000 100 recommenders replay
	$(PEERS)-spark/bin/python benchmarks/spark.py 100000 10 recommenders replay

# rankine's own cases, here and in an older commit, in turn.
BEFORE ?= HEAD~1

.PHONY: bench-against
bench-against: $(PEERS)-search/installed $(PEERS)-recommend/installed
	$(PEERS)-search/bin/python benchmarks/against.py $(BEFORE) \
		$(PEERS)-recommend/bin/python

# It needs chromium and chromedriver.
.PHONY: bench-report
bench-report: $(VENV)/installed-dev
	$(BIN)/python benchmarks/report.py

# Random cases per tool; another SEED gives other cases.
CASES ?= 2000
SEED ?= 0

.PHONY: oracle
oracle: oracle-search oracle-recommend oracle-torch oracle-older oracle-online oracle-rag

.PHONY: oracle-long
oracle-long:
	$(MAKE) --keep-going oracle CASES=20000

oracle-search: TOOLS = pytrec_eval ir_measures ranx sklearn
oracle-search: LISTS = ir_measures
oracle-search: VALUES = scipy ranx
oracle-search: FUSION = ranx
oracle-search: INTERFACE = pytrec_eval
oracle-search: FACES = ranx ir_measures
oracle-recommend: TOOLS = jurity recommenders rectools cornac surprise
oracle-recommend: LISTS = jurity recommenders rectools
oracle-recommend: VALUES = statsmodels
oracle-torch: TOOLS = torchmetrics implicit replay lenskit
oracle-torch: LISTS = torchmetrics replay lenskit
oracle-older: TOOLS = recmetrics
oracle-older: LISTS = recmetrics
oracle-rag: TOOLS = beir llama_index haystack mlflow vespa
oracle-rag: EXPORTED = llama_index
oracle-search oracle-rag oracle-clients: OBJECTS = tests/compat/test_programs.py \
		tests/compat/test_metric_objects.py tests/compat/test_ir_measures.py
oracle-clients: TOOLS = mteb sentence_transformers ragas
oracle-clients: EXPORTED = none

# BEIR would bring torch, which its evaluation does not use.
$(ORACLE)-rag/beir: $(ORACLE)-rag/installed
	$(ORACLE)-rag/bin/python -m $(INSTALL) --only-binary :all: --no-deps beir==2.2.0
	@touch $@

oracle-rag: $(ORACLE)-rag/beir

# Tools that need torch or much else; not part of make oracle.
.PHONY: clients
clients: oracle-clients

.PHONY: oracle-search oracle-recommend oracle-torch oracle-older oracle-rag oracle-clients
oracle-search oracle-recommend oracle-torch oracle-older oracle-rag oracle-clients: \
		oracle-%: $(ORACLE)-%/installed
	$(if $(filter none,$(EXPORTED)),,POLARS_MAX_THREADS=1 $(ORACLE)-$*/bin/python \
		oracle/exports.py $(or $(EXPORTED),$(TOOLS)))
	POLARS_MAX_THREADS=1 $(ORACLE)-$*/bin/python oracle/run.py $(TOOLS) \
		--cases $(CASES) --seed $(SEED)
	$(if $(OBJECTS),$(ORACLE)-$*/bin/python -m pytest -q $(OBJECTS))
	$(if $(LISTS),POLARS_MAX_THREADS=1 $(ORACLE)-$*/bin/python oracle/lists.py \
		$(LISTS) --cases $(CASES) --seed $(SEED))
	$(if $(VALUES),POLARS_MAX_THREADS=1 $(ORACLE)-$*/bin/python oracle/comparing.py \
		$(VALUES) --cases $(CASES) --seed $(SEED))
	$(if $(FUSION),POLARS_MAX_THREADS=1 $(ORACLE)-$*/bin/python oracle/fusing.py \
		$(FUSION) --cases $(CASES) --seed $(SEED))
	$(if $(INTERFACE),POLARS_MAX_THREADS=1 $(ORACLE)-$*/bin/python oracle/interface.py \
		$(INTERFACE) --cases $(CASES) --seed $(SEED))
	$(if $(FACES),POLARS_MAX_THREADS=1 $(ORACLE)-$*/bin/python oracle/faces.py \
		$(FACES) --cases $(CASES) --seed $(SEED))

# How often tests, intervals and gates err; fixed seeds, and one thread per process.
.PHONY: simulate
simulate: $(VENV)/installed-dev
	OPENBLAS_NUM_THREADS=1 $(BIN)/python simulations/run.py

# obp is there for its logs alone, without what it imports.
$(ORACLE)-online/logs: $(ORACLE)-online/installed
	$(ORACLE)-online/bin/python -m $(INSTALL) --only-binary :all: --no-deps obp==0.4.1
	@touch $@

.PHONY: oracle-online
oracle-online: $(ORACLE)-online/installed $(ORACLE)-online/logs
	POLARS_MAX_THREADS=1 $(ORACLE)-online/bin/python oracle/online.py \
		--cases $(CASES) --seed $(SEED)
	POLARS_MAX_THREADS=1 $(ORACLE)-online/bin/python oracle/openbandit.py

# The variable silences a notice about the future of mkdocs. Not --quiet: with it,
# warnings would not be errors. Then a browser, if there is one, looks at every page.
.PHONY: docs
docs: $(DOCS)/installed $(VENV)/installed-dev
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --strict
	$(BIN)/python tools/docs_overflow.py site
	@echo "made site/index.html; open it in a browser"

$(VENV)-dist/installed: Makefile
	$(PYTHON) -m venv $(VENV)-dist
	$(VENV)-dist/bin/python -m $(INSTALL) build==1.6.1 twine==7.0.0 \
		"readme-renderer[md]==46.0"
	@touch $@

# The wheel is built from the sdist, and tried where there is nothing else.
DRY := build/installed
TRY := import rankine as rk; ev = rk.evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR"); \
	assert ev["RR"] == 1 / 2, ev; print("works:", rk.__version__, rk.__file__)

.PHONY: dist
dist: $(VENV)-dist/installed
	@mkdir -p build
	rm -rf dist $(DRY)
	$(VENV)-dist/bin/python -m build --outdir dist
	$(VENV)-dist/bin/twine check --strict dist/*
	$(VENV)-dist/bin/python -m readme_renderer README.md -o build/readme.html
	$(PYTHON) -m venv $(DRY)
	$(DRY)/bin/python -m $(INSTALL) dist/*.whl
	cd build && installed/bin/rankine demo
	cd build && installed/bin/python -I -c '$(TRY)'

.PHONY: clean
clean:
	rm -rf $(VENV) $(VENV)-oldest $(VENV)-dist $(PEERS)-* $(ORACLE)-* $(DOCS) $(SPARK) benchmarks/data build site dist .pytest_cache .mypy_cache .ruff_cache
