#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Chains that are switched off, and what can be wrong with compiler, driver and cache.
. "$(dirname "$0")/lib_links.sh"

run_until_fused --mode plain
ok "fused" bigger "$(chains fused)" 10
AUTOFUSE_PATTERNS=-chain run --mode plain "${warm[@]}"
ok "the pattern is off: same memory, nothing fused" same "$plain 0" "$got $(chains fused)"
ok "the pattern is off: disabled" bigger "$(chains rejected/disabled)" 0
AUTOFUSE_GENERATED=0 run --mode plain "${warm[@]}"
ok "generated = 0: same memory, nothing fused" same "$plain 0" "$got $(chains fused)"
AUTOFUSE_GENERATED=1 AUTOFUSE_CACHE=$AF_TMP/one run --mode grow "${cold[@]}"
ok "generated = 1: same memory" same "$plain" "$got"
ok "generated = 1: one kernel" test "$(compiled)" -le 1
AUTOFUSE=0 run --mode plain "${warm[@]}"
ok "AUTOFUSE=0: same memory" same "$plain" "$got"

# What moves values within a row, in place, holds the row at once: this one is too long for that.
AUTOFUSE_CACHE=$AF_TMP/swap run_until_fused --mode swap
ok "a row too long to be held: same memory" same "$plain" "$got"
ok "a row too long to be held: no-kernel" bigger "$(chains rejected/no-kernel)" 0
ok "a row too long to be held: what is before it fuses" bigger "$(chains fused)" 10

# What can be wrong with compiler and cache.
AUTOFUSE_NVRTC=$AF_TMP/nowhere AUTOFUSE_CACHE=$AF_TMP/none run --mode plain "${cold[@]}"
ok "no compiler: same memory, nothing fused" same "$plain 0" "$got $(chains fused)"
ok "no compiler: not-compiled" bigger "$(chains rejected/not-compiled)" 0
ok "no compiler: one warning" same 1 "$(grep -c 'no kernel is generated' <<<"$log")"
for f in "$AUTOFUSE_CACHE"/image-*; do
	head -c 700 /dev/urandom | dd of="$f" bs=1 seek=300 conv=notrunc 2>/dev/null
done
run --mode plain "${cold[@]}" --repeat 600
ok "damaged images: same memory" same "$plain" "$got"
ok "damaged images: made again, and fused" same "1 1" "$(($(compiled) >= 1)) $(($(chains fused) > 10))"
AUTOFUSE_CACHE=none run --mode plain "${cold[@]}" --repeat 600
ok "no cache: same memory" same "$plain" "$got"
ok "no cache: fused all the same" bigger "$(chains fused)" 10
# A kernel that the driver does not load.
if [ "$AF_BACKEND" = soft ]; then
	SOFTGPU_FAIL=cuModuleLoadData:2:200 run --mode plain "${cold[@]}"
	ok "an image that does not load: same memory, nothing fused" same "$plain 0" "$got $(chains fused)"
	ok "an image that does not load: one warning" same 1 "$(grep -c 'does not load' <<<"$log")"
	SOFTGPU_SLOW=cuModuleLoadData:300000 run --mode plain "${cold[@]}" --repeat 600
	ok "a slow load: same memory" same "$plain" "$got"
	ok "a slow load: fused in the end" bigger "$(chains fused)" 1
fi
# What we open must not take the place of what the program has closed: it might write there.
rm -rf "$AUTOFUSE_CACHE"
taken=
for repeat in 150 300 600 2400; do
	AUTOFUSE_REPORT=$report LD_PRELOAD=$LIB "$app" --mode plain "${cold[@]}" --repeat $repeat <&- >&- 2>&- &
	while kill -0 $! 2>/dev/null; do
		taken+=$(readlink /proc/$!/fd/[012] 2>/dev/null | grep '^socket:')
		sleep 0.01
	done
	wait $!
	[ "$(chains fused)" -le 10 ] || break
done
ok "without stdin, stdout and stderr: compiled and fused" bigger "$(chains fused)" 10
ok "and they stay closed" same "" "$taken"
finish
