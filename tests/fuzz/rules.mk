# SPDX-License-Identifier: Apache-2.0
# Fuzzers of everything that reads files. Each tests/fuzz/fuzz_NAME.c gives two programs under the
# address and undefined-behaviour sanitizers: NAME with our own driver, part of `make check`, and
# NAME-libfuzzer for `make fuzz` where clang has libFuzzer.
FUZZ := $(O)/tests/fuzz
FUZZ_NAMES := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZERS := $(addprefix $(FUZZ)/,$(FUZZ_NAMES) corpus)
FUZZ_SRC := $(CONFIG_SRC) $(MATCHER_SRC) $(filter-out fused/eval_image.c,$(IMAGE_SRC)) $(filter-out tools/trace_command.c tools/trace_app.c,$(wildcard tools/plan*.c \
	tools/trace*.c tools/scan*.c)) $(wildcard shim/purity*.c) tools/args.c tools/readable.c tools/utf8.c tools/progress.c shim/cache.c shim/cache_dir.c \
	shim/cache_image.c shim/cache_image_list.c shim/cache_nvrtc.c \
	tests/fuzz/common.c tests/fuzz/lines.c
FUZZ_LIBS := -l:libinih.a -l:libjansson.a -l:libelf.a -l:libz.a -l:libzstd.a -l:liblz4.a -ldl -lm -lpthread
FUZZ_FLAGS := -std=gnu11 -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined \
	-fno-sanitize-recover=undefined -Wall -Wno-unused-parameter -MMD -MP
SECONDS ?= 60
CLANG := clang

$(FUZZ)/gcc/%.o: %.c $(O)/gen/embedded.def
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(FUZZ_FLAGS) $(CPPFLAGS) -c -o $@ $<
$(FUZZ)/clang/%.o: %.c $(O)/gen/embedded.def
	$(call say,CLANG,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link $(CPPFLAGS) -c -o $@ $<

fuzz_objs = $(patsubst %.c,$(FUZZ)/$(1)/%.o,$(2))
$(addprefix $(FUZZ)/,$(FUZZ_NAMES)): $(FUZZ)/%: $(call fuzz_objs,gcc,$(FUZZ_SRC) tests/fuzz/main.c) \
		$(FUZZ)/gcc/tests/fuzz/fuzz_%.o
	$(call say,LD,$@)
	$(Q)$(CC) -fsanitize=address,undefined -o $@ $^ $(FUZZ_LIBS)
$(FUZZ)/%-libfuzzer: $(call fuzz_objs,clang,$(FUZZ_SRC)) $(FUZZ)/clang/tests/fuzz/fuzz_%.o
	$(call say,LD,$@)
	$(Q)$(CLANG) -fsanitize=address,undefined,fuzzer -o $@ $^ $(FUZZ_LIBS)

# What they start from: one directory each.
$(FUZZ)/corpus: tests/fuzz/corpus.sh $(SCAN_FILES) $(SCAN_OBJECTS) $(PURITY_IMAGES) $(wildcard tests/data/* tests/apps/*.ini)
	$(call say,GEN,$@)
	$(Q)tests/fuzz/corpus.sh $(O) $@

.PHONY: fuzz
fuzz: $(FUZZERS) $(if $(shell command -v $(CLANG)),$(FUZZ_NAMES:%=$(FUZZ)/%-libfuzzer)) ## fuzz every parser, SECONDS=60 each (FUZZ_NAMES="plan ..." picks)
	@tests/fuzz/run $(FUZZ) $(SECONDS) $(FUZZ_NAMES)

-include $(shell find $(FUZZ) -name '*.d' 2>/dev/null)
