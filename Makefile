# retime: make help lists what there is.

GO       ?= go
PREFIX   ?= /usr/local
SUDO     := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

# FFmpeg, OpenCV and OpenEXR as the Debian or Ubuntu at hand has them; ffmpeg makes the tests' clips.
PACKAGES = gcc g++ pkg-config ffmpeg \
	libavcodec-dev libavformat-dev libavfilter-dev libavdevice-dev \
	libswscale-dev libswresample-dev libavutil-dev $(if $(OPENCV),libopencv-dev) $(if $(OPENEXR),libopenexr-dev)

# Tests run the example of docs/flow.md, and read and write pictures by OpenEXR's tools.
TEST_PACKAGES := python3-minimal openexr

# make test-page drives this browser.
PAGE_PACKAGES := chromium curl ca-certificates

# It also fetches this package from npm.
AXE_VERSION := 4.10.2
AXE_SHA256  := 9ea2d2d6917da998122bdacfd3b473e31ead53f4b87146c716a12edf89158100
AXE         := build/axe-core-$(AXE_VERSION)/axe.min.js

# CUDA 11.8, from Debian's contrib and non-free; 1.6 GB to fetch. gcc-11 is the
# newest that it works with.
CUDA_PACKAGES := nvidia-cuda-toolkit gcc-11 g++-11

GOLANGCI := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.5.0
LINTER   := build/golangci-lint-2.5.0
DEMO     := build/demo-60fps.mp4

# GoCV takes what pkg-config lists for OpenCV: every module, with GUI toolkits and GDAL,
# a hundred shared libraries more than retime needs. GoCV's tag customenv leaves the
# headers and libraries to these lines, and --gc-sections drops the parts of GoCV that
# retime does not call, so the program links few modules. The linker wants the modules
# named here because OpenCV's video module loads them. A bare go build links everything
# and works, too. All of this touches the link only: no target compiles GoCV again.
#
# make build TAGS=noopencv builds a program without OpenCV and its two estimators. The tag openexr
# links OpenEXR, by which sequences keep all channels.
comma   := ,
TAGS    := customenv,openexr
WORDS   := $(subst $(comma), ,$(TAGS))
OPENCV  := $(if $(filter noopencv,$(WORDS)),,yes)
OPENEXR := $(filter openexr,$(WORDS))
GIVEN   := $(GOFLAGS)
export GOFLAGS := $(GOFLAGS) -trimpath -tags=$(TAGS) \
	-ldflags=-extldflags=-Wl,--gc-sections,--as-needed$(if $(OPENCV),$(comma)-lopencv_dnn$(comma)-lopencv_calib3d$(comma)-lopencv_features2d$(comma)-lopencv_flann)
# With -trimpath the build cache gives go vet and the linter the output of cgo from whichever
# checkout filled it, with the paths of that one; they may be gone.
UNTRIMMED = $(filter-out -trimpath,$(GOFLAGS))
VET       = GOFLAGS="$(UNTRIMMED)" $(GO) vet
export CPLUS_INCLUDE_PATH := /usr/include/opencv4:/usr/local/include/opencv4$(CPLUS_INCLUDE_PATH:%=:%)

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: deps
deps: ## install the Debian packages that are missing, and choose the go-astiav for this FFmpeg
	@$(call install,$(PACKAGES))
	@.ci/go-work

# install PACKAGES: those that are missing, saying which and how much.
define install
mkdir -p build; missing=""; for p in $(1); do \
	dpkg-query -W -f '$${db:Status-Status}' $$p 2>/dev/null | grep -qx installed || missing="$$missing $$p"; \
done; \
[ -z "$$missing" ] && exit 0; \
command -v apt-get >/dev/null || { echo "retime needs:$$missing (Debian names); install them and run again" >&2; exit 1; }; \
$(SUDO) apt-get update -qq && \
echo "installing:$$missing" && \
{ $(SUDO) env LC_ALL=C apt-get install --no-install-recommends --assume-no $$missing 2>/dev/null | grep -E '^(Need to get|After this)' || true; } && \
$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >build/apt.log 2>&1 || \
{ cat build/apt.log >&2; exit 1; }
endef

# Where the programs are built; packages' lie elsewhere.
BIN := bin

.PHONY: build
build: deps ## build bin/retime
	@$(GO) build -o $(BIN)/retime ./cmd/retime

# The C library needs no FFmpeg and no OpenCV, so neither their flags nor make deps. With CUDA it needs no
# driver either: it links functions that load the driver when a device is first asked for.
LIBRETIME := build/libretime
RELEASE    = $(shell sed -n 's/^const release = "v\(.*\)"/\1/p' cmd/retime/version.go)
LIB_GO     = GOFLAGS="$(filter-out -tags% -ldflags%,$(GOFLAGS))" $(GO) build
LIB_FLAGS  = -s -w -X main.version=$(RELEASE)
DRIVER    := build/driver

.PHONY: libretime
libretime: ## build build/libretime, the C library with its header, man page and pkg-config file
	@mkdir -p $(LIBRETIME)/include $(LIBRETIME)/lib/pkgconfig $(LIBRETIME)/share/man/man3
	@$(LIB_ENV) $(LIB_GO) $(LIB_TAGS) -buildmode=c-shared -ldflags="$(LIB_FLAGS) -extldflags=-Wl,-soname,libretime.so.0,--version-script=$(CURDIR)/cmd/libretime/libretime.map" -o $(LIBRETIME)/lib/libretime.so.0 ./cmd/libretime
	@rm -f $(LIBRETIME)/lib/libretime.so.h && ln -sf libretime.so.0 $(LIBRETIME)/lib/libretime.so
	@cp cmd/libretime/libretime.h $(LIBRETIME)/include/
	@sed 's/@VERSION@/$(RELEASE)/' cmd/libretime/libretime.pc >$(LIBRETIME)/lib/pkgconfig/libretime.pc
	@GOFLAGS=-trimpath GOOS= GOARCH= CGO_ENABLED=0 $(GO) run ./cmd/libretime/man cmd/libretime/libretime.h $(RELEASE) >$(LIBRETIME)/share/man/man3/libretime.3
	@echo $(LIBRETIME)

.PHONY: libretime-cuda
libretime-cuda: kernels $(DRIVER)/libcuda.a ## the same with the kernels; devices are used where a driver is
	@$(MAKE) --no-print-directory libretime LIB_TAGS="-tags cuda" LIB_ENV='$(CUDA_ENV) CGO_LDFLAGS="-O2 -g -L$(CURDIR)/$(DRIVER)"'

# gorgonia.org/cu links -lcuda from the first directory that has it, and nvidia_init.c has cuInit.
$(DRIVER)/libcuda.a: cmd/libretime/driver/driver.c
	@mkdir -p $(@D)
	@nm -D --defined-only "$$($(CUDA_ENV) gcc -print-file-name=libcuda.so)" | awk '$$2 == "T" && $$3 ~ /^cu/ && $$3 != "cuInit" { print "CALL(" n++ ", " $$3 ")" }' n=0 >$(@D)/calls.h
	@gcc -O2 -Wall -Wextra -Werror -fPIC -I$(@D) -c $< -o $(@D)/driver.o
	@ar rcs $@ $(@D)/driver.o

# VapourSynth's wheel, which wants Python 3.12 or later, brings the headers. The plugin is one file,
# with the library in it.
PYTHON     ?= $(firstword $(foreach p,python3 python3.13 python3.12,$(shell $p -c 'import sys; sys.version_info >= (3, 12) and print("$p")' 2>/dev/null)))
VAPOURSYNTH := build/vapoursynth
VS_ENV      = $(VAPOURSYNTH)/python

.PHONY: print-python
print-python:
	@echo $(PYTHON)

# What a plugin takes in, which is one file then.
ARCHIVE     := build/libretime.a
PLUGIN_GCC   = gcc -O2 -Wall -Wextra -Werror -shared -fPIC -Icmd/libretime
PLUGIN_LINK  = $(ARCHIVE) -Wl,-z,nodelete,--exclude-libs,ALL,--gc-sections,-Bsymbolic,-s

.PHONY: $(ARCHIVE)
$(ARCHIVE):
	@$(LIB_GO) -buildmode=c-archive -ldflags="$(LIB_FLAGS)" -o $@ ./cmd/libretime

.PHONY: vapoursynth
vapoursynth: $(VS_ENV)/bin/vspipe $(ARCHIVE) ## make a Python wheel of the VapourSynth plugin; PYTHON names a Python 3.12 or later
	@mkdir -p dist
	@$(PLUGIN_GCC) -I$$($(VS_ENV)/bin/python -c 'import vapoursynth, os; print(os.path.dirname(vapoursynth.__file__))')/include \
		cmd/libretime/vapoursynth/plugin.c $(PLUGIN_LINK) -o $(VAPOURSYNTH)/libvsretime.so
	@$(VS_ENV)/bin/python .ci/wheel-vapoursynth dist $(VAPOURSYNTH)/libvsretime.so $(RELEASE)

$(VS_ENV)/bin/vspipe:
	@[ -n "$(PYTHON)" ] || { echo "make vapoursynth needs Python 3.12 or later; PYTHON=/path/to/python3 names one" >&2; exit 1; }
	@$(PYTHON) -m venv $(VS_ENV)
	@$(VS_ENV)/bin/python -m pip install -q --disable-pip-version-check vapoursynth vapoursynth-bestsource

.PHONY: test-vapoursynth
test-vapoursynth: build vapoursynth ## compare the plugin's frames with the program's; ALL=1 compares the whole table
	@$(VS_ENV)/bin/python -m pip install -q --disable-pip-version-check --force-reinstall --no-deps dist/vapoursynth_retime-$(RELEASE)-*-manylinux_*.whl
	@mkdir -p $(VAPOURSYNTH)/config && export XDG_CONFIG_HOME=$(CURDIR)/$(VAPOURSYNTH)/config && \
	$(VS_ENV)/bin/vapoursynth config >/dev/null && $(VS_ENV)/bin/python cmd/libretime/vapoursynth/test.py bin/retime testdata/demo.mp4

GSTREAMER_PACKAGES := libgstreamer-plugins-base1.0-dev gstreamer1.0-tools gstreamer1.0-plugins-base
GSTREAMER          := build/gstreamer

.PHONY: gstreamer
gstreamer: $(ARCHIVE) ## build build/gstreamer/libgstretime.so, a GStreamer element
	@$(call install,gcc pkg-config $(GSTREAMER_PACKAGES))
	@mkdir -p $(GSTREAMER)
	@$(PLUGIN_GCC) -DVERSION='"$(RELEASE)"' $$(pkg-config --cflags gstreamer-video-1.0) cmd/libretime/gstreamer/plugin.c $(PLUGIN_LINK) \
		$$(pkg-config --libs gstreamer-video-1.0) -o $(GSTREAMER)/libgstretime.so
	@echo $(GSTREAMER)/libgstretime.so

.PHONY: test-gstreamer
test-gstreamer: build gstreamer ## compare the element's frames with the program's
	@GST_PLUGIN_PATH=$(CURDIR)/$(GSTREAMER) cmd/libretime/gstreamer/test bin/retime testdata/demo.mp4

# OPENFX is a copy of the sources of OpenFX, of which the plug-in takes the headers, and its test the host.
OPENFX_BUILD := build/openfx
OPENFX_FILE  := $(OPENFX_BUILD)/retime.ofx.bundle/Contents/Linux-x86-64/retime.ofx

.PHONY: openfx
openfx: $(ARCHIVE) ## build build/openfx/retime.ofx.bundle, an OpenFX plug-in; OPENFX names the sources of OpenFX
	@[ -f "$(OPENFX)/include/ofxCore.h" ] || { echo "make openfx needs OPENFX=DIR, the sources of https://github.com/AcademySoftwareFoundation/openfx" >&2; exit 1; }
	@mkdir -p $(dir $(OPENFX_FILE))
	@$(PLUGIN_GCC) -I$(OPENFX)/include cmd/libretime/openfx/plugin.c $(PLUGIN_LINK) -lm -o $(OPENFX_FILE)
	@echo $(OPENFX_BUILD)/retime.ofx.bundle

# OpenFX's demonstration host warns, and leaves an include out.
.PHONY: test-openfx
test-openfx: build openfx ## compare the plug-in's frames with the program's, in a host of OpenFX's own classes
	@$(call install,g++ libexpat1-dev)
	@g++ -O1 -w -include cstring -I$(OPENFX)/include -I$(OPENFX)/HostSupport/include -I$(OPENFX)/HostSupport/examples cmd/libretime/openfx/host.cpp \
		$(addprefix $(OPENFX)/HostSupport/examples/hostDemo,ClipInstance.cpp EffectInstance.cpp HostDescriptor.cpp ParamInstance.cpp) \
		$(OPENFX)/HostSupport/src/*.cpp -lexpat -ldl -o $(OPENFX_BUILD)/host
	@OFX_PLUGIN_PATH=$(CURDIR)/$(OPENFX_BUILD) cmd/libretime/openfx/test bin/retime testdata/demo.mp4 $(OPENFX_BUILD)/host

.PHONY: test-python
test-python: build libretime ## compare the arrays of the Python package with the program's frames; needs numpy
	@python3 -c 'import numpy' 2>/dev/null || { $(call install,python3-numpy); }
	@python=python3; $$python -c 'import numpy' 2>/dev/null || python=/usr/bin/python3; \
	RETIME=$(CURDIR)/bin/retime RETIME_LIBRARY=$(CURDIR)/$(LIBRETIME)/lib/libretime.so.0 PYTHONPATH=cmd/retime/python PYTHONDONTWRITEBYTECODE=1 \
		$$python cmd/retime/python/test_arrays.py testdata/demo.mp4 docs/embedding.md

# One file of kernels a source, for every architecture from Volta to Blackwell that nvcc knows, and
# as PTX for later ones. Products and sums are not fused, so that floats are the CPU's.
CUDA_ARCHS = $(filter 70 75 80 86 89 90 100 120,$(patsubst sm_%,%,$(shell nvcc --list-gpu-code 2>/dev/null)))
NVCCFLAGS  = -O3 -std=c++14 -fmad=false -t 2 -Xfatbin=-compress-all \
	$(foreach a,$(CUDA_ARCHS),-gencode arch=compute_$(a),code=sm_$(a)) -gencode arch=compute_90,code=compute_90
FATBINS    := $(patsubst cuda/kernels/%.cu,cuda/fatbin/%.fatbin,$(wildcard cuda/kernels/*.cu))
# Kernels that only the benchmarks run; these may include the others' headers. Those of box
# splines are written by their compiler.
GPU        := cmd/retime-bench/internal/gpu
BOXSPLINES := $(GPU)/kernels/boxspline.cu
GPUBINS    := $(patsubst $(GPU)/kernels/%.cu,$(GPU)/fatbin/%.fatbin,$(sort $(BOXSPLINES) $(wildcard $(GPU)/kernels/*.cu)))
# The driver's library is linked where there is no driver, too. /usr/local/cuda is
# where NVIDIA's own toolkit lies. LIBRARY_PATH, unlike CGO_LDFLAGS, is no reason for
# Go to compile every C package again.
CUDA_ENV   = LIBRARY_PATH="$${LIBRARY_PATH:+$$LIBRARY_PATH:}/usr/lib/x86_64-linux-gnu/stubs:/usr/local/cuda/lib64/stubs"$(CUDA_COMPAT)
# gorgonia.org/cu does not compile with the header of CUDA 13 as it is.
CUDA_MAJOR = $(shell nvcc --version 2>/dev/null | sed -n 's/.*release \([0-9]*\)\..*/\1/p')
CUDA_COMPAT = $(if $(filter-out 11 12,$(CUDA_MAJOR)), CGO_CFLAGS="-O2 -g -I$(CURDIR)/cuda/compat -I$(realpath $(dir $(shell command -v nvcc))../include)")

.PHONY: cuda
cuda: build kernels ## build bin/retime-cuda, for NVIDIA GPUs
	@$(CUDA_ENV) $(GO) build -tags $(TAGS),cuda -o $(BIN)/retime-cuda ./cmd/retime

# Debian has an older one. The library to link is still the driver's, or its toolkit's.
CUDA_13 := build/cuda-13/nvidia/cu13

.PHONY: cuda-13
cuda-13: $(CUDA_13)/bin/nvcc ## the same by the compiler of CUDA 13, from PyPI, which knows Blackwell
	@PATH="$(CURDIR)/$(CUDA_13)/bin:$$PATH" $(MAKE) --no-print-directory cuda

$(CUDA_13)/bin/nvcc:
	@python3 -m pip install -q --disable-pip-version-check --no-deps --target build/cuda-13 \
		nvidia-cuda-nvcc==13.5.37 nvidia-cuda-crt==13.5.37 nvidia-nvvm==13.5.37 nvidia-cuda-runtime==13.5.37 nvidia-cuda-cccl==13.3.5.0.6
	@chmod +x $(CUDA_13)/bin/* $(CUDA_13)/nvvm/bin/*

.PHONY: kernels
kernels: cuda-deps ## compile the kernels; CUDA_ARCHS="80 90" for these GPUs only
	@$(MAKE) --no-print-directory fatbins

.DELETE_ON_ERROR:

.PHONY: fatbins
fatbins: $(FATBINS) cuda/fatbin/sources
	@for f in cuda/fatbin/*.fatbin; do n=$${f##*/}; [ -e cuda/kernels/$${n%.fatbin}.cu ] || rm $$f; done

.PHONY: bench-kernels
bench-kernels: kernels
	@$(MAKE) --no-print-directory $(GPUBINS)

$(BOXSPLINES): $(wildcard $(patsubst %,warp/boxspline/%/*.go,. exact lattice compile compile/*) $(GPU)/kernels/boxspline_*.cuh)
	@echo "compiling the box splines' kernels"
	@$(GO) run ./warp/boxspline/compile -kernels $@
	@$(GO) generate ./$(GPU)/kernels

.PHONY: generate
generate: $(BOXSPLINES) ## write the box splines' code, and what the kernels share with Go code, again
	$(GO) generate ./warp/boxspline ./cuda/... ./$(GPU)/...

# What the kernels are compiled for, which retime info prints. Another choice
# compiles them again.
cuda/fatbin/architectures: always
	@mkdir -p $(@D); now="$(CUDA_ARCHS:%=sm_%) and PTX 9.0"; [ "$$(cat $@ 2>/dev/null)" = "$$now" ] || echo "$$now" >$@

# The checksum of what the kernels are compiled from, which the program compares with
# its own sources.
cuda/fatbin/sources: $(FATBINS) $(wildcard cuda/kernels/*.cuh)
	@cat $(sort $(wildcard cuda/kernels/*.cu)) $(sort $(wildcard cuda/kernels/*.cuh)) | sha256sum | cut -c 1-64 >$@

.PHONY: always

cuda/fatbin/%.fatbin: cuda/kernels/%.cu cuda/fatbin/architectures
	@mkdir -p build
	@echo "nvcc $<"
	@nvcc -fatbin $(NVCCFLAGS) -MD -MP -MF build/$*.d -MT $@ -o $@ $<

$(GPU)/fatbin/%.fatbin: $(GPU)/kernels/%.cu cuda/fatbin/architectures
	@mkdir -p build $(@D)
	@echo "nvcc $<"
	@nvcc -fatbin $(NVCCFLAGS) -Icuda/kernels -MD -MP -MF build/bench-$*.d -MT $@ -o $@ $<

-include $(wildcard build/*.d)

# An nvcc that is there is taken. Debian's toolkit depends on Debian's driver library,
# which takes the place of a driver that something other than apt installed, and then
# no device answers.
.PHONY: cuda-deps
cuda-deps: deps
	@if command -v nvcc >/dev/null; then exit 0; fi; \
	command -v apt-get >/dev/null || { echo "retime needs CUDA's compiler, nvcc 11.8 or later; install it and run again" >&2; exit 1; }; \
	! /sbin/ldconfig -p | grep -q 'libcuda\.so\.1 ' || dpkg-query -S '*/libcuda.so.1' >/dev/null 2>&1 || { \
		echo "NVIDIA's driver is here, but not from apt: Debian's CUDA toolkit would put another in its place." >&2; \
		echo "Run make dist where there is no driver and bring the tarball here, or install NVIDIA's own toolkit and run again with nvcc in PATH." >&2; exit 1; }; \
	apt-cache policy nvidia-cuda-toolkit | grep -q 'Candidate: [0-9]' || { \
		. /etc/os-release; list=/etc/apt/sources.list.d/retime-cuda.list; key=/usr/share/keyrings/debian-archive-keyring.gpg; \
		grep -qs "Signed-By: *$$key" /etc/apt/sources.list.d/debian.sources && by="[signed-by=$$key] " || by=; \
		echo "adding Debian's contrib and non-free to apt ($$list)"; \
		echo "deb $${by}http://deb.debian.org/debian $$VERSION_CODENAME contrib non-free" | $(SUDO) tee $$list >/dev/null; }; \
	$(call install,$(CUDA_PACKAGES))

.PHONY: test-cuda
test-cuda: build ## run the CUDA tests; needs an NVIDIA GPU
	@cuda=$$(bin/retime info | grep ^CUDA); echo "$$cuda"; \
	case $$cuda in *devices:*) ;; *) echo "make test-cuda needs an NVIDIA GPU; make check-cuda and make test do not" >&2; exit 1;; esac
	@$(MAKE) --no-print-directory bench-kernels
	$(CUDA_ENV) $(GO) test -tags $(TAGS),cuda -count=1 ./cuda/... ./$(GPU)/...

.PHONY: check-cuda
check-cuda: cuda bin/retime-bench-cuda ## build the CUDA programs and their tests, which takes no GPU
	$(CUDA_ENV) $(VET) -tags $(TAGS),cuda ./cuda/... ./pipeline ./cmd/...
	@for p in cuda cuda/kernels $(GPU); do echo "compiling the tests of $$p"; \
		$(CUDA_ENV) $(GO) test -tags $(TAGS),cuda -c -o build/$$(basename $$p).test ./$$p || exit 1; done

.PHONY: demo
demo: build ## convert a small clip from 24 to 60 frames per second
	@mkdir -p build
	bin/retime testdata/demo.mp4 -o $(DEMO) --fps 60 -y --progress bar

.PHONY: test-deps
test-deps: deps
	@$(call install,$(TEST_PACKAGES))

.PHONY: test
test: test-deps $(BOXSPLINES) ## run every test, with the race detector; TESTFLAGS=-v adds flags
	$(VET) ./... $(TEST_PROGRAMS)
	$(GO) test -race -timeout 40m $(TESTFLAGS) ./...

.PHONY: test-plain
test-plain: test-deps $(BOXSPLINES) ## run every test, without the race detector; PKG=./pipeline runs a package's
	$(GO) test -timeout 40m $(TESTFLAGS) $(or $(PKG),./...)

# These packages use OpenCV otherwise.
.PHONY: check-noopencv
check-noopencv: deps ## build, vet and test what a build without OpenCV has
	@[ -z "$(OPENCV)" ] || { $(MAKE) --no-print-directory check-noopencv TAGS=noopencv; exit; }; \
	$(VET) ./... && $(GO) build -o build/retime-noopencv ./cmd/retime && \
	{ ! ldd build/retime-noopencv | grep opencv; } && \
	$(GO) test -timeout 40m $(TESTFLAGS) ./pipeline/motion && $(GO) test $(TESTFLAGS) -run 'Info|Flags' ./cmd/retime && \
	$(GO) test $(TESTFLAGS) -run DevicesEstimateFlow ./pipeline/stages

.PHONY: test-on
test-on: ## run every test, or those of PKG, in a bare Debian or Ubuntu: make test-on SUITE=trixie, or noble, resolute; needs root
	@PKG="$(PKG)" .ci/test-on $(SUITE)

# The packages whose inner loops have variants.
LOOPS := ./flow/dis ./warp ./warp/bspline ./warp/boxspline/fast

# What NEON's variants need on other machines.
NEON_PACKAGES := (Debian: qemu-user, gcc-aarch64-linux-gnu and libc6-dev-arm64-cross)

# make test runs these comparisons, too, without qemu.
.PHONY: check-simd
check-simd: deps ## compare every variant of the inner loops with the Go functions, and time them
	$(GO) test -count=1 $(TESTFLAGS) -run 'Loops|Kernel' -bench 'Loops|Kernels' -benchtime 0.2s $(LOOPS)
	@if [ "$$(uname -m)" = aarch64 ]; then exit 0; fi; \
	for p in qemu-aarch64 aarch64-linux-gnu-gcc; do \
		command -v $$p >/dev/null || { echo "check-simd: skipped NEON: $$p is not there $(NEON_PACKAGES)"; exit 0; }; \
	done; \
	echo '#include <stdlib.h>' | aarch64-linux-gnu-gcc -E - >/dev/null 2>&1 || { echo "check-simd: skipped NEON: arm64's C headers are not there $(NEON_PACKAGES)"; exit 0; }; \
	GOFLAGS="-trimpath" GOARCH=arm64 CGO_ENABLED=1 CC=aarch64-linux-gnu-gcc \
		$(GO) test -count=1 -exec "qemu-aarch64 -L /usr/aarch64-linux-gnu" -run 'Loops|Kernel' $(LOOPS)

# Undefined behaviour of C and C++ ends a test, and so, by -asan, does an address out of bounds.
# These packages link neither FFmpeg nor OpenCV, which would have to be compiled alike. As nvcc and
# C++20 have it, the kernels may shift a negative number left.
SANITIZE  := -O1 -g1 -fsanitize=undefined -fno-sanitize-recover=undefined
SANITIZED := ASAN_OPTIONS=detect_leaks=0 CGO_CFLAGS="$(SANITIZE)" CGO_CXXFLAGS="$(SANITIZE) -fno-sanitize=shift-base" CGO_LDFLAGS=-fsanitize=undefined $(GO) test -asan -count=1 -timeout 40m $(TESTFLAGS)

.PHONY: sanitize
sanitize: deps ## test the loops in C and the kernels' emulator with the sanitizers of addresses and undefined behaviour
	$(SANITIZED) -run 'Loops|Kernel' $(LOOPS)
	$(SANITIZED) ./cuda/kernels ./cuda

# Wildcards leave directories called testdata out.
TEST_PROGRAMS := $(sort $(patsubst %/,./%,$(dir $(wildcard testdata/*/*.go))))

.PHONY: test-page
test-page: deps $(AXE) ## test the pages of retime evaluate and retime review in a browser; installs Chromium
	@$(call install,$(PAGE_PACKAGES))
	$(GO) test -count=1 $(TESTFLAGS) -run '^TestPage' ./pipeline/evaluate ./cmd/internal/review

# axe-core, which looks for what keeps people from using a page; only the tests use it.
$(AXE):
	@$(call install,$(PAGE_PACKAGES))
	@mkdir -p $(@D)
	@curl -fsSL --retry 3 -o $(@D).tgz https://registry.npmjs.org/axe-core/-/axe-core-$(AXE_VERSION).tgz
	@echo "$(AXE_SHA256)  $(@D).tgz" | sha256sum --check --quiet
	@tar -xzf $(@D).tgz -C $(@D) --strip-components=1 package/axe.min.js && rm $(@D).tgz

# The farm is a module of its own, so that nobody who builds retime compiles Temporal. A
# go.work that does not list it must not keep it from building.
FARM     := cmd/retime-farm
FARM_GO  := cd $(FARM) && GOWORK=off GOFLAGS="$(filter-out -tags% -ldflags%,$(GOFLAGS))" $(GO)
TEMPORAL := build/farm/temporal-1.5.1

.PHONY: bin/retime-farm
bin/retime-farm:
	@$(FARM_GO) build -o ../../$@ .

.PHONY: farm
farm: build bin/retime-farm $(TEMPORAL) ## build bin/retime-farm, for many machines, and bin/temporal to try it
	@ln -sfn ../$(TEMPORAL) bin/temporal

# CGO_ENABLED: the server has its own SQLite in Go.
$(TEMPORAL):
	@echo "building Temporal's program temporal (about five minutes, once)"
	@mkdir -p $(@D)
	@GOWORK=off GOFLAGS= CGO_ENABLED=0 GOBIN=$(CURDIR)/$(@D) $(GO) install -trimpath -ldflags="-s -w" github.com/temporalio/cli/cmd/temporal@v1.5.1
	@mv $(@D)/temporal $@

# TestSlurm starts a cluster of two nodes on this machine.
FARM_PACKAGES := slurm-wlm munge

.PHONY: test-farm
test-farm: farm ## test retime-farm on a Temporal server and on Slurm; installs Slurm
	@$(call install,$(FARM_PACKAGES))
	$(FARM_GO) vet ./...
	$(FARM_GO) test -race -count=1 -timeout 40m $(TESTFLAGS) ./...

# The benchmarks: make bench-bspline ARGS=--scaling, make bench-stages CLIP=clip.mp4.
CLIP := testdata/demo.mp4

.PHONY: bench
bench: deps ## build bin/retime-bench, whose measurements follow
	@$(GO) build -o bin/retime-bench ./cmd/retime-bench

.PHONY: bench-bspline
bench-bspline: bench ## measure B-splines: speed, accuracy, scaling, peers
	bin/retime-bench bspline $(ARGS)

.PHONY: bench-stages
bench-stages: bench ## measure the stages of converting CLIP
	bin/retime-bench stages $(CLIP) $(ARGS)

.PHONY: bench-restore
bench-restore: bench ## measure restoration on real clips; takes minutes
	bin/retime-bench restore $(ARGS)

.PHONY: bench-frame
bench-frame: kernels ## measure the kernels of a made frame; needs an NVIDIA GPU
	$(CUDA_ENV) $(GO) test -tags $(TAGS),cuda -run '^$$' -bench Frame $(TESTFLAGS) ./cuda

.PHONY: bench-cuda
bench-cuda: bin/retime-bench-cuda ## measure splines; needs an NVIDIA GPU
	bin/retime-bench-cuda cuda $(ARGS)

.PHONY: bin/retime-bench-cuda
bin/retime-bench-cuda: bench-kernels
	@$(CUDA_ENV) $(GO) build -tags $(TAGS),cuda -o $@ ./cmd/retime-bench

.PHONY: bench-go
bench-go: deps ## run the benchmarks of every package
	$(GO) test -run '^$$' -bench . -benchmem ./...

.PHONY: lint
lint: deps $(LINTER) ## check style and the direction of imports
	GOFLAGS="$(UNTRIMMED)" $(LINTER) run ./... $(TEST_PROGRAMS)
	cd $(FARM) && GOWORK=off GOFLAGS= ../../$(LINTER) run ./...
	cd docs/site && GOWORK=off GOFLAGS= ../../$(LINTER) run ./...

$(LINTER):
	@echo "building golangci-lint (a few minutes, once)"
	@GOFLAGS= GOBIN=$(CURDIR)/build $(GO) install $(GOLANGCI) && mv build/golangci-lint $@

# The site's generator is a module of its own, so that nobody who builds retime needs a Markdown library.
.PHONY: site
site: ## make a site of the README and the documents, build/site/index.html, and check its links
	@cd docs/site && GOWORK=off GOFLAGS= $(GO) run . ../.. ../../build/site
	@echo build/site/index.html

.PHONY: fmt
fmt: ## format the code
	gofmt -w $$(git ls-files '*.go')

.PHONY: rename
rename: ## change the module path: make rename MODULE=example.org/you/retime
	@.ci/rename "$(MODULE)"

.PHONY: install
install: build ## install to PREFIX (default /usr/local)
	install -D $(BIN)/retime $(DESTDIR)$(PREFIX)/bin/retime
	[ ! -x $(BIN)/retime-cuda ] || install -D $(BIN)/retime-cuda $(DESTDIR)$(PREFIX)/bin/retime-cuda
	@mkdir -p build && $(BIN)/retime completion bash >build/retime.bash && $(BIN)/retime completion zsh >build/_retime && \
	$(BIN)/retime completion fish >build/retime.fish && $(BIN)/retime man >build/retime.1
	install -D -m 644 build/retime.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/retime
	install -D -m 644 build/_retime $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_retime
	install -D -m 644 build/retime.fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/retime.fish
	install -D -m 644 build/retime.1 $(DESTDIR)$(PREFIX)/share/man/man1/retime.1

.PHONY: dist
dist: cuda ## make a tarball that runs on Linux machines with nothing but a driver
	@.ci/dist bin/retime bin/retime-cuda

.PHONY: dist-cpu
dist-cpu: build ## make a tarball without the program for GPUs
	@.ci/dist bin/retime

.PHONY: wheel
wheel: libretime ## make a Python wheel of the tarball that make dist or dist-cpu made, or else of dist-cpu's
	@ls dist/retime-*-linux-$(if $(filter arm64,$(GOARCH)),aarch64,$$(uname -m)).tar.xz >/dev/null 2>&1 || $(MAKE) --no-print-directory dist-cpu
	@python3 .ci/wheel dist

.PHONY: dist-windows
dist-windows: build ## make a zip for Windows on x86-64, and a wheel of the VapourSynth plugin; installs mingw
	@.ci/dist-windows

.PHONY: test-windows
test-windows: dist-windows ## test what make dist-windows made, under Wine in a Debian 13; needs root
	@.ci/test-windows

.PHONY: test-windows-all
test-windows-all: dist-windows ## run every test under Wine, which takes long; .ci/test-windows pipeline/media runs a package's
	@.ci/test-windows all

.PHONY: deb
deb: ## make a package for this Debian, of a program without OpenCV
	@$(call install,dpkg-dev)
	@.ci/deb retime

.PHONY: deb-farm
deb-farm: build bin/retime-farm ## make a package of retime-farm and of a service for its worker
	@$(call install,dpkg-dev)
	@.ci/deb retime-farm

.PHONY: deb-libretime
deb-libretime: build libretime ## make a package of the C library
	@$(call install,dpkg-dev)
	@.ci/deb libretime-dev

.PHONY: arm64
arm64: ## make the packages, tarball and wheel for arm64 by a cross build, and try them under qemu; needs root
	@.ci/arm64

# The Debians whose packages are made, beside this system's own.
export SUITES ?= bookworm trixie

# The programs of all systems have one version, the commit's, or no commit's if files were changed.
.PHONY: test-packages
test-packages: ## make every package but those for GPUs and arm64, and try them in bare systems of SUITES; needs root
	@export GOFLAGS="$(GIVEN) -buildvcs=$$([ -z "$$(git status --porcelain)" ] && echo auto || echo false)"; \
	.ci/release dist-cpu && (cd dist && sha256sum --check --quiet SHA256SUMS) && .ci/packages $$SUITES

.PHONY: release
release: ## make every package of the commit that is tagged with its version, with checksums
	@[ "$$(git describe --exact-match 2>/dev/null)" = v$(RELEASE) ] && [ -z "$$(git status --porcelain)" ] || \
		{ echo "make release wants a commit with the tag v$(RELEASE) and no changes" >&2; exit 1; }
	@.ci/release $(if $(CUDA_MAJOR),dist,dist-cpu) arm64

.PHONY: clean
clean: ## remove what was built
	rm -rf bin build dist cuda/fatbin $(GPU)/fatbin
