# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034
# Not a third party: the sample decoder, to try the script where those programs are not (AF_THIRD=build/apps).
title="sample decoder" type=f32 exe=decoder-shared-fp32 fuses=add_rmsnorm config=$AF_TESTS/apps/decoder.ini
args=(--tokens 24 --time)
figure='([0-9.]+) ms per token' unit=ms better=less
