#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The suite's own programs: every fused kernel and order against plain ones, every style of hand-written
# norm against the probe.
. "$(dirname "$0")/../e2e/lib.sh"
unset LD_LIBRARY_PATH
"$AF_BUILD/tests/gpu/fused_check"
a=$?
"$AF_BUILD/tests/gpu/probe_check"
exit $((a | $?))
