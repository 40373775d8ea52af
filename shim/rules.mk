# SPDX-License-Identifier: Apache-2.0
# libautofuse.so: everything but the children, which go into the command.
LIB_SHIM_SRC := $(filter-out shim/probe_child% shim/probe_run% shim/purity% shim/nvrtc% shim/compile_child% shim/serve_child%,$(SHIM_SRC))
LIB_OBJ := $(call objs,$(CONFIG_SRC) $(MATCHER_SRC) $(FUSED_SRC) $(LIB_SHIM_SRC)) $(FUSED_OBJS)
LIB_LIBS := -l:libinih.a
# Only ours answers to our names, whatever else is loaded; every symbol has a home; no start files,
# hence no constructor (shim/dso.c); never unloaded under threads and handlers of ours.
LIB_LDFLAGS := -shared -nostartfiles -static-libgcc -pthread -Wl,-soname,libautofuse.so -Wl,-Bsymbolic \
	-Wl,-z,defs,-z,noexecstack,-z,relro,-z,nodelete -Wl,--hash-style=gnu -Wl,--as-needed \
	-Wl,--exclude-libs,ALL -Wl,--version-script=shim/exports.map

BASE_CFLAGS += -include shim/glibc.h
$(O)/obj/shim/%.o: override EXTRA_CFLAGS += -isystem $(CUDA_INC)
$(O)/obj/shim/%.o: | $(O)/gen/driver_api.def

lib: $(O)/libautofuse.so ## build only the library

$(O)/libautofuse.so: $(LIB_OBJ) shim/exports.map shim/rules.mk tools/check_library.sh
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(EXTRA_LDFLAGS) $(LIB_LDFLAGS) -o $@ $(LIB_OBJ) $(LIB_LIBS)
	$(Q)tools/check_library.sh $@ $(O)/gen/driver_api.def
