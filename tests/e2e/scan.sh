#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Kernels that `autofuse scan` counts against what cuobjdump counts: on our own builds where cuobjdump is
# on the machine, and by the committed figures on the libraries that are on it. AF_SCAN_PATH: further
# directories to look for them in, separated by ':'. AF_SCAN_LARGE=1: also libraries over 100 MB.
. "$(dirname "$0")/lib.sh"
if [ "$AF_BACKEND" = gpu ] && [ -z "${AF_SCAN_PATH:-}" ]; then
	skip "scan" "needs no GPU; set AF_SCAN_PATH to scan the libraries of this machine"
	finish
fi
cuobjdump=$(command -v cuobjdump || ls /usr/local/cuda/bin/cuobjdump "${CUDA_HOME:-/nowhere}/bin/cuobjdump" 2>/dev/null | head -n 1)

scanned() { # FILE: "CUBINS KERNELS PTX"
	"$AUTOFUSE_COMMAND" scan "$1" --json >"$AF_TMP/scan.json" || echo "exit $?"
	echo "$(field "$AF_TMP/scan.json" cubins) $(field "$AF_TMP/scan.json" kernels_in_cubins) $(field "$AF_TMP/scan.json" ptx)"
}
dumped() { # FILE
	echo "$("$cuobjdump" -lelf "$1" | grep -c '\.cubin') $("$cuobjdump" -symbols "$1" | grep -cE '^FUNC.* ENTRY ') $("$cuobjdump" -lptx "$1" | grep -c '\.ptx')"
}

# Every kernel of the decoder's source is in the program that the compiler made of it.
ok "a program with the static runtime" same "$(cat "$AF_TESTS"/apps/decoder_{,steps_}kernels.cuh | grep -c '__global__')" \
	"$(scanned "$APPS/decoder-static-fp32" | cut -d' ' -f2)"
ok "our library holds what our image holds" same "$(scanned "$AF_BUILD/fused/kernels.fatbin")" "$(scanned "$LIB")"
for f in "$APPS/decoder-static-fp32" "$AF_BUILD/tests/unit/scan/lib.a"; do
	for part in 100 5000 $(($(stat -c %s "$f") - 1000)); do
		head -c "$part" "$f" >"$AF_TMP/cut"
		ok "$part bytes of $(basename "$f"): damaged" has "$("$AUTOFUSE_COMMAND" scan "$AF_TMP/cut" | tr "\n" " "; echo "${PIPESTATUS[0]}")" "DAMAGED.* 1$"
	done
done
if [ -n "$cuobjdump" ]; then
	for f in "$APPS/decoder-static-fp32" "$APPS/decoder-static-bf16" "$AF_BUILD/fused/kernels.fatbin" "$AF_BUILD"/tests/unit/scan/*; do
		ok "as cuobjdump: $(basename "$f")" same "$(dumped "$f" 2>/dev/null)" "$(scanned "$f")"
	done
else
	left_out "our own builds as cuobjdump counts them" "cuobjdump is not on this machine"
fi

IFS=: read -ra dirs <<<"${AF_SCAN_PATH:-}"
dirs+=("${CUDA_HOME:-/usr/local/cuda}/lib64")
while read -r d; do dirs+=("$d"); done < <(python3 -c 'import glob, site
for p in site.getsitepackages(): print(p + "/torch/lib", *glob.glob(p + "/nvidia/*/lib"), sep="\n")' 2>/dev/null)
large=0 absent=0
while IFS=$'\t' read -r name bytes cubins kernels ptx; do
	[[ $name != \#* ]] || continue
	if [ "$bytes" -gt 100000000 ] && [ "${AF_SCAN_LARGE:-0}" != 1 ]; then
		large=$((large + 1))
		continue
	fi
	found=
	for d in "${dirs[@]}"; do
		[ "$(stat -L -c %s "$d/$name" 2>/dev/null)" = "$bytes" ] && found=$d/$name && break
	done
	if [ -n "$found" ]; then
		ok "the counts of $name, $bytes bytes" same "$cubins $kernels $ptx" "$(scanned "$found")"
	else
		absent=$((absent + 1))
	fi
done <"$AF_TESTS/data/scan_counts.tsv"
[ $large = 0 ] || left_out "the counts of $large libraries over 100 MB" "AF_SCAN_LARGE=1 is not set"
[ $absent = 0 ] || left_out "the counts of $absent libraries" "they are not on this machine"
finish
