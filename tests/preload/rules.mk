# SPDX-License-Identifier: Apache-2.0
# Programs and libraries for tests of the way a call takes (tests/e2e/preload*.sh): a fake driver that
# only notes calls, programs linked to it, plugins, another library to preload.
PRELOAD := $(O)/tests/preload
PRELOAD_PROGRAMS := calls paths absent outside forks nextuser runpathuser lacking contexts rounds constructor
PRELOAD_TESTS := $(addprefix $(PRELOAD)/,$(PRELOAD_PROGRAMS) fake/libcuda.so.1 copy/libcuda.so.1 \
	old/libcuda.so.1 libplugin.so libcupti.so.13 libnext.so libnextdlsym.so librunpath.so there/libonlythere.so libconstructor.so)
PRELOAD_CC = $(CC) -std=gnu11 $(CFLAGS) $(WARN) -Wno-missing-prototypes -fPIC -pthread -MMD -MP $(CPPFLAGS) \
	-isystem $(CUDA_INC)
PRELOAD_CXX = $(CXX) -std=c++20 -O1 -g -Wall -Wextra -Wno-unused-parameter -fPIC -MMD -MP $(CPPFLAGS) \
	-isystem $(CUDA_INC)

$(PRELOAD)/%: tests/preload/%.c $(PRELOAD)/fake/libcuda.so.1
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(PRELOAD_CC) $(PRELOAD_LD) -o $@ $< $(if $(filter absent outside runpathuser,$*),,$(PRELOAD)/fake/libcuda.so.1) -ldl

$(PRELOAD)/lacking: PRELOAD_LD := -Wl,-z,lazy
$(PRELOAD)/calls: tests/preload/calls.cpp $(PRELOAD)/fake/libcuda.so.1
	$(call say,CXX,$@)
	$(Q)$(PRELOAD_CXX) -o $@ $< $(PRELOAD)/fake/libcuda.so.1 -ldl

$(PRELOAD)/fake/libcuda.so.1: tests/preload/fakecuda.cpp | $(O)/gen/driver_api.def
	$(call say,CXX,$@)
	@mkdir -p $(@D)
	$(Q)$(PRELOAD_CXX) -shared -Wl,-Bsymbolic -Wl,-soname,libcuda.so.1 -o $@ $< -ldl

$(PRELOAD)/copy/libcuda.so.1: $(PRELOAD)/fake/libcuda.so.1
	@mkdir -p $(@D)
	$(Q)cp $< $@

# A driver of the CUDA 11 days: what came later is not exported.
$(PRELOAD)/old/libcuda.so.1: tests/preload/fakecuda.cpp | $(O)/gen/driver_api.def
	$(call say,CXX,$@)
	@mkdir -p $(@D)
	$(Q)(echo '{ global: fake_*; extern "C" {'; awk -F'[(,] *' '/^DRIVER_API/ && $$4 < 12000 {print "\t" $$2 ";"}' \
		$(O)/gen/driver_api.def; echo '}; local: *; };') > $@.map
	$(Q)$(PRELOAD_CXX) -shared -Wl,-Bsymbolic -Wl,-soname,libcuda.so.1 -Wl,--version-script=$@.map -o $@ $< -ldl

$(PRELOAD)/libconstructor.so: tests/preload/constructor.c $(PRELOAD)/fake/libcuda.so.1
	$(call say,CC,$@)
	$(Q)$(PRELOAD_CC) -DLIBRARY -shared -o $@ $< $(PRELOAD)/fake/libcuda.so.1

$(PRELOAD)/libplugin.so $(PRELOAD)/libcupti.so.13: tests/preload/plugin.c $(PRELOAD)/fake/libcuda.so.1
	$(call say,CC,$@)
	$(Q)$(PRELOAD_CC) -shared -o $@ $< $(PRELOAD)/fake/libcuda.so.1 -ldl

$(PRELOAD)/libnext.so: tests/preload/next.c | $(O)/gen/driver_api.def
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(PRELOAD_CC) -shared -o $@ $< -ldl

$(PRELOAD)/libnextdlsym.so: tests/preload/next.c | $(O)/gen/driver_api.def
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(PRELOAD_CC) -DNEXT_DLSYM -shared -o $@ $< -ldl

$(PRELOAD)/librunpath.so: tests/preload/runpath.c | $(PRELOAD)/there/libonlythere.so
	$(call say,CC,$@)
	$(Q)$(PRELOAD_CC) -shared -Wl,--enable-new-dtags,-rpath,'$$ORIGIN/there' -o $@ $< -ldl

$(PRELOAD)/there/libonlythere.so: tests/preload/runpath.c
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(PRELOAD_CC) -shared -o $@ $< -ldl

-include $(wildcard $(PRELOAD)/*.d $(PRELOAD)/*/*.d)
