#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The probe finds exactly the right spelling of silu -> mul, and nothing for kernels that only look like it.
. "$(dirname "$0")/lib.sh"
tap silu_check "$AF_BUILD/tests/gpu/silu_check"
finish
