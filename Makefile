# Kalda: every command a developer needs. `make check` is what CI runs.
GO   ?= go
LINT := $(GO) tool -modfile=tools/go.mod golangci-lint
RACE := ./internal/wire/... ./internal/server/... ./internal/disk/... ./internal/sim/...
T    ?= 60s
SEED ?=
RUNS ?= 200

.DEFAULT_GOAL := help
.PHONY: help build run test race lint fmt fmt-check tidy fuzz sim compat compat-smoke compat-zk faults linear bench dist check clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

build: ## one static binary: bin/kalda
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o bin/kalda ./cmd/kalda

run: ## a node on 9092, its data in ./data
	$(GO) run ./cmd/kalda

test: ## unit, scenario and golden tests, and the repository's own rules
	$(GO) test ./...

race: ## the packages with goroutines, under the race detector
	$(GO) test -race $(RACE)

lint: ## golangci-lint, pinned in tools/go.mod (the first run builds it)
	$(LINT) run

fmt: ## format everything
	$(LINT) fmt

fmt-check:
	$(LINT) fmt --diff

tidy: ## the repository's own rules alone
	$(GO) test ./internal/tidy

fuzz: ## every fuzz target, T=60s each
	tools/fuzz.sh $(T)

sim: ## the seeded cluster: RUNS=200 seeds, or one: SEED=7
	$(GO) test -count=1 ./internal/sim -sim.seeds=$(RUNS) $(if $(SEED),-run TestKRaft -sim.seed=$(SEED))

compat: ## every client, Apache's tools, and the disk both ways (needs java, mvn, python3, node, npm)
	test/compat/run

compat-smoke: ## Apache's own tools alone, under three minutes (needs java and mvn)
	test/compat/run smoke

compat-zk: ## other people's ZooKeeper clients and Apache's words (needs java, mvn, python3, node, npm, gcc); NODE=apache: on Apache's server
	test/compat/run $(if $(NODE),-node $(NODE)) zk

faults: build ## crashes after every file operation, damage everywhere; a node under its memory limit (five minutes)
	KALDA_FAULTS=12 $(GO) test -count=1 -timeout 5m -run Faults ./internal/server/node
	$(GO) run ./test/faults/memory -kalda bin/kalda

linear: ## a ZooKeeper server under kill -9, its clients' history checked: ROUNDS=200 (four minutes)
	KALDA_LINEAR=$(or $(ROUNDS),200) $(GO) test -count=1 -timeout 30m -v -run Linearizable_Kill ./internal/server/ensemble

bench: ## microbenchmarks, in benchstat's format; beside Apache: bench/side-by-side.sh
	$(GO) test -run '^$$' -bench . -benchtime 1s ./...

dist: build ## a folder laid out like Apache's: dist/kalda-VERSION, and a link dist/kalda
	packaging/dist.sh

check: ## what CI runs: format, lint, tests, simulation, race, short fuzz, compat smoke
	$(MAKE) fmt-check lint test
	$(MAKE) sim race
	$(MAKE) fuzz T=5s
	$(MAKE) compat-smoke

clean: ## what the other targets made
	rm -rf bin dist cover.out
