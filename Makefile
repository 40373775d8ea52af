# SPDX-License-Identifier: Apache-2.0
# libautofuse: `make demo` and `make check` do all the set-up; `make help` lists the targets.
O ?= build
V ?= 0
DEBUG ?= 0
Q := $(if $(filter 1,$(V)),,@)
say = @printf '  %-7s %s\n' $(1) $(patsubst $(O)/%,%,$(2))

CC := gcc
CXX := g++
PYTHON := python3
# The CUDA toolkit: CUDA_HOME, nvcc on PATH, the usual place, or the wheels that tools/setup unpacks.
CUDA_HOME ?= $(patsubst %/bin/nvcc,%,$(firstword $(shell command -v nvcc 2>/dev/null) \
	$(wildcard /usr/local/cuda/bin/nvcc $(abspath $(O))/cuda/bin/nvcc)))
NVCC := $(CUDA_HOME)/bin/nvcc
CUDA_INC := $(CUDA_HOME)/include

WARN := -Wall -Wextra -Wmissing-prototypes -Wstrict-prototypes -Wshadow -Wundef -Wno-unused-parameter
OPT := $(if $(filter 1,$(DEBUG)),-O0 -g3,-O2 -g)
CFLAGS ?= $(OPT)
CPPFLAGS := -I. -I$(O)/gen -D_GNU_SOURCE
# One set of objects serves the library, the command and the tests.
BASE_CFLAGS = -std=gnu11 $(CFLAGS) $(WARN) -fPIC -fvisibility=hidden -ftls-model=initial-exec -pthread \
	-fno-strict-aliasing -MMD -MP $(CPPFLAGS)
# The two front doors use every core unless told otherwise.
JOBS = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))
objs = $(patsubst %,$(O)/obj/%.o,$(basename $(1)))

CONFIG_SRC := $(wildcard config/*.c)
MATCHER_SRC := $(wildcard matcher/*.c)
# What reads images needs libelf and decompressors: for the command, not for the library. So is what only probes run.
IMAGE_SRC := fused/fatbin.c fused/cubin.c fused/cubin_info.c fused/ptx.c fused/eval_image.c
FUSED_SRC := $(filter-out $(IMAGE_SRC),$(wildcard fused/*.c))
SHIM_SRC := $(wildcard shim/*.c shim/*.S)
TOOLS_SRC := $(wildcard tools/*.c)

.PHONY: all lib help demo check lint format gpu-check bench clean setup
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:

all: $(O)/libautofuse.so $(O)/autofuse ## build the library and the command

help: ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(filter %Makefile %.mk,$(MAKEFILE_LIST))
	@echo "  variables: O=dir (default build), DEBUG=1, V=1, CUDA_HOME=dir"

setup: ## install or name what is missing (apt packages, CUDA toolkit)
	@tools/setup $(abspath $(O))

demo: setup ## run the sample decoder without and with the shim and compare
	$(Q)$(MAKE) $(JOBS) --no-print-directory demo-run

check: setup ## build and run all tests that this machine can run
	$(Q)$(MAKE) $(JOBS) --no-print-directory check-run

lint: ## layers, headers, licence lines, formatting
	@tools/lint.sh

format: ## rewrite C sources and headers in the project's format (clang-format 14)
	clang-format -i $$(git ls-files '*.c' '*.h' | grep -v '\.def$$')

clean: ## remove the build directory
	rm -rf $(O)

include fused/rules.mk
include shim/rules.mk
include tests/rules.mk
include tools/rules.mk

$(O)/gen/driver_api.def: tools/gen_driver_api.py $(CUDA_INC)/cuda.h
	$(call say,GEN,$@)
	@mkdir -p $(@D)
	$(Q)$(PYTHON) tools/gen_driver_api.py $(CUDA_INC) $(CC) > $@

$(O)/obj/%.o: %.c | $(O)/gen/driver_api.def
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE_CFLAGS) $(EXTRA_CFLAGS) -c -o $@ $<

$(O)/obj/%.o: %.S | $(O)/gen/driver_api.def
	$(call say,AS,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -MMD -MP -fPIC -g -c -o $@ $<

-include $(shell find $(O)/obj -name '*.d' 2>/dev/null)
