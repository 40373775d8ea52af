#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Norms, additions, products and activations as people write them by hand (tests/gpu/zoo.cuh), in three flavours of
# arithmetic: a probe that knows nothing of them says what they are, whatever order they add in.
. "$(dirname "$0")/lib.sh"
[ "$AF_BACKEND" = soft ] && export SOFTGPU_KERNELS=$AF_BUILD/tests/gpu/probe_check.softgpu.so:$AF_BUILD/tests/gpu/silu_check.softgpu.so
if [ ! -e "$AF_BUILD/tests/gpu/zoo-ieee.fatbin" ] || [ ! -e "$AF_TESTS/gpu/zoo.def" ]; then
	skip "the zoo" "its images are not here"
	finish
fi
cat >"$AF_TMP/zoo.py" <<'PY'
import concurrent.futures, json, os, re, struct, subprocess, sys
command, build, tests, flavour = sys.argv[1:]
image = "%s/tests/gpu/zoo-%s.fatbin" % (build, flavour)
rows, cols = 3, 640
sizes = {"n": rows * cols, "rows": rows, "cols": cols, "eps": 1e-5}

def table(file, row):
    for line in re.findall(r"^%s\((.*)\)" % row, open(os.path.join(tests, "gpu", file)).read(), re.M):
        yield [w.strip().strip('"') for w in line.split(",")]

def ask(name, args, work, block):
    params, layout, room = b"", [], []
    for i, arg in enumerate(args.split()):
        number = sizes.get(arg)
        layout.append([len(params), 4 if number else 8])
        room.append(0 if number else 4 * rows * cols)
        params += struct.pack("<Q", 0x700000000000 + (i << 24)) if not number else \
            struct.pack("<f" if isinstance(number, float) else "<i", number)
    kernel = {"name": "zoo_%s_%s" % (flavour, name), "hash": "0" * 32,
              "image": {"file": image, "offset": 0, "bytes": os.path.getsize(image)},
              "grid": [-(-work // block), 1, 1], "block": [block, 1, 1], "shmem": 0,
              "params": params.hex(), "param": layout, "room": room, "more": []}
    got = subprocess.run([command, "probe"], input=json.dumps({"infer": kernel, "device": 0, "seconds": 60}),
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return got.stdout.strip().split("\n")

def check(name, op, args, dtype, work, block, *more):
    got = ask(name, args, work, block)
    # Where rows are read in fours, only the length that was tried may be known to work.
    want = ["section", "op    = " + op, "args  = " + args, "dtype = " + dtype, *more]
    return name, want, [re.sub(r"cols=%d\b" % cols, "cols", line) for line in got]

todo = []
for kind, args in (("ZOO_ROW", "out in0 weight cols eps"), ("ZOO_ROW_ROWS", "out in0 weight rows cols eps"),
                   ("ZOO_ROW_NOEPS", "out in0 weight cols")):
    for norm, add, dtype, threads, each, candidate in table("zoo.def", kind):
        more = (["eps   = 1e-05"] if kind == "ZOO_ROW_NOEPS" else []) + (["weight = 1+w"] if "-w1" in candidate else [])
        blocks = -(-rows // int(each))
        todo.append((norm, "rmsnorm", args, dtype, blocks * int(threads), int(threads), *more))
for name in ("add_f32", "add_bf16", "mul_f32", "mul_bf16", "mul_f16"):
    todo.append((name, name[:3], "out in0 in1 n", name[4:], rows * cols, 256))
for silu, mul, dtype, candidate, soft in table("zoo_silu.def", "ZOO_ROW"):
    todo.append((silu, "silu", "out in0 n", dtype, rows * cols, 256))
n = 0
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    for name, want, got in pool.map(lambda t: check(*t), todo):
        n += 1
        if want != got:
            print("# got", got)
        print("%s %d - %s" % ("ok" if want == got else "not ok", n, name))
print("1..%d" % n)
PY
for flavour in ieee fast nofma; do
	tap "$flavour" python3 "$AF_TMP/zoo.py" "$AUTOFUSE_COMMAND" "$AF_BUILD" "$AF_TESTS" "$flavour"
done
finish
