# dbprof-bpf: profiles running DBSP pipelines from outside.
#
#   make          the program, build/dbprof-bpf      make deps     installs what the rest needs
#   make target   the test pipeline                  make demo     profiles it and shows the result
#   make check    all tests                          make lint     style and layers
#   make check-all  the long ones: a thousand times attached, parity of all scenarios in containers
#   make fuzz     hostile input, FUZZ_SECONDS=60 for each fuzzer
#   make bench    slowdown in paired runs, BENCH='--pairs 15 --scenario join --only ours'
#   make soak     the daemon for 20 minutes while pipelines come and go, SOAK_SECONDS=1200
#   make install  DESTDIR= PREFIX=/usr/local         make deb      the Debian package, in build/deb
#   V=1           shows the commands

VERSION := 0.1.0
PREFIX ?= /usr/local
COMPLETIONS = $(PREFIX)/share/bash-completion/completions
BUILD := build

ifeq ($(V),1)
  Q :=
  say = @:
else
  Q := @
  say = @printf '  %-8s %s\n' "$(1)" "$(2)"
  MAKEFLAGS += --no-print-directory
endif

CC := gcc
CLANG ?= clang
BPFTOOL ?= bpftool
PYTHON ?= /usr/bin/python3
PKGS := libbpf libelf libdw zlib json-c capstone yajl libarchive libcurl libprotobuf-c libmicrohttpd gnutls libcap-ng
SANITIZE ?=
JOBS := $(shell nproc)

ARCH := $(shell uname -m | sed -e s/x86_64/x86/ -e s/aarch64/arm64/)
MULTIARCH := $(shell $(CC) -print-multiarch 2>/dev/null)

WARN := -Wall -Wextra -Werror
CFLAGS ?= -O2 -g
override CFLAGS += -std=gnu11 $(WARN) -D_GNU_SOURCE -DDBPROF_VERSION='"$(VERSION)"' -Iuser -I. \
  -I$(BUILD)/.. -I$(BUILD)/proto $(SANITIZE)
CFLAGS_PKGS = $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
LIBS = $(shell pkg-config --libs $(PKGS) 2>/dev/null) -liberty -lm
BPF_CFLAGS := -g -O2 -mcpu=v3 -target bpf -D__TARGET_ARCH_$(ARCH) -Wall -Wextra \
  -Wno-unused-parameter -Werror -Ivmlinux -Ivmlinux/$(ARCH) -Ibpf -idirafter /usr/include/$(MULTIARCH)

BPF_SRC := $(wildcard bpf/*.bpf.c)
BPF_OBJ := $(BPF_SRC:bpf/%.bpf.c=$(BUILD)/bpf/%.o)
SKELETON := $(BUILD)/bpf/dbprof.skel.h
PROTO := $(BUILD)/proto/pprof.pb-c
SRC := $(sort $(wildcard user/*/*.c))
OBJ := $(SRC:user/%.c=$(BUILD)/user/%.o)
MAIN_OBJ := $(BUILD)/user/cli/main.o
LIB_OBJ := $(filter-out $(MAIN_OBJ),$(OBJ))
DATA := $(sort $(wildcard user/layouts/*.json user/metrics/*.json user/html/*))
EMBEDDED := $(BUILD)/embedded.o
PROGRAM := $(BUILD)/dbprof-bpf
UNIT_SRC := $(sort $(wildcard tests/unit/*.c))
UNIT := $(UNIT_SRC:tests/unit/%.c=$(BUILD)/unit/%)
FUZZ_SRC := $(sort $(wildcard tests/fuzz/*.c))
ifeq ($(wildcard user/snapshot/snapshot_file.h),)
  FUZZ_SRC := $(filter-out %/fuzz_snapshot.c,$(FUZZ_SRC))
endif
FUZZ := $(FUZZ_SRC:tests/fuzz/%.c=$(BUILD)/fuzz/%)
FUZZ_SECONDS ?= 60

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: bench soak check-all fuzz fuzzers build-fuzzers all deps target layout-target print-target print-layout-target \
  print-oracle demo check unit lint install uninstall clean docs deb

all: $(PROGRAM)

# One sentence for each missing package, once, before anything is compiled.
$(BUILD)/needs.ok: tools/packages tools/needs.sh
	$(Q)mkdir -p $(@D)
	$(Q)tools/needs.sh tools/packages
	$(Q)touch $@

$(BUILD)/bpf/%.o: bpf/%.bpf.c $(wildcard bpf/*.h vmlinux/*.h vmlinux/$(ARCH)/*.h) $(BUILD)/needs.ok
	$(call say,BPF,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c $< -o $@

$(BUILD)/bpf/dbprof.linked.o: $(BPF_OBJ)
	$(call say,LINK,$@)
	$(Q)$(BPFTOOL) gen object $@ $^

$(SKELETON): $(BUILD)/bpf/dbprof.linked.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name dbprof > $@

$(BUILD)/user/%.o: user/%.c $(SKELETON) $(BUILD)/needs.ok
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(CFLAGS_PKGS) -MMD -MP -c $< -o $@

# One run makes both files. The code that is made warns, and is not ours to mend.
$(PROTO).c $(PROTO).h &: user/export/pprof.proto $(BUILD)/needs.ok
	$(call say,PROTO,$<)
	$(Q)mkdir -p $(@D)
	$(Q)protoc-c --proto_path=$(<D) --c_out=$(@D) $<

$(PROTO).o: $(PROTO).c
	$(Q)$(CC) $(CFLAGS) -w $(CFLAGS_PKGS) -c $< -o $@

$(BUILD)/user/export/export_pprof.o: $(PROTO).h

$(BUILD)/embedded.S: tools/embed.sh $(DATA)
	$(call say,EMBED,$(DATA))
	$(Q)mkdir -p $(@D)
	$(Q)tools/embed.sh $(DATA) > $@

$(EMBEDDED): $(BUILD)/embedded.S
	$(Q)$(CC) -c $< -o $@

$(BUILD)/libdbprof.a: $(LIB_OBJ) $(PROTO).o $(EMBEDDED)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

$(PROGRAM): $(MAIN_OBJ) $(BUILD)/libdbprof.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ $(LIBS) -o $@

$(BUILD)/unit/%: tests/unit/%.c $(BUILD)/libdbprof.a
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(CFLAGS_PKGS) $(LDFLAGS) $< $(BUILD)/libdbprof.a $(LIBS) -o $@

unit: $(UNIT)

$(BUILD)/fuzz/%: tests/fuzz/%.c $(BUILD)/libdbprof.a $(wildcard tests/fuzz/*.h)
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(CFLAGS_PKGS) $(LDFLAGS) $(if $(findstring fuzz_,$*),-fsanitize=fuzzer) \
	  $< $(BUILD)/libdbprof.a $(LIBS) -o $@

# With clang, whose sanitizers come with a fuzzer.
fuzzers:
	$(Q)$(MAKE) BUILD=build/fuzz CC=$(CLANG) \
	  SANITIZE='-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined' \
	  build-fuzzers

build-fuzzers: $(FUZZ)

# Each of them for FUZZ_SECONDS, on the corpus that the test pipeline gives.
fuzz: fuzzers target
	$(Q)$(PYTHON) tests/fuzz/run.py --seconds $(FUZZ_SECONDS) $(FUZZ_ONLY)

-include $(OBJ:.o=.d)

deps:
	$(Q)tools/deps.sh

# The test pipeline, and the program that asks DBSP's own profile functions what they give; cargo's
# folder lies outside the checkout and is reused.
target:
	$(Q)tools/target.sh release

# The same with debug info, which layouts are taken from.
layout-target:
	$(Q)tools/target.sh layout

print-target:
	@tools/target.sh --print release

print-layout-target:
	@tools/target.sh --print layout

print-oracle:
	@tools/target.sh --print oracle

demo: deps
	$(Q)$(MAKE) all target
	$(Q)tools/demo.sh

check:
	$(Q)tools/deps.sh tools/packages-check tools/packages-deb
	$(Q)$(MAKE) lint
	$(Q)$(MAKE) -j$(JOBS) all unit
	$(Q)$(MAKE) target layout-target
	$(Q)$(MAKE) -j$(JOBS) BUILD=build/sanitized \
	  SANITIZE='-fsanitize=address,undefined -fno-sanitize-recover=undefined' \
	  all unit
	$(Q)$(MAKE) -j$(JOBS) fuzzers
	$(Q)$(PYTHON) -m pytest -p no:cacheprovider tests

# What takes half an hour.
check-all: all target
	$(Q)DBPROF_ATTACHES=1000 DBPROF_THOROUGH=1 $(PYTHON) -m pytest -p no:cacheprovider \
	  tests/test_containers.py tests/test_lifecycle.py

# Slowdown of the pipeline by us and by others, in paired runs: about half an hour on a quiet machine.
bench: all target
	$(Q)tools/deps.sh tools/packages-bench
	$(Q)$(PYTHON) tools/bench/bench.py $(BENCH)

# Pipelines that come and go under the daemon, for SOAK_SECONDS (1200).
soak: all target
	$(Q)$(PYTHON) tests/soak.py

lint:
	$(Q)tools/lint.sh

docs: $(BUILD)/dbprof-bpf.1

$(BUILD)/dbprof-bpf.1: docs/dbprof-bpf.1.md
	$(call say,MAN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)pandoc -s -t man -V footer='dbprof-bpf $(VERSION)' $< -o $@

install: all docs
	install -D -m 755 $(PROGRAM) $(DESTDIR)$(PREFIX)/bin/dbprof-bpf
	install -D -m 644 $(BUILD)/dbprof-bpf.1 $(DESTDIR)$(PREFIX)/share/man/man1/dbprof-bpf.1
	install -D -m 644 tools/completion/dbprof-bpf.bash $(DESTDIR)$(COMPLETIONS)/dbprof-bpf

deb: all docs
	$(Q)tools/deps.sh tools/packages-deb
	$(call say,DEB,build/deb)
	$(Q)tools/deb.sh $(VERSION)

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/dbprof-bpf $(DESTDIR)$(PREFIX)/share/man/man1/dbprof-bpf.1 \
	  $(DESTDIR)$(COMPLETIONS)/dbprof-bpf

clean:
	rm -rf $(BUILD)
