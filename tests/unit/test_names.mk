# SPDX-License-Identifier: Apache-2.0
test_names_SRC := tools/names.c tools/name_parts.c
test_names_LIBS := -ldl
