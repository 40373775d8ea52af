#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What third.sh takes from reports and figures.

usage: summary.py settled REPORT                    exit status 0 if no verdict is open
       summary.py facts REPORT                      launches, groups fused, rejections, verdicts, kernels
       summary.py ratio less|more OFF... -- ON...   medians: time ratio, off, on
       summary.py atmost VALUE LIMIT                exit status
       summary.py row TITLE TYPE UNIT RUNS REPORT RATIO   a row of the table
"""
import json
import statistics
import sys

OPEN = ("new", "probing", "checking")


def load(path):
    try:
        with open(path) as f:
            return json.load(f)
    except (OSError, ValueError) as e:
        sys.exit("# no report: %s" % e)


def settled(path):
    return all(v["state"] not in OPEN for v in load(path)["verdicts"])


def facts(path):
    r = load(path)
    n = r["launches"]
    print("launches %d sent %d removed %d" % (n["program"], n["sent"], n["program"] - n["sent"]))
    for name, p in r["patterns"].items():
        print("fused %s %d" % (name, p["fused"]))
        if p["checked"]:
            print("checked %s %d" % (name, p["checked"]))
        for reason, count in p["rejected"].items():
            print("rejected %s %s %d" % (name, reason, count))
    for v in r["verdicts"]:
        print("verdict %s %s %s %s" % (v["pattern"], v["state"], v["candidate"] or v["reason"], v["detail"]))
    for k in sorted(r["kernels"], key=lambda k: -k["launches"]):
        print("kernel %d %s %s" % (k["launches"], k["decoder"] or "-", k["kernel"][:100]))


def ratio(better, *paths):
    split = paths.index("--")
    off, on = (statistics.median(float(open(p).read()) for p in part) for part in (paths[:split], paths[split + 1:]))
    print("%.3f %g %g" % ((on / off if better == "less" else off / on), off, on))


def atmost(value, limit):
    return float(value) <= float(limit)  # false for a figure that is missing (nan)


def row(title, kind, unit, runs, path, figures):
    r = load(path)
    fused = ["%s %d" % (n, p["fused"]) for n, p in r["patterns"].items() if p["fused"]]
    why = {}
    for p in r["patterns"].values():
        for reason, count in p["rejected"].items():
            why[reason] = why.get(reason, 0) + count
    quotient, off, on = figures.split()
    n = r["launches"]
    print("| %s | %s | %d | %d | %s | %s | %s %s | %s %s | **%s** | %s |" % (
        title, kind, n["program"], n["sent"], ", ".join(fused) or "-",
        ", ".join("%s %d" % w for w in sorted(why.items())) or "-", off, unit, on, unit, quotient, runs))


if __name__ == "__main__":
    commands = {f.__name__: f for f in (settled, facts, ratio, atmost, row)}
    if len(sys.argv) < 3 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    sys.exit(commands[sys.argv[1]](*sys.argv[2:]) is False)
