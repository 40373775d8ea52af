# SPDX-License-Identifier: Apache-2.0
# The autofuse command, and the configuration files compiled into library and command.
EMBEDDED_INI := $(sort $(wildcard config/*.ini))
# The probe and compile children are shim code that runs in the command (hidden `autofuse probe`, `compile`).
PROBE_SRC ?= $(wildcard shim/probe_child*.c shim/purity*.c shim/cache*.c shim/nvrtc*.c shim/compile_child*.c shim/serve_child*.c)
COMMAND_OBJ := $(call objs,$(CONFIG_SRC) $(MATCHER_SRC) $(FUSED_SRC) $(IMAGE_SRC) $(TOOLS_SRC) $(PROBE_SRC)) $(FUSED_OBJS)
COMMAND_LIBS := -l:libinih.a -l:libjansson.a -l:libz.a -l:libelf.a -l:libzstd.a -l:liblz4.a -ldl -lm

# Each file becomes a row of C strings.
# The folder too: a file that went is a change.
$(O)/gen/embedded.def: $(EMBEDDED_INI) config
	$(call say,GEN,$@)
	@mkdir -p $(@D)
	$(Q)for f in $(EMBEDDED_INI); do \
		echo "EMBEDDED(\"$$f\","; \
		sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/.*/\t"&\\n"/' $$f; \
		echo ')'; \
	done > $@

# The page of `autofuse trace --html`, a C string a line.
$(O)/gen/page.def: tools/page.html
	$(call say,GEN,$@)
	@mkdir -p $(@D)
	$(Q)sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/.*/PAGE("&")/' $< > $@

$(O)/obj/tools/page.o: $(O)/gen/page.def

$(O)/obj/config/embedded.o: $(O)/gen/embedded.def

$(O)/autofuse: $(COMMAND_OBJ)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(EXTRA_LDFLAGS) -pthread -o $@ $(COMMAND_OBJ) $(COMMAND_LIBS)
