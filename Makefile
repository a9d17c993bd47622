# exec-server. `make` shows what there is.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

CARGO ?= cargo
PREFIX ?= /usr/local
DESTDIR ?=
TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)

# Tools of the checks that are not part of a Rust toolchain, and their versions.
TOOLS_DIR := $(TARGET_DIR)/tools
DENY_VERSION := 0.20.2

# What the tests use besides cargo: command:Debian packages (comma-separated).
TEST_NEEDS := cc:gcc,libc6-dev promtool:prometheus zsh:zsh fish:fish dash:dash mksh:mksh busybox:busybox

# Debian packages whose files the tests read as a user's dotfiles do. Not installed: bash-completion would become part
# of every bash on the machine.
FIXTURE_PACKAGES := bash-completion zsh-syntax-highlighting zsh-autosuggestions

# How long each fuzz target runs, in seconds.
FUZZ_SECONDS ?= 20

# How the release is linked. Statically: it runs on any Linux of its architecture whatever libc is there, and starts half
# a millisecond sooner, for want of a loader. Position independent still, its relocations packed: they are a tenth of
# the program otherwise, and all read before it starts. glibc unpacks them from 2.36 on; with an older one they stay as
# they are. `make release RELEASE_LINK=` links as cargo does.
PACK_RELOCATIONS := $(shell getconf GNU_LIBC_VERSION 2>/dev/null | \
  awk '{ split($$2, v, "."); if (v[1] > 2 || v[2] >= 36) print "-C link-arg=-Wl,-z,pack-relative-relocs" }')
RELEASE_LINK ?= -C target-feature=+crt-static $(PACK_RELOCATIONS)

# Arguments of the bench: `make bench BENCH_ARGS=--quick`.
BENCH_ARGS ?=

##@ First

.PHONY: help
help: ## Show this
	@awk 'BEGIN { FS = ":.*## " } \
	  /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: run
run: needs ## Build, and show a real session: every message, readably
	$(CARGO) build --profile quick -p exec-server -p exec-client --bin exec-server --example session
	$(TARGET_DIR)/quick/examples/session $(TARGET_DIR)/quick/exec-server

.PHONY: test
test: needs fixtures ## Install what the tests need, and run all of them
	$(CARGO) build -p exec-server -p exec-tests --bins
	$(CARGO) test --workspace --no-fail-fast
	$(CARGO) test -p exec-protocol --features schema --test schema

##@ Build

.PHONY: build
build: needs ## Development build
	$(CARGO) build --workspace

.PHONY: release
release: needs ## Release build, static and stripped: target/release/exec-server
	$(CARGO) rustc --release -p exec-server --bin exec-server -- $(RELEASE_LINK)

# Where each file is installed, below $(DESTDIR)$(PREFIX): from:to.
INSTALLED := \
  $(TARGET_DIR)/release/exec-server:bin/exec-server \
  docs/man/exec-server.1:share/man/man1/exec-server.1 \
  docs/man/exec-server-run.1:share/man/man1/exec-server-run.1 \
  docs/man/exec-server-snapshot.1:share/man/man1/exec-server-snapshot.1 \
  docs/completions/exec-server.bash:share/bash-completion/completions/exec-server \
  docs/completions/_exec-server:share/zsh/site-functions/_exec-server \
  docs/completions/exec-server.fish:share/fish/vendor_completions.d/exec-server.fish

.PHONY: install
install: release ## Install the binary, man pages and completions below PREFIX (/usr/local)
	@for file in $(INSTALLED); do \
	  mode=0644; [ -x "$${file%%:*}" ] && mode=0755; \
	  install -D -m $$mode "$${file%%:*}" $(DESTDIR)$(PREFIX)/"$${file#*:}"; \
	  echo "installed $(DESTDIR)$(PREFIX)/$${file#*:}"; \
	done

.PHONY: uninstall
uninstall: ## Remove what `make install` installed
	rm -f $(foreach file,$(INSTALLED),$(DESTDIR)$(PREFIX)/$(lastword $(subst :, ,$(file))))

.PHONY: clean
clean: ## Remove everything built
	$(CARGO) clean

##@ Check

.PHONY: check
check: fmt lint doc schema-check deny msrv ## All checks that are not tests

.PHONY: fmt
fmt: ## Formatting is as rustfmt.toml says
	$(CARGO) fmt --all --check

.PHONY: lint
lint: needs ## No clippy warning, all targets and features
	$(CARGO) clippy --workspace --all-targets --all-features -- -D warnings

.PHONY: doc
doc: needs ## rustdoc without a warning
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps

# A cargo-deny that is not there is installed below the target directory: nothing outside the clone changes.
.PHONY: deny
deny: needs ## Licences, sources, bans, advisories; installs cargo-deny below target/ if it is missing
	@export PATH="$(abspath $(TOOLS_DIR))/bin:$$PATH"; \
	if ! $(CARGO) deny --version >/dev/null 2>&1; then \
	  echo "deny: installing cargo-deny $(DENY_VERSION) into $(TOOLS_DIR): some minutes, once"; \
	  $(CARGO) install cargo-deny --version $(DENY_VERSION) --locked --quiet \
	    --root $(TOOLS_DIR) --target-dir $(TOOLS_DIR)/build; \
	  rm -rf $(TOOLS_DIR)/build; \
	fi; \
	if reason=$$($(CARGO) deny fetch db 2>&1); then \
	  $(CARGO) deny check; \
	else \
	  echo "deny: advisories skipped, their database cannot be fetched from here:"; \
	  tail -n 1 <<<"$$reason"; \
	  $(CARGO) deny check bans licenses sources; \
	fi

.PHONY: msrv
msrv: ## The oldest promised compiler builds what others depend on
	@version=$$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml); \
	if command -v rustup >/dev/null && rustup toolchain list | grep -q "^$$version"; then \
	  CARGO_TARGET_DIR=$(TARGET_DIR)/msrv rustup run $$version cargo check -p exec-protocol -p exec-client; \
	else \
	  echo "msrv: skipped, Rust $$version is not installed (rustup toolchain install $$version)"; \
	fi

.PHONY: schema-check
schema-check: needs ## protocol/schema is what the types say
	$(CARGO) test -p exec-protocol --features schema --test schema

##@ Work

.PHONY: schema
schema: needs ## Write protocol/schema from the types
	UPDATE_SCHEMA=1 $(CARGO) test -p exec-protocol --features schema --test schema

.PHONY: manual
manual: needs ## Write docs/man and docs/completions from the command line
	UPDATE_MANUAL=1 $(CARGO) test -p exec-server --bin exec-server -- manual

.PHONY: metrics
metrics: needs ## Write the table of docs/metrics.md from the catalogue of instruments
	UPDATE_METRICS=1 $(CARGO) test -p exec-telemetry --test docs

.PHONY: bench
bench: release ## Measure: the table of docs/benchmarks.md (PEER="cmd args", BENCH_ARGS=--quick)
	$(CARGO) bench -p exec-tests --bench table -- $(BENCH_ARGS)

.PHONY: fuzz
fuzz: needs ## Fuzz every target for FUZZ_SECONDS (tests with `fuzz` in their name)
	@found=$$($(CARGO) test --profile quick --workspace --lib --bins --tests -- fuzz --list | grep -c ': test$$' || true); \
	if [ "$$found" = 0 ]; then echo "fuzz: no target found" >&2; exit 1; fi; \
	echo "fuzz: $$found targets, $(FUZZ_SECONDS) s each"
	BOLERO_RANDOM_TEST_TIME_MS=$$(($(FUZZ_SECONDS) * 1000)) BOLERO_RANDOM_ITERATIONS=4294967295 \
	  $(CARGO) test --profile quick --workspace --lib --bins --tests -- fuzz --nocapture

# Finds what a build or test needs. As root on Debian or Ubuntu it installs what is missing, else it says what is.
.PHONY: needs
needs:
	@command -v $(CARGO) >/dev/null || { echo "missing: cargo. Install Rust: https://rustup.rs" >&2; exit 1; }
	@packages=""; missing=""; \
	for need in $(TEST_NEEDS); do \
	  command -v "$${need%%:*}" >/dev/null && continue; \
	  missing="$$missing $${need%%:*}"; packages="$$packages $$(tr , ' ' <<<"$${need#*:}")"; \
	done; \
	[ -z "$$missing" ] && exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "installing:$$packages"; \
	  export DEBIAN_FRONTEND=noninteractive; \
	  apt-get update -q </dev/null; \
	  apt-get install -q -y --no-install-recommends $$packages </dev/null; \
	else \
	  echo "missing:$$missing. Install the packages$$packages (Debian, Ubuntu: sudo apt-get install$$packages)" >&2; \
	  exit 1; \
	fi

# Unpacks what the tests read of Debian's packages below the target directory, unless it is installed.
.PHONY: fixtures
fixtures:
	@for package in $(FIXTURE_PACKAGES); do \
	  [ -n "$$(ls -d /usr/share/$$package/{bash_completion,*.zsh} 2>/dev/null)" ] && continue; \
	  [ -d $(TARGET_DIR)/debian/usr/share/$$package ] && continue; \
	  if ! command -v dpkg-deb >/dev/null || ! command -v apt-get >/dev/null; then \
	    echo "missing: the Debian package $$package" >&2; exit 1; \
	  fi; \
	  echo "unpacking $$package"; \
	  folder=$(TARGET_DIR)/debian/download; rm -rf $$folder; mkdir -p $$folder; \
	  fetch() { (cd $$folder && apt-get download -q $$package </dev/null); }; \
	  fetch || { apt-get update -q </dev/null; fetch; }; \
	  for file in $$folder/*.deb; do dpkg-deb -x $$file $(TARGET_DIR)/debian; done; \
	  rm -rf $$folder; \
	done
