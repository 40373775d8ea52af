#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `autofuse cache`: lists what a run learned, clears it, and keeps its hands off what is not the user's own.
. "$(dirname "$0")/lib.sh"
export AUTOFUSE_CONFIG=$AF_TESTS/apps/pairs.ini AUTOFUSE_SUMMARY=no
cache() { "$AUTOFUSE_COMMAND" cache "$@" 2>&1; }

ok "path" same "$AUTOFUSE_CACHE" "$(cache path)"
ok "the default place" same /somewhere/autofuse "$(env -u AUTOFUSE_CACHE XDG_CACHE_HOME=/somewhere "$AUTOFUSE_COMMAND" cache path)"
ok "nothing there yet" has "$(cache)" "^nothing is kept: .* does not exist"
ok "and looking did not make it" [ ! -e "$AUTOFUSE_CACHE" ]
ok "learns to fuse" learn 20 "$AF_TMP/report" "$APPS/pairs" plain 4000
ok "a proven record" has "$(cache list)" "^$(field "$AF_TMP/report" verdicts/0/key)  proven$"
ok "its candidate" has "$(cache list)" "rows, by $(field "$AF_TMP/report" verdicts/0/candidate | sed 's/[.]/\\./g')"
ok "its pattern or kernel" has "$(cache)" "rms_?norm"
ok "how many, and where" has "$(cache)" "^1 record of this build in $AUTOFUSE_CACHE$"
cache list --json >"$AF_TMP/cache.json"
ok "as JSON" same "verdict $(field "$AF_TMP/report" verdicts/0/key)" "$(field "$AF_TMP/cache.json" records/0/kind) $(field "$AF_TMP/cache.json" records/0/key)"
touch "$AUTOFUSE_CACHE/verdicts-0123456789abcdef" "$AUTOFUSE_CACHE/not ours"
ok "other builds are counted" has "$(cache)" "; 1 file of other builds"

# A compiled image, as the library would ask for it: from the child, into a file that it is handed.
if [ "$AF_BACKEND" = soft ]; then
	text='extern "C" __global__ void listed(int *p) { *p = 1; }
SOFTGPU_KERNEL(listed)
'
	said=$(python3 - "$AUTOFUSE_COMMAND" "$AF_TMP/image" "$AUTOFUSE_CACHE" "$AF_BUILD/softgpu" "$text" <<'PY'
import socket, struct, subprocess, sys
command, image, cache, nvrtc, text = sys.argv[1:]
request = ("cc 90\ndriver 13000\nbuild 1\nsearch 7\ncache %s\nlimit 1000000\nname listed\noption %s\ntext %d\n%s"
           % (cache, nvrtc, len(text), text)).encode()
ours, theirs = socket.socketpair()
child = subprocess.Popen([command, "compile", "serve"], stdin=theirs, stdout=theirs)
theirs.close()
with open(image, "w+b") as f:
    socket.send_fds(ours, [struct.pack("4I", 0x31734661, len(request), 1, 0)], [f.fileno()])
    ours.sendall(request)
    print(ours.makefile().readline(), end="")
ours.close()
child.wait()
PY
	)
	ok "compiled" has "$said" "^image 13000 [0-9]+ made$"
	ok "its bytes are handed over" test -s "$AF_TMP/image"
	ok "listed" has "$(cache)" "listed for sm_90 by NVRTC 13.0, [0-9]+ bytes"
	ok "and counted" has "$(cache)" "; 1 compiled image of [0-9]+ bytes"
	cache list --json >"$AF_TMP/cache.json"
	ok "as JSON" same "listed 90" "$(field "$AF_TMP/cache.json" images/0/name) $(field "$AF_TMP/cache.json" images/0/cc)"
fi

chmod 777 "$AUTOFUSE_CACHE"
out=$(cache clear); rc=$?
ok "a directory that others can write: refused" same 125 $rc
ok "and why" has "$out" "belongs to, or can be written by, somebody else"
ok "and nothing is gone" [ -e "$AUTOFUSE_CACHE/verdicts-0123456789abcdef" ]
chmod 700 "$AUTOFUSE_CACHE"
if [ "$(id -u)" = 0 ]; then
	chown 65534 "$AUTOFUSE_CACHE"
	out=$(cache clear); rc=$?
	ok "a directory of another owner: refused" same "125 yes" "$rc $([ -e "$AUTOFUSE_CACHE/verdicts-0123456789abcdef" ] && echo yes)"
	chown 0 "$AUTOFUSE_CACHE"
else
	left_out "a directory of another owner: refused" "only root can make one"
fi
# The profile that `autofuse trace` leaves is ours, too. What cannot be removed is not said to be.
echo "afp1 0123456789abcdef0123456789abcdef 7 10 20 3 #0000000000000000" >"$AUTOFUSE_CACHE/profile"
touch "$AUTOFUSE_CACHE/profile.123"
mkdir "$AUTOFUSE_CACHE/verdicts-fedcba9876543210"
out=$(cache clear); rc=$?
ok "clear: what is left" has "$out" "verdicts-fedcba9876543210: Is a directory"
ok "clear: how many" has "$out" "^[4-9] files removed from $AUTOFUSE_CACHE, 1 could not be$"
ok "clear: status" same "125 no" "$rc $([ -e "$AUTOFUSE_CACHE/profile" ] && echo yes || echo no)"
rmdir "$AUTOFUSE_CACHE/verdicts-fedcba9876543210"
touch "$AUTOFUSE_CACHE/verdicts-0123456789abcdef" "$AUTOFUSE_CACHE/mark-0"
ok "clear" has "$(cache clear)" "^[2-9] files removed from $AUTOFUSE_CACHE$"
ok "what is not ours stays" same "not ours" "$(ls "$AUTOFUSE_CACHE")"
ok "nothing is left" has "$(cache)" "^0 records of this build"
ln -s loop "$AF_TMP/loop"
out=$(cache --cache="$AF_TMP/loop"); rc=$?
ok "a place that cannot be looked at" has "$rc $out" "^125 .*loop: Too many levels"
mkdir "$AF_TMP/$(printf 'caf\351')"
cache list --json --cache="$AF_TMP/$(printf 'caf\351')" >"$AF_TMP/cache.json"
ok "as JSON, in a place whose name is not UTF-8" same "$AF_TMP/caf"$'\xef\xbf\xbd' "$(field "$AF_TMP/cache.json" path)"
ok "cache = none" has "$(cache --cache=none)" "nothing is kept"
ok "other words" has "$(cache destroy)" "usage: autofuse cache"
finish
