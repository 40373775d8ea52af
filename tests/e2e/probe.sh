#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The probe finds exactly the right candidate for hand-written kernels of every kind, and nothing
# where its inputs are too weak or only wrong candidates are on offer.
. "$(dirname "$0")/lib.sh"
tap probe_check "$AF_BUILD/tests/gpu/probe_check"
finish
