# SPDX-License-Identifier: Apache-2.0
# Unit tests: one cmocka program per tests/unit/test_NAME.c, linked with config/ and matcher/. A test
# that needs more says so in a file tests/unit/test_NAME.mk:
#   test_NAME_SRC    further sources, built as in the library
#   test_NAME_OBJ    further objects or archives
#   test_NAME_LIBS   further linker flags
#   test_NAME_DEPS   built before the test is run
UNIT_SRC := $(sort $(wildcard tests/unit/test_*.c))
UNIT_TESTS := $(patsubst tests/unit/%.c,$(O)/tests/unit/%,$(UNIT_SRC))
UNIT_BASE_OBJ := $(call objs,$(CONFIG_SRC) $(MATCHER_SRC))
include $(sort $(wildcard tests/unit/test_*.mk))

.SECONDEXPANSION:
$(O)/tests/unit/%: $(O)/obj/tests/unit/%.o $(UNIT_BASE_OBJ) $$(call objs,$$($$*_SRC)) $$($$*_OBJ) $$($$*_DEPS)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(EXTRA_LDFLAGS) -pthread -o $@ $(filter %.o %.a,$^) -l:libinih.a -lcmocka $($*_LIBS) -lm
