# Build, checks and long runs. `make help` lists the targets.
#
# Building, testing and the demo need Go and make, nothing else; `make check`
# also needs a C compiler (race detector), tmux and strace.

GOLANGCI_LINT := go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
GOFUMPT       := go run mvdan.cc/gofumpt@v0.12.0

# The go tool leaves testdata out of ./..., and the planted faults live there.
PACKAGES := ./... ./gate/testdata/mutants
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64

VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
GOBUILD  := go build -trimpath -ldflags '-s -w -X tollgate/cli.version=$(VERSION)'

CYCLES   ?= 10
# A number of inputs, not a time: the go tool can fail a target that the clock
# stops in the middle of an input (context deadline exceeded).
FUZZTIME ?= 2000x

export CGO_ENABLED := 0
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help build demo test check fmt format vet lint race clauses replay kill fuzz cross e2e mutants torture bench cover clean

say = @printf '\n== %s (%s)\n' '$(1)' "$$(date +%T)"

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build bin/tollgate, without cgo
	$(GOBUILD) -o bin/tollgate .

demo: build ## the console on the embedded fixtures, playing live in a throw-away store
	@if [ -t 0 ] && [ -t 1 ]; then exec bin/tollgate demo; \
	else echo 'no terminal here: replaying the fixtures instead of opening the console'; exec bin/tollgate replay; fi

test: ## run the tests of every package
	go test $(PACKAGES)

check: format vet lint race replay kill fuzz cross e2e ## everything that a commit has to pass
	@printf '\ncheck passed\n'

fmt: ## rewrite the Go files in the gofumpt style
	$(GOFUMPT) -w .

format: ## fail when a Go file is not in the gofumpt style
	$(call say,format)
	@out=$$($(GOFUMPT) -l .) || exit 1; [ -z "$$out" ] || { echo "not in the gofumpt style (make fmt):"; echo "$$out"; exit 1; }

vet: ## run go vet
	$(call say,vet)
	go vet $(PACKAGES)

lint: ## run golangci-lint, with the arrows between the directories
	$(call say,lint)
	$(GOLANGCI_LINT) run $(PACKAGES)

race: ## run the tests with the race detector, clause coverage among them
	$(call say,tests with the race detector)
	CGO_ENABLED=1 go test -race -timeout 30m $(PACKAGES)

clauses: ## list the clauses of docs/rules.md that no test cites
	go test -run '^TestEveryClauseIsCited$$' -count=1 ./gate

replay: build ## play the embedded fixtures and compare with their expectations
	$(call say,replay of the embedded fixtures)
	@if [ -z "$(wildcard fixtures/*.yaml)" ]; then echo 'left out: there are no fixtures'; else \
	out=$$(bin/tollgate replay --check) || { printf '%s\n' "$$out"; exit 1; }; printf '%s\n' "$$out"; \
	[ -n "$$out" ] || { echo 'replay --check printed nothing'; exit 1; }; fi

kill: ## kill the store CYCLES times under load and verify it each time
	$(call say,kill loop)
	@if [ ! -d runstore/torture ]; then echo 'left out: there is no runstore/torture'; else \
	go test -count=1 -timeout 2h -run Kill ./runstore/torture -cycles=$(CYCLES); fi

fuzz: ## run each fuzz target on FUZZTIME inputs
	$(call say,fuzzing)
	@targets=$$(grep -rEo --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' . | sed 's/:func /:/'); \
	[ -n "$$targets" ] || echo 'left out: there are no fuzz targets'; \
	for t in $$targets; do \
		go test -run '^$$' -fuzz "^$${t##*:}\$$" -fuzztime $(FUZZTIME) "$$(dirname "$${t%%:*}")" || exit 1; \
	done

cross: ## build for every platform
	$(call say,cross build)
	@for p in $(PLATFORMS); do echo "$$p"; \
		GOOS=$${p%/*} GOARCH=$${p#*/} $(GOBUILD) -o "bin/tollgate-$${p%/*}-$${p#*/}" . || exit 1; done

e2e: build ## drive the real binary in tmux
	$(call say,end to end in tmux)
	ui/e2e/run

mutants: ## plant one small fault at a time; a test has to notice each
	go run ./gate/testdata/mutants

torture: ## the long runs: kills, faults, power loss, damage, histories, fuzzing, models
	$(MAKE) kill CYCLES=1000
	@if [ -d runstore/torture ]; then go test -count=1 -timeout 4h -skip Kill ./runstore/torture -long; fi
	go test -count=1 -timeout 2h -run Damage ./runstore -flips 15000
	go test -count=1 -timeout 2h -run Linearizable ./runstore -seeds 200
	$(MAKE) fuzz FUZZTIME=20000x
	@for d in $$(grep -rl --include='*_test.go' '"pgregory.net/rapid"' . | xargs -n1 dirname | sort -u); do \
		go test -count=1 -timeout 2h -run Model "$$d" -rapid.checks=10000 || exit 1; done

bench: ## measure the parts, and committed decisions beside what the disk allows
	$(call say,the parts)
	go test -run '^$$' -skip '^BenchmarkCommit$$' -bench . -benchmem -benchtime 0.1s -count 3 ./...
	$(call say,committed decisions beside what the disk allows)
	runstore/bench/run

cover: ## show the statements that the tests reach
	@mkdir -p bin
	go test -coverpkg=./... -coverprofile=bin/cover.out ./...
	go tool cover -func=bin/cover.out | tail -n 1

clean: ## remove what was built
	rm -rf bin
