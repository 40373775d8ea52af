/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The probe: a child process that runs the program's kernels and our candidates on synthetic
 * inputs (DESIGN 7). The parent's half starts it and reads one line; the child's half is linked
 * into the autofuse command.
 *
 * Children answer one request after the other (serve.h); `autofuse probe` alone reads one from its
 * stdin. Request, one JSON object:
 *   {"pattern": "add_rmsnorm", "device": 0, "key": "32 hex digits",
 *    "cache": "directory or none", "seconds": 60, "share": percent,
 *    "inputs": "families, or empty", "candidates": "glob, or empty", "numerics": "exact",
 *    "member": [{"name": "mangled", "hash": "32 hex digits",
 *                "image": {"file": "path", "offset": 0, "bytes": 0},
 *                "grid": [1,1,1], "block": [1,1,1], "shmem": 0, "params": "hex", "param": [[offset,
 * bytes], ...], "op": {"code": "add", "rows": 1, "cols": 288, "eps": 1e-05, "operand": [{"role":
 * "out", "dtype": "f32", "access": 2, "addr": "hex", "size": [288], "stride": [4]}, ...], "slot":
 * [[offset, bytes, "out"], ...]}}, ...]} "eps" is absent where the signature does not know it.
 * Answer, one line:
 *   candidate NAME[:generated@ROWS] [slower]   or   reason WORD detail ...
 * NAME may be followed by which kernel is to stand in (shim/cache_choice.h): "stand_in" says
 * "measured" (whichever is faster), "written" or "generated", the last two without a measurement;
 * where not "written", "places" and "images" are there as below.
 *
 * A chain (a group that is a row program) has "chain": 1, "pattern": its name, up to
 * GROUP_MAX_MEMBERS members, "places": where NVRTC is looked for (lines of shim/compile.h),
 * "images": bytes that images on disk may take; its ops may have "scalar": ["16 hex digits of a
 * double", ...], "compute": "f32", "plus_one": 1, and a member whose pick needs no search "pick":
 * "NAME" (matcher/row_pick.h). Its answer has a pick for each member: candidate NAME+NAME+...
 * [slower] and the chain's kernel with these picks is among the images on disk by then.
 *
 * Another request asks what an unknown kernel computes:
 *   {"infer": {name, hash, image, grid, block, shmem, params, param as above, "room": [bytes that
 *              each parameter points to, or 0, ...], "more": [{grid, block, shmem, params}, ...]},
 *    "device": 0, "seconds": 20}
 * Its answer is the line `section` and the lines of a [kernel] section behind its `match`, or a
 * reason. Nothing is kept.
 *
 * The child also writes CACHE_PROBED or CACHE_REJECT for the key itself, so that a program shorter
 * than its probe still profits the next time; but not where something went wrong that may go right
 * another time, nor where "inputs" or "candidates" made it an experiment. Processes that probe one
 * key at a time wait for each other by a lock file in the cache directory, and find the record.
 * Its stderr is the program's; it prints nothing there unless AUTOFUSE_LOG asks for it.
 */
#ifndef AF_SHIM_PROBE_H
#define AF_SHIM_PROBE_H

/* An image's file that is the descriptor of that number (from 0) that came with the request. */
#define PROBE_PASSED "passed:"

/* Said of an unknown kernel that brings the child down. */
#define INFER_WILD "it does not run on random data; it may take indices or addresses from them"

/* The child: reads the request from fd `in`, answers on fd `out`. Returns the exit status. */
int probe_child_main(int in, int out);
/* Likewise, requests of serve.h. */
int probe_child_serve(int in, int out);

#endif
