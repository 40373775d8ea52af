#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The probe's inputs tell each candidate from all others.
. "$(dirname "$0")/lib.sh"
tap separation_check "$AF_BUILD/tests/gpu/separation_check"
finish
