# The project's commands. Each sets up what it needs in .venv and .cache; what the machine lacks is named in one line.

PYTHON ?= $(firstword $(foreach name,python3.14 python3.13 python3.12 python3.11 python3,$(shell \
	$(name) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $(name))))
VENV := .venv
PY := $(VENV)/bin/python
LOCK := $(PY) -m uv pip compile --universal --generate-hashes --no-header --no-annotate --no-emit-index-url \
	--no-emit-find-links --python-version 3.11 --quiet
# What is installed is compiled when it is imported, which most of it never is.
QUICKLY := --quiet --disable-pip-version-check --no-compile
CHECKED := kcoord schemas tests bench examples

.DEFAULT_GOAL := help
# The tests start hundreds of processes: each would compile all of the code where bytecode may not be kept.
unexport PYTHONDONTWRITEBYTECODE
.PHONY: help run check light test coverage proof lint bench against policies fuzz soak docs schemas format lock changelog clean

help:
	@echo 'make run      see kcoord at work: a coordinator on localhost:9092, three workers, a live view'
	@echo 'make check    lint, and the tests that need no Kafka, JVM or Spark, nor long: what to run all day'
	@echo 'make test     all tests, against a real Kafka (needs a JDK 17+ and Maven)'
	@echo 'make coverage  all tests, and which lines of kcoord no test runs: build/coverage/html, least covered files first'
	@echo 'make proof    what is too long for make test; goes on where it was stopped; PROOFS="tests/x -k y"'
	@echo 'make lint     ruff, mypy, and that imports run down only'
	@echo 'make bench    measure kcoord beside Kafka (needs a JDK 17+ and Maven)'
	@echo 'make against  CPU a request beside an earlier commit, in pairs, going on where it was stopped; COMMIT=c PAIRS=n'
	@echo 'make policies simulate what each rebalance policy costs, for docs/policies.md'
	@echo 'make fuzz     read a million mutated frames, then play hostile sessions, going on where it was stopped;'
	@echo '              SEED=n REQUESTS=n JOBS=n'
	@echo 'make soak     simulate 100,000 groups under faults, then break real ones for long; goes on where it was stopped;'
	@echo '              SEEDS=n FROM=n JOBS=n KIND=connect|mixed|consumer|adoption'
	@echo 'make docs     write the generated references and build the site in build/site'
	@echo 'make schemas  write the codecs in kcoord/protocol/generated from schemas/'
	@echo 'make format   let ruff format the code'
	@echo 'make changelog  what the files in changes/ come to'
	@echo 'make lock     resolve the pinned dependencies in requirements/ anew'

run: $(VENV)/run.stamp
	@exec $(PY) -m kcoord demo --data-dir data

# lint has one process, and tests wait now and then: together they take less time than one after the other
check: $(VENV)/dev.stamp
	@$(MAKE) --no-print-directory --jobs=2 lint light

light: $(VENV)/dev.stamp
	@$(PY) -m pytest --light -n auto --dist loadfile --no-loadscope-reorder -q

test: $(VENV)/dev.stamp
	@$(PY) -m tests
	@$(PY) -m pytest -n auto --dist loadfile --no-loadscope-reorder --durations=60 --durations-min=10

coverage: $(VENV)/dev.stamp
	@$(PY) -m tests
	@mkdir -p build/coverage
	@$(PY) -m pytest -n auto --dist loadfile --no-loadscope-reorder -q --cov --cov-report=
	@$(PY) -m coverage html --quiet
	@$(PY) -m coverage report --sort=cover --skip-covered

proof: $(VENV)/dev.stamp
	@$(PY) -m tests
	@$(PY) -m tests.proof $(PROOFS)

lint: $(VENV)/dev.stamp
	@$(PY) -m ruff check $(CHECKED)
	@$(PY) -m ruff format --check --quiet $(CHECKED) || { echo 'the code is not formatted: run make format'; exit 1; }
	@$(PY) -m mypy
	@mkdir -p build
	@$(VENV)/bin/lint-imports --no-cache >build/imports.txt 2>&1 || { cat build/imports.txt; exit 1; }

format: $(VENV)/dev.stamp
	@$(PY) -m ruff format $(CHECKED)
	@$(PY) -m ruff check --fix --quiet $(CHECKED)

bench: $(VENV)/dev.stamp
	@$(PY) -m tests
	@$(PY) -m bench --write

against: $(VENV)/dev.stamp
	@$(PY) -m tests
	@$(PY) -m bench.against $(or $(COMMIT),$(error say which commit: make against COMMIT=...)) --pairs $(or $(PAIRS),15) --write

policies: $(VENV)/dev.stamp
	@$(PY) -m bench.policies

fuzz: $(VENV)/dev.stamp
	@$(PY) -m tests.protocol.fuzz --frames 1000000 --seed $(or $(SEED),1)
	@mkdir -p build
	@nice $(PY) -m tests.hostile.session_fuzz --requests $(or $(REQUESTS),1000000) --seed $(or $(SEED),1) \
		--jobs $(or $(JOBS),1) --state build/session-fuzz.json --sockets 300

soak: $(VENV)/dev.stamp
	@nice $(PY) -m kcoord sim --seeds $(or $(SEEDS),100000) --from $(or $(FROM),0) --jobs $(or $(JOBS),1) \
		$(if $(KIND),--kind $(KIND)) --journal build/soak/seeds.jsonl --report
	@$(PY) -m tests
	@TESTS_FAULTS=long TESTS_FAULTS_SEED=$(or $(FROM),1) $(PY) -m pytest -m '' tests/faults

docs: $(VENV)/dev.stamp
	@$(PY) -m kcoord settings --markdown > docs/configuration.md
	@$(PY) -m schemas.generator --docs
	@$(PY) -m kcoord.pipeline.page > docs/pipeline.md
	@$(PY) -m mkdocs build --quiet --strict

schemas: $(VENV)/dev.stamp
	@$(PY) -m schemas.generator

lock: $(VENV)/dev.stamp
	@$(LOCK) pyproject.toml --output-file requirements/run.lock
	@$(LOCK) pyproject.toml --extra dev --constraint requirements/run.lock --output-file requirements/dev.lock
	@$(LOCK) pyproject.toml --extra regex --constraint requirements/run.lock --output-file requirements/image.lock
	@$(LOCK) --group build --constraint requirements/dev.lock --output-file requirements/build.lock

changelog: $(VENV)/dev.stamp
	@$(PY) -m towncrier build --draft --version $$($(PY) -c 'import kcoord; print(kcoord.__version__)')

clean:
	rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(PY):
	@test -n "$(PYTHON)" || { echo 'no Python 3.11 or later is on the PATH: install one (Debian: apt-get install' \
		'python3 python3-venv), or name it with make PYTHON=/path/to/python'; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo '$(PYTHON) is older than Python 3.11:' \
		'name a newer one with make PYTHON=/path/to/python'; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo '$(PYTHON) has no venv module: install it (Debian:' \
		'apt-get install python3-venv)'; exit 1; }
	@rm -rf $(VENV)
	@$(PYTHON) -m venv $(VENV)

$(VENV)/run.stamp: requirements/run.lock | $(PY)
	@echo 'Installing the dependencies of kcoord in $(VENV) ...'
	@$(PY) -m pip install $(QUICKLY) --require-hashes --requirement requirements/run.lock
	@touch $@

$(VENV)/dev.stamp: requirements/dev.lock | $(PY)
	@echo 'Installing the dependencies of development in $(VENV) ...'
	@$(PY) -m pip install $(QUICKLY) --require-hashes --requirement requirements/dev.lock
	@touch $@ $(VENV)/run.stamp
