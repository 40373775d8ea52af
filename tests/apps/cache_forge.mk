# SPDX-License-Identifier: Apache-2.0
CACHE_FORGE_OBJ = $(O)/obj/tests/apps/cache_forge.o $(call objs,$(CONFIG_SRC) $(MATCHER_SRC) $(FUSED_SRC) \
	$(filter-out shim/cache_profile.c,$(wildcard shim/cache*.c))) $(FUSED_OBJS)

.SECONDEXPANSION:
$(APPS_DIR)/cache_forge: $$(CACHE_FORGE_OBJ)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(EXTRA_LDFLAGS) -pthread -o $@ $(CACHE_FORGE_OBJ) -l:libinih.a -lm
APPS += $(APPS_DIR)/cache_forge
