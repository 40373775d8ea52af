#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the table of driver entry points, one row per export:

    DRIVER_API(name, base, since, flavour, stream, (params), (args))

name     exported ELF name, e.g. cuMemcpyHtoDAsync_v2_ptsz
base     name as cuGetProcAddress knows it, e.g. cuMemcpyHtoDAsync
since    first CUDA version with this ABI (12030 = 12.3), from the PFN typedef's suffix
flavour  legacy, ptds or ptsz (per-thread default stream)
stream   position of the CUstream argument from 0, -1 if there is none
params   parameter list with names p0, p1, ...
args     (p0, p1, ...)

Usage: gen_driver_api.py CUDA_INCLUDE_DIR CC... Source: cuda.h and cudaProfiler.h declare the functions
under -D__CUDA_API_VERSION_INTERNAL; cuda*Typedefs.h hold one PFN_<base>_v<since>[_ptds|_ptsz] for
each. The n-th oldest PFN of a base and flavour belongs to its n-th oldest export.
"""
import collections
import re
import subprocess
import sys


def preprocess(cc, include, headers):
    text = "".join("#include <%s>\n" % h for h in headers)
    cmd = [*cc, "-E", "-P", "-D__CUDA_API_VERSION_INTERNAL", "-I" + include, "-x", "c", "-"]
    return " ".join(subprocess.run(cmd, input=text, capture_output=True, text=True, check=True).stdout.split())


def split_name(name):
    m = re.fullmatch(r"(cu\w+?)(?:_v(\d+))?(?:_(ptds|ptsz))?", name)
    return m.group(1), int(m.group(2) or 1), m.group(3) or "legacy"


def number_params(params):
    out = []
    for i, p in enumerate(params):
        if "(" in p:  # a function pointer: name sits inside the first parentheses
            out.append(re.sub(r"\(\s*\*\s*\w*\s*\)", "(*p%d)" % i, p, count=1))
            continue
        array = re.search(r"(\s*\[\w*\])$", p)
        core = p[: array.start()] if array else p
        named = re.fullmatch(r"(.*?[\s*])(\w+)", core)
        builtin = "int|char|short|long|float|double|unsigned|size_t"
        if named and not re.fullmatch(builtin, named.group(2)) and named.group(1).strip() not in ("const", "struct", "enum", "union"):
            core = named.group(1)
        out.append("%s p%d%s" % (core.strip(), i, array.group(1).strip() if array else ""))
    return out


def main():
    include, *cc = sys.argv[1:]
    decls = preprocess(cc, include, ["cuda.h", "cudaProfiler.h"])
    types = preprocess(cc, include, ["cudaTypedefs.h", "cudaProfilerTypedefs.h"])
    exports, pfns = collections.defaultdict(list), collections.defaultdict(list)
    for m in re.finditer(r"CUresult (?:__attribute__\(\([^)]*\)\) )?(cu\w+)\s*\(((?:[^()]|\([^()]*\))*)\)\s*;", decls):
        base, version, flavour = split_name(m.group(1))
        exports[base, flavour].append((version, m.group(1), m.group(2).strip()))
    for m in re.finditer(r"PFN_(cu\w+?)_v(\d+)(?:_(ptds|ptsz))?\)", types):
        pfns[m.group(1), m.group(3) or "legacy"].append(int(m.group(2)))
    rows = 0
    print("/* Made by tools/gen_driver_api.py: do not edit. */")
    for (base, flavour), group in sorted(exports.items()):
        sinces = sorted(set(pfns[base, flavour]))
        if len(sinces) != len(group):
            sys.exit("gen_driver_api: %s (%s): %d exports, %d PFN typedefs" % (base, flavour, len(group), len(sinces)))
        for (_, name, text), since in zip(sorted(group), sinces):
            flat = [] if text in ("", "void") else re.split(r",\s*(?![^()]*\))", text)
            stream = next((i for i, p in enumerate(flat) if re.match(r"CUstream\b(?!\s*\*)", p)), -1)
            params = ", ".join(number_params(flat)) or "void"
            args = ", ".join("p%d" % i for i in range(len(flat)))
            print("DRIVER_API(%s, %s, %d, %s, %d, (%s), (%s))" % (name, base, since, flavour, stream, params, args))
            rows += 1
    if rows < 600:
        sys.exit("gen_driver_api: only %d functions found in %s" % (rows, include))


main()
