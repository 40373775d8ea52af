# SPDX-License-Identifier: Apache-2.0
test_outlook_SRC := shim/outlook.c
