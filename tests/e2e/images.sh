#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The images of our kernels: which GPUs they are for, and that they stay small.
. "$(dirname "$0")/lib.sh"
image=$AF_BUILD/fused/kernels.fatbin
if [ ! -e "$image" ]; then
	skip "the images" "needs the build's fused/kernels.fatbin"
	finish
fi
bytes=$(stat -c %s "$image")
echo "# $bytes bytes"
ok "at most 16 MiB" test "$bytes" -le 16777216
got=$(
	python3 - "$image" <<'PY'
import struct, sys
d = open(sys.argv[1], "rb").read()
magic, _, header, size = struct.unpack_from("<IHHQ", d, 0)
assert magic == 0xba55ed50
at, found = header, []
while at < header + size:
    kind, _, head, payload = struct.unpack_from("<HHIQ", d, at)
    found.append({1: "ptx", 2: "sm"}.get(kind, "?") + str(struct.unpack_from("<I", d, at + 28)[0]))
    at += head + payload
print(*sorted(found))
PY
)
ok "for three generations, and as PTX for the others" same "ptx80 sm100 sm80 sm90" "$got"
finish
