#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Launches between the members of a group that is held: they pass it only where that is seen by nobody.
. "$(dirname "$0")/lib.sh"
export AUTOFUSE_CONFIG=$AF_TESTS/apps/crossings.ini AUTOFUSE_SUMMARY=no
app=$APPS/crossings

run() { # NAME PROGRAM MODE ITERATIONS: sets fused
	local name=$1 plain got
	shift
	plain=$("$@" 2>&1)
	got=$(AUTOFUSE_REPORT=$AF_TMP/report AUTOFUSE_VERIFY=off shim "$@" 2>&1)
	ok "$name: same memory" same "$plain" "$got"
	fused=$(field "$AF_TMP/report" launches/fused)
}

# Evidence is of a kernel, not of one of its name in another build of the program.
ok "rebuilt: learns to fuse" learn 20 "$AF_TMP/report" "$app" rebuilt 2000
ok "rebuilt: learns to fuse in the second build" learn 20 "$AF_TMP/report" "$app-second" rebuilt 2000
run "rebuilt, second build" "$app-second" rebuilt 200
ok "rebuilt, second build: fuses" bigger "$fused" 0
run "rebuilt, first build" "$app" rebuilt 2
ok "rebuilt, first build: crossed once its own group was met" bigger "$fused" 20

# Memory at two addresses: by them, nothing stands against it.
for mode in aliased aliased_late; do
	run $mode "$app" $mode 2000
	ok "$mode: other memory is fused" bigger "$fused" 1500
done

# A launch that tells another stream of what came before it.
run completion_event "$app" completion_event 2000
ok "completion_event: fuses" bigger "$fused" 1500

# Of what the program was told that it was launched, all is, though the driver refuses one.
if [ "$AF_BACKEND" = soft ]; then
	said=$(for call in {1..16}; do
		SOFTGPU_FAIL=cuLaunchKernel:$call:701 AUTOFUSE_VERIFY=off shim "$app" late_error 2 1 2>&1 | grep '^error 701'
	done | sort -u)
	ok "late_error: one of two was refused" same $'error 701: - sum\nerror 701: sum -' "$said"
else
	skip "late_error: one of two was refused" "the driver refuses none"
fi

# What is another each time does not fill memory.
more=$(AUTOFUSE_PROBE=0 shim "$app" steps 60000 1 | sed -n 's/ KiB more//p')
ok "steps: memory stays as it is after 20000" bigger 12288 "$more"
finish
