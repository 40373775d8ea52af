#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every fused kernel against plain ones, byte for byte.
. "$(dirname "$0")/lib.sh"
tap fused_check "$AF_BUILD/tests/gpu/fused_check"
finish
