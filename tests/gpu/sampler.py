# SPDX-License-Identifier: Apache-2.0
"""What tests/gpu/sampler.c wrote, as a table: ms of the main thread per step, object by object, and the library's functions.

usage: sampler.py SAMPLES [--blocks FILE | --steps N] [--functions OBJECT] [--top N]
BLOCKS has lines "on|off START END STEPS ..." (seconds of CLOCK_MONOTONIC), as AF_BLOCKS has llama_decode.py write them:
what lies in none is left out. Without them all is one column, per step if their number is told.
"""
import argparse
import bisect
import collections
import subprocess
import sys

GROUPS = (("libcuda", ("libcuda.so",)), ("libautofuse", ("libautofuse.so",)), ("libtorch*", ("libtorch", "libc10")),
          ("python", ("libpython", "python")), ("libc", ("libc.so", "ld-linux", "libpthread", "libm.so")), ("kernel/vdso", ("linux-vdso",)))
OWN_ROW = 0.01  # of all time: objects of no group that have a row

parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
parser.add_argument("samples")
parser.add_argument("--blocks")
parser.add_argument("--steps", type=int, default=0)
parser.add_argument("--functions", default="libautofuse.so")
parser.add_argument("--top", type=int, default=30)
args = parser.parse_args()

paths, samples = {}, []
try:
    lines = open(args.samples).read().splitlines()
except (OSError, UnicodeDecodeError) as e:
    sys.exit("sampler.py: %s: %s; SAMPLER_OUT names the file when the program is run" % (args.samples, e))
for line in lines:
    word = line.split()
    if word[0] == "#":
        paths.setdefault(word[2], " ".join(word[3:]))
    else:
        samples.append((float(word[0]), float(word[1]) / 1e3, word[2], int(word[3], 16), len(word) > 4))
if not samples:
    sys.exit("sampler.py: no samples in " + args.samples)

blocks = []
if args.blocks:
    blocks = sorted((float(w[1]), float(w[2]), w[0], int(w[3])) for w in map(str.split, open(args.blocks)))
    states = ("on", "off")
    steps = {s: sum(b[3] for b in blocks if b[2] == s) for s in states}
    if not all(steps.values()):
        sys.exit("sampler.py: blocks of both kinds are needed in " + args.blocks)
else:
    states = ("all",)
    steps = {"all": args.steps or 1}
begins = [b[0] for b in blocks]


def state_of(seconds):
    if not blocks:
        return "all"
    i = bisect.bisect_right(begins, seconds) - 1
    return blocks[i][2] if i >= 0 and seconds <= blocks[i][1] else None


def group_of(name, kernel):
    if kernel:
        return "kernel/vdso"
    for group, starts in GROUPS:
        if name.startswith(starts):
            return group
    return None


def functions_of(path):
    """Of an object that is not stripped: addresses and names, in order."""
    found = {}
    for option in ("-D", "-a"):
        out = subprocess.run(["nm", "-C", option, "--defined-only", path], capture_output=True, text=True).stdout
        for line in out.splitlines():
            w = line.split(None, 2)
            if len(w) == 3 and w[1] in "tTwWi":
                found[int(w[0], 16)] = w[2]
    return sorted(found.items())


def table(rows, name, most=None):
    """Rows: name -> state -> ms."""
    print("%-44s" % name + "".join("%12s" % s for s in states) + ("%12s" % "difference" if len(states) > 1 else "%12s" % "of all"))
    order = sorted(rows, key=lambda r: -max(rows[r][s] / steps[s] for s in states))
    for r in order[:most]:
        ms = [rows[r][s] / steps[s] for s in states]
        last = "%+12.4f" % (ms[0] - ms[1]) if len(ms) > 1 else "%11.1f%%" % (100 * rows[r]["all"] / total["all"])
        print("%-44s" % r[:44] + "".join("%12.4f" % v for v in ms) + last)


total = collections.Counter()
objects = collections.defaultdict(collections.Counter)
functions = collections.defaultdict(collections.Counter)
names = functions_of(paths[args.functions]) if args.functions in paths else []
addresses = [a for a, _ in names]
counted = 0
for seconds, ms, name, offset, kernel in samples:
    state = state_of(seconds)
    if state is None:
        continue
    counted += 1
    total[state] += ms
    objects[(group_of(name, kernel), name)][state] += ms
    if name == args.functions and not kernel:
        i = bisect.bisect_right(addresses, offset) - 1
        functions[names[i][1] if i >= 0 else "?"][state] += ms

groups = collections.defaultdict(collections.Counter)
for (group, name), ms in objects.items():
    groups[group or (name if sum(ms.values()) >= OWN_ROW * sum(total.values()) else "other")].update(ms)
groups["sum"] = total
print("%d samples, %d of them counted; ms %s" % (
    len(samples), counted, "of each step, of " + ", ".join("%d %s" % (steps[s], s) for s in states) if blocks or args.steps else "in all"))
table(groups, "object")
if functions:
    print()
    table(functions, args.functions, args.top)
