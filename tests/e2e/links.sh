#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Chains on streams: kernels are generated and compiled while the program runs, checked on its data, fused, kept
# for the next run. The steps of `links` can be computed in one way only, so nothing has to be probed.
. "$(dirname "$0")/lib_links.sh"

for mode in plain inplace rows types fill free; do
	rm -rf "$AUTOFUSE_CACHE"
	run_until_fused --mode $mode
	ok "$mode, nothing known: same memory" same "$plain" "$got"
	ok "$mode: compiled, by the probe or after it" \
		grep -qE 'bytes of image (compiled|from the cache|to be compiled)' <<<"$log"
	ok "$mode: two live checks" test "$(chains checked)" -ge 2
	ok "$mode: fused in the same run" bigger "$(chains fused)" 10
	run --mode $mode "${warm[@]}"
	ok "$mode, again: same memory" same "$plain" "$got"
	ok "$mode: nothing compiled" same 0 "$(compiled)"
	ok "$mode: fused from the cache, without a check" same "0 1" "$(chains checked) $(($(chains fused) > 100))"
done
each=$(($(field "$report" launches/program) - $(field "$report" launches/sent)))
ok "a chain of three is two launches less" same $((2 * $(chains fused))) $each

run_until_fused --mode plain # what is tested from here on
run --mode grow "${cold[@]}" --repeat 600
ok "now and then longer: same memory" same "$plain" "$got"
ok "now and then longer: both fused" bigger "$(chains fused)" 60
# Ways are left where a launch is another each time, and found again behind it: only that one is decoded.
run --mode drift "${cold[@]}" --repeat 300
run --mode drift --repeat 600 --pause 1000 --wait --n 20003
ok "with launches never seen before: same memory" same "$plain" "$got"
ok "with launches never seen before: both chains fused" bigger "$(chains fused)" 1000
ok "what is the same each time is remembered" bigger "$(field "$report" held/remembered)" 900
ok "and not decoded" bigger 2200 "$(field "$report" held/decoded)"
run --mode drift --repeat 2000 --n 20003
ok "the same where the program never waits: same memory" same "$plain" "$got"
ok "the same where the program never waits: remembered" bigger "$(field "$report" held/remembered)" 1500
# Within a group that is refused each time: what begins in it is found again, too.
run --mode apart "${cold[@]}" --repeat 300
run --mode apart --repeat 600 --pause 1000 --wait --n 20003
ok "a pair refused each time: same memory" same "$plain" "$got"
ok "a pair refused each time: the chain beside it is fused" bigger "$(chains fused)" 500
ok "a pair refused each time: the reason" bigger "$(field "$report" patterns/silu_mul/rejected/unproven-kernel)" 0
ok "a pair refused each time: its launches are not decoded" bigger 3000 "$(field "$report" held/decoded)"
run --mode alone "${warm[@]}"
ok "alone: same memory, nothing fused" same "$plain 0" "$got $(chains fused)"

# Checks of what is fused already.
AUTOFUSE_VERIFY=always run --mode plain "${warm[@]}"
ok "verify = always: same memory" same "$plain" "$got"
ok "verify = always: checked, never fused" same "0 1" "$(chains fused) $(($(chains checked) > 20))"
AUTOFUSE_SAMPLE_EVERY=10 run --mode plain "${warm[@]}"
ok "verify = sample: same memory" same "$plain" "$got"
ok "verify = sample: some are checked" test "$(chains checked)" -ge 3
ok "verify = sample: nothing wrong with them" same 0 "$(chains rejected/quarantined)"
AUTOFUSE_CHECK_MEMORY=64K AUTOFUSE_CACHE=$AF_TMP/little run_until_fused --mode inplace
ok "little memory for checks: same memory" same "$plain" "$got"
ok "little memory for checks: what fits of the rows is checked" bigger "$(chains fused)" 10

# More elements than were proven want one more check.
run --mode plain --repeat 100 --pause 5000 --wait --n 60013
ok "more rows: same memory" same "$plain" "$got"
ok "more rows: checked once more, then fused" same "1 1" "$(($(chains checked) >= 1)) $(($(chains fused) > 10))"

# A first step that is not what its signature says, on this data. The probe sees it, or live checks do.
run --mode lie "${cold[@]}" --repeat 400
ok "a lie: same memory" same "$plain" "$got"
ok "a lie: found out, by a probe or a live check" has "$log" "gave other bytes than the program's own|chain not used: not-|differs where the program has its operands"
run --mode lie "${warm[@]}"
ok "a lie: same memory in the next run" same "$plain" "$got"
ok "a lie: never fused with the liar, but without" same "0 True" "$(python3 -c '
import json, sys
verdicts = json.load(open(sys.argv[1]))["verdicts"]
print(sum(v["fused"] for v in verdicts if v["reason"] != "none"), sum(v["fused"] for v in verdicts) > 100)' "$report")"

# Time: held launches go out when nothing comes, in the middle of a chain or behind it.
export AUTOFUSE_IDLE_US=150 AUTOFUSE_HOLD_US=1000
run --mode plain --repeat 200 --pause 3000 --n 20003
ok "a pause behind each chain: same memory" same "$plain" "$got"
ok "a pause behind each chain: fused" bigger "$(chains fused)" 100
run --mode plain --repeat 100 --between 5000 --n 20003
ok "a pause within each chain: same memory" same "$plain" "$got"
ok "a pause within each chain: no kernel is compiled for what was cut off" same 0 "$(compiled)"
[ "$AF_BACKEND" != soft ] || export AUTOFUSE_HOLD_US=2000000 AUTOFUSE_IDLE_US=2000000
[ "$AF_BACKEND" = soft ] || unset AUTOFUSE_HOLD_US AUTOFUSE_IDLE_US

run --mode plain --threads 4 --repeat 300 --n 20003
ok "four threads: same memory" same "$plain" "$got"
ok "four threads: fused" bigger "$(chains fused)" 100
run --mode free --threads 3 --repeat 300 --n 20003
ok "threads that allocate and free on their streams: same memory" same "$plain" "$got"

finish
