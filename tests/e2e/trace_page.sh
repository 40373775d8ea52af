#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What `autofuse trace` writes beside its listing: the page (bounded, self-contained, proof against
# hostile names, alive in a browser) and the timeline for Perfetto.
. "$(dirname "$0")/lib.sh"
export AUTOFUSE_CONFIG=$AF_TMP/t.ini
cat >"$AUTOFUSE_CONFIG" <<'INI'
[kernel add]
match = add
op = add
args = out in0 in1 n
dtype = f32
[kernel norm]
match = norm
op = rmsnorm
args = out in0 weight cols eps
dtype = f32
INI
# record FILE STEPS KERNELS: steps of add, norm and so many others, some with names that bite; device
# times and outcomes as the library writes them: half of the pairs fused, the rest checked.
record() {
	python3 - "$@" <<'PY'
import json, sys
path, steps, kernels = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
bad = ["</script><script>document.title='bitten'</script>", "<img src=x onerror=\"document.title='bitten'\">",
       "a\"b\\c\u0007'&amp;`${x}", "\u202eevil", "x" * 5000]
def ptr(n): return (n * 0x100000).to_bytes(8, "little").hex()
n = i = at = 0
with open(path, "w") as f:
    def put(o): f.write(json.dumps(o) + "\n")
    def launch(name, a, b, c):
        global n
        p = [[0, 8, ptr(a)], [8, 8, ptr(b)], [16, 8, ptr(c)], [24, 4, "40000000"]]
        if name == "norm": p.append([28, 4, "0000803f"])
        put({"k": "l", "t": 1, "f": name, "g": [1, 1, 1], "b": [64, 1, 1], "sm": 0, "st": "0x0", "na": 0, "p": p})
        n += 1
    def ran(how, launches, ns):
        global i, at
        i += 1
        put({"k": "c", "id": i, "how": how, "n": launches, "rows": 1})
        put({"k": "t", "id": i, "at": at + 1, "ns": ns})
        at += ns + 300
    for s in range(steps):
        launch("add", 3, 1, 2)
        launch("norm", 5, 3, 4)
        if s % 2:
            ran("fused", [n - 2, n - 1], 2500)
        else:
            ran("own", [n - 2], 2000)
            ran("own", [n - 1], 3000)
            ran("check", [n - 2, n - 1], 2400)
        put({"k": "g", "n": [n - 2, n - 1], "is": "fused" if s % 2 else "checked"})
        for k in range(kernels):
            launch(bad[k] if k < len(bad) else "kernel%d" % ((k * 7919 + s * s) % 997), 6, 6, 6)
            ran("own", [n - 1], 1000 + k)
PY
}
record "$AF_TMP/small.jsonl" 40 8
"$AUTOFUSE_COMMAND" trace --html "$AF_TMP/small.html" --perfetto "$AF_TMP/small.json" "$AF_TMP/small.jsonl" >"$AF_TMP/small.txt"
ok "files are written beside the listing" [ -s "$AF_TMP/small.html" -a -s "$AF_TMP/small.json" -a -s "$AF_TMP/small.txt" ]
ok "the listing has no control characters" same 0 "$(grep -cP '[\x00-\x08\x0b-\x1f\x7f]' "$AF_TMP/small.txt")"
ok "the page asks no network for anything" same 0 "$(grep -cE '(src|href)=|https?://|@import|url\(' <(sed 's/onerror//' "$AF_TMP/small.html" | grep -v '^{'))"
ok "no name ends the data" same 2 "$(grep -c '</script>' "$AF_TMP/small.html")"

ok "the timeline is valid: spans, tracks, arrows that begin and end" python3 - "$AF_TMP/small.json" <<'PY'
import collections, json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
ph = collections.Counter(e["ph"] for e in events)
begin = {e["id"]: e for e in events if e["ph"] == "s"}
end = {e["id"]: e for e in events if e["ph"] == "f"}
def inside(e):  # an arrow binds to the span it is in
    return any(s["ph"] == "X" and s["pid"] == e["pid"] and s["tid"] == e["tid"] and
               s["ts"] <= e["ts"] <= s["ts"] + s["dur"] for s in events)
before = [e for e in events if e["ph"] == "X" and e["pid"] == 1]
after = [e for e in events if e["ph"] == "X" and e["pid"] == 2]
for lane in (before, after):  # spans of a track do not overlap
    for a, b in zip(lane, lane[1:]):
        assert a["ts"] + a["dur"] <= b["ts"] + 1e-3, (a, b)
assert len(before) == 400 and len(after) == 380, (len(before), len(after))
assert set(begin) == set(end) and len(begin) == 40, (len(begin), len(end))
assert all(inside(e) for e in events if e["ph"] in "sf")
assert sum(e["name"] == "add_rmsnorm" for e in after) == 20
assert {e["name"] for e in events if e["ph"] == "M"} == {"process_name", "thread_name"}
PY

record "$AF_TMP/large.jsonl" 200 600
"$AUTOFUSE_COMMAND" trace --html "$AF_TMP/large.html" "$AF_TMP/large.jsonl" >/dev/null
ok "the page of 120,400 launches of 1,000 kernels has less than 1 MB" bigger 1000000 "$(stat -c %s "$AF_TMP/large.html")"

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
dom() { # FILE WIDTH
	HOME=$AF_TMP timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --window-size="$2",900 \
		--virtual-time-budget=3000 --dump-dom "file://$1" 2>/dev/null
}
if [ -z "$browser" ]; then
	left_out "the page in a browser" "no chromium here"
	finish
fi
page=$(dom "$AF_TMP/small.html" 1200)
ok "the browser fills the page in" has "$page" '<title>.*small.jsonl – autofuse trace</title>'
ok "no name was run" same 0 "$(grep -c '<title>bitten' <<<"$page")"
ok "names are text" has "$page" '<td class="k">.*&lt;img src=x onerror='
ok "a row says what fuses" has "$page" 'fuses as add_rmsnorm, saves 2.5[0-9] µs and 256 bytes each time'
ok "the bars are drawn" has "$page" 'style="width: [0-9.]+%;?"'
ok "the timeline is drawn" has "$page" '<canvas'
# Readable on a phone: nothing is wider than the window.
sed 's|</body>|<script>document.body.dataset.fits = document.documentElement.scrollWidth <= innerWidth</script></body>|' "$AF_TMP/small.html" >"$AF_TMP/phone.html"
ok "it fits a phone" has "$(dom "$AF_TMP/phone.html" 500)" 'data-fits="true"'
ok "the large page works, too" has "$(dom "$AF_TMP/large.html" 1200)" '<td class="k">add → norm</td>'
finish
