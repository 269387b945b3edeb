# retime: make help lists what there is.

GO       ?= go
PREFIX   ?= /usr/local
SUDO     := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

# FFmpeg 5.1 and OpenCV 4.6 as Debian 12 has them; ffmpeg makes the tests' clips.
PACKAGES := gcc g++ pkg-config ffmpeg \
	libavcodec-dev libavformat-dev libavfilter-dev libavdevice-dev \
	libswscale-dev libswresample-dev libavutil-dev libopencv-dev

# The tests of the evaluation's page drive a browser.
TEST_PACKAGES := chromium

GOLANGCI := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.5.0
LINTER   := build/golangci-lint-2.5.0
DEMO     := build/demo-60fps.mp4

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: deps
deps: ## install the Debian packages that are missing
	@$(call install,$(PACKAGES))

# install PACKAGES: those that are missing, saying which and how much.
define install
mkdir -p build; missing=""; for p in $(1); do \
	dpkg-query -W -f '$${db:Status-Status}' $$p 2>/dev/null | grep -qx installed || missing="$$missing $$p"; \
done; \
[ -z "$$missing" ] && exit 0; \
command -v apt-get >/dev/null || { echo "retime needs:$$missing (Debian names); install them and run again" >&2; exit 1; }; \
$(SUDO) apt-get update -qq && \
echo "installing:$$missing" && \
{ apt-get install --no-install-recommends --assume-no $$missing 2>/dev/null | grep -E '^(Need to get|After this)' || true; } && \
$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >build/apt.log 2>&1 || \
{ cat build/apt.log >&2; exit 1; }
endef

.PHONY: build
build: deps ## build bin/retime
	@$(GO) build -o bin/retime ./cmd/retime

.PHONY: demo
demo: build ## convert a small clip from 24 to 60 frames per second
	@mkdir -p build
	bin/retime testdata/demo.mp4 -o $(DEMO) --fps 60 -y --progress bar

.PHONY: test
test: deps ## run every test, with the race detector
	@$(call install,$(TEST_PACKAGES))
	$(GO) vet ./... ./testdata/scene ./testdata/makeclip
	$(GO) test -race ./...

.PHONY: bench
bench: deps ## run the benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./...

.PHONY: lint
lint: deps $(LINTER) ## check style and the direction of imports
	$(LINTER) run ./...

$(LINTER):
	@echo "building golangci-lint (a few minutes, once)"
	@GOBIN=$(CURDIR)/build $(GO) install $(GOLANGCI) && mv build/golangci-lint $@

.PHONY: fmt
fmt: ## format the code
	gofmt -w $$(git ls-files '*.go')

.PHONY: install
install: build ## install to PREFIX (default /usr/local)
	install -D bin/retime $(DESTDIR)$(PREFIX)/bin/retime

.PHONY: clean
clean: ## remove what was built
	rm -rf bin build
