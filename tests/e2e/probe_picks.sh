#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The probe finds the pick of every member of a chain, and nothing where a member is not what it is
# said to be or its inputs are too weak.
. "$(dirname "$0")/lib.sh"
tap pick_check "$AF_BUILD/tests/gpu/pick_check"
finish
