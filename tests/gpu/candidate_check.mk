# SPDX-License-Identifier: Apache-2.0
# Kernels generated of candidates against those by hand.
$(GPU_DIR)/candidate_check: $(O)/obj/tests/gpu/candidate_check.o $(GPU_BASE_OBJ) \
		$(call objs,shim/nvrtc.c shim/nvrtc_find.c shim/probe_child_number.c)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -pthread -o $@ $^ -l:libinih.a -ldl -lm
GPU_PROGRAMS += $(GPU_DIR)/candidate_check
