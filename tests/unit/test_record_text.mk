# SPDX-License-Identifier: Apache-2.0
test_record_text_SRC := shim/record_text.c
