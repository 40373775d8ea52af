#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How many processes it takes to learn: one probe's child answers for many chains, and is gone soon after the program.
. "$(dirname "$0")/lib.sh"
[ "$AF_BACKEND" != soft ] || export AUTOFUSE_NVRTC=$AF_BUILD/softgpu
export AUTOFUSE_SUMMARY=no AUTOFUSE_CONFIG=$AF_TESTS/apps/chain_random.ini
export AUTOFUSE_PROBE_SECONDS=10 # some searches take the software GPU longest
cat >"$AF_TMP/autofuse" <<EOF2
#!/bin/sh
echo \$1 \$2 >>"$AF_TMP/started"
exec "$AUTOFUSE_COMMAND" "\$@"
EOF2
chmod +x "$AF_TMP/autofuse"
export AUTOFUSE_PROBE_COMMAND=$AF_TMP/autofuse

# Until a run heard of three chains at least: the machine may be busy.
want=$("$APPS/chain_random" 0 24 --pool 24 --repeat 6)
for seconds in 10 20 40 60; do
	rm -rf "$AUTOFUSE_CACHE" "$AF_TMP/started"
	got=$(shim "$APPS/chain_random" 0 24 --pool 24 --repeat 6 --pause $((seconds * 3000)))
	heard=$(cat "$AUTOFUSE_CACHE"/verdicts-* 2>/dev/null | grep -c '^af2 ') # the child writes them
	started=$(grep -c '^probe serve' "$AF_TMP/started")
	[ "$heard" -lt 3 ] || break
done
ok "same memory" same "$want" "$got"
echo "# $heard chains, $started children"
ok "some chains were probed" bigger "$heard" 2
ok "by fewer children than chains" bigger "$heard" "$started"
# What is under way is brought to its end, and nothing else.
left() {
	grep -lzxF "AUTOFUSE_CACHE=$AUTOFUSE_CACHE" /proc/[0-9]*/environ 2>/dev/null | while read -r f; do
		readlink "${f%/environ}/exe"
	done | grep -xF "$AUTOFUSE_COMMAND"
}
for ((i = 0; i < 300; i++)); do
	[ -n "$(left)" ] || break
	sleep 0.1
done
ok "none of them stays" same "" "$(left)"
finish
