#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Ways to move a row, measured on a real GPU. usage: tests/gpu/sweep.sh [BUILD_DIR]
# Needs nothing but what was built (tests/gpu/sweep, tests/gpu/sweep.fatbin).
here=$(cd "$(dirname "$0")" && pwd)
build=${1:-$here/../../build}
"$build/tests/gpu/sweep"
python3 "$here/py/triton_rows.py"
