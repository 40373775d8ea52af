#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `autofuse trace --infer`: what the kernels of programs that nobody described compute, by trying them out. The
# sections that it writes make the programs fuse, with the same results; what only looks like something known
# gets none.
. "$(dirname "$0")/lib.sh"
export AUTOFUSE_SUMMARY=no TMPDIR=$AF_TMP/tmp
mkdir -p "$TMPDIR"
[ "$AF_BACKEND" = soft ] && export AUTOFUSE_CUPTI=$AF_BUILD/softgpu/cupti
# The probes are no children of the program: on the software GPU they find its kernels by this.
infer() { # PROGRAM ARGS...: its output; the listing as JSON in $AF_TMP/t.json, the sections in $AF_TMP/my.ini
	rm -f "$AF_TMP/my.ini" "$AF_TMP/t.json"
	SOFTGPU_KERNELS=$1.softgpu.so "$AUTOFUSE_COMMAND" trace --json --infer="$AF_TMP/my.ini" -o "$AF_TMP/t.json" -- "$@" 2>"$AF_TMP/err"
}
# expect TABLE: lines "kernel op words of args", or "kernel - pattern of the reason". Every kernel must be there.
expect() {
	python3 - "$AF_TMP/t.json" "$1" "${2-}" <<'PY'
import json, re, sys
got = {k["kernel"]: k for k in json.load(open(sys.argv[1]))["inferred"]}
bad = 0
def wrong(*what):
    global bad
    print("#", *what)
    bad = 1
for line in filter(None, map(str.strip, sys.argv[2].split("\n"))):
    name, op, rest = line.split(None, 2)
    k = got.pop(name, None)
    if not k:
        wrong(name, "was not probed")
    elif op == "-":
        if "section" in k or not re.search(rest, k["reason"]):
            wrong(name, "gave", k.get("section", k.get("reason")))
    elif "section" not in k:
        wrong(name, "gave no section:", k["reason"])
    else:
        keys = dict(re.split(r"\s*=\s*", l, maxsplit=1) for l in k["section"].strip().split("\n")[1:])
        want, *more = rest.split(" ; ")
        for key, value in [("op", op), ("args", want), ("dtype", sys.argv[3])] + [m.split(" = ") for m in more]:
            if keys.pop(key, None) != value:
                wrong(name, key, "is not", value, "in", k["section"])
        keys.pop("match")
        if keys:
            wrong(name, "also says", keys)
for name in got:
    wrong(name, "was not expected")
sys.exit(bad)
PY
}

type_of() { case $1 in *fp32) echo f32 ;; *fp16) echo f16 ;; *) echo bf16 ;; esac }
# What a kernel does with indices that are random numbers, the device decides.
indices=.
[ "$AF_BACKEND" = soft ] && indices="indices or addresses"

# A decoder: its own hand-written signatures are what is found.
builds="shared-fp32 shared-bf16" tokens=24
[ "$AF_BACKEND" = soft ] || { builds="$builds static-fp32 static-bf16" tokens=200; }
for b in $builds; do
	app=$APPS/decoder-$b
	plain=$("$app" --tokens $tokens)
	ok "$b: same tokens while tracing" same "$plain" "$(infer "$app" --tokens $tokens)"
	ok "$b: add, rmsnorm, silu and mul are found, and nothing else" expect "
		accum_kernel add inout in1 n
		add_kernel add out in0 in1 n
		rmsnorm_kernel rmsnorm out in0 weight cols eps
		silu_kernel silu inout n
		mul_kernel mul inout in1 n
		matmul_kernel - nothing
		values_kernel - nothing
		rope_kernel - .
		scores_kernel - gaps
		softmax_kernel - gaps
		argmax_kernel - too.little
		embed_kernel - $indices" "$(type_of "$b")"
	"$AUTOFUSE_COMMAND" run --record="$AF_TMP/rec" -- "$app" --tokens 3 >/dev/null 2>&1
	ok "$b: plan with them is plan with the hand-written ones" same \
		"$("$AUTOFUSE_COMMAND" plan "$AF_TMP/rec" --json -f "$AF_TESTS/apps/decoder.ini" | md5sum)" \
		"$("$AUTOFUSE_COMMAND" plan "$AF_TMP/rec" --json -f "$AF_TMP/my.ini" | md5sum)"
	export AUTOFUSE_CONFIG=$AF_TMP/my.ini
	ok "$b: learns to fuse with them" learn 20 "$AF_TMP/report" "$app" --tokens $tokens
	ok "$b: same tokens" same "$plain" "$(cat "$AF_TMP/learn.out")"
	for pattern in add_rmsnorm silu_mul; do
		ok "$b: $pattern fuses" bigger "$(field "$AF_TMP/report" patterns/$pattern/fused)" 20
	done
	unset AUTOFUSE_CONFIG
done

# Other orders of arguments, grids, sizes, constants; and what is not what it looks like.
steps=60 cols=384
for t in fp32 bf16 fp16; do
	app=$APPS/strangers-$t plain=$("$APPS/strangers-$t" $steps) float=
	[ $t = fp32 ] || float=:f32
	ok "strangers $t: same digest while tracing" same "$plain" "$(infer "$app" $steps)"
	ok "strangers $t: each is what it is" expect "
		alpha add n in0 in1 out
		beta add inout cols rows in1
		gamma_ rmsnorm in0 weight eps -=7 out cols
		delta rmsnorm out weight in0 rows cols ; eps = 1e-06 ; weight = 1+w
		epsilon silu out n in0
		zeta mul in1 inout ; n = grid.x*block.x*2
		eta silu_mul out in1 in0 n
		theta rmsnorm inout weight ; cols = 128 ; eps = 1e-05
		iota mul out in0 in1 @n ; n = @n*4
		kappa add out in0 in1 n=1536
		lambda_ rmsnorm weight$float in0 out @c ; cols = @c*4 ; rows = grid.y ; eps = 1e-05
		mu bias_add out in0 bias cols
		nu gelu_tanh in0 out n
		xi softmax inout rows cols
		omicron layernorm out in0 weight bias cols eps
		replacing copy out in0 n
		pi_ relu inout n
		rho gelu_erf out in0 @a @b cols ; rows = @a*@b
		sigma rmsnorm out in0 cols ; eps = 1e-05
		tau silu out in0 -=$cols -=$cols ; n = grid.x*$cols
		upsilon - f16.or.on.bf16
		phi rmsnorm out in0 weight cols -=$(((cols + 127) / 128)) ; rows = 1 ; eps = 1e-05
		chi rmsnorm inout weight cols ; rows = 1 ; eps = 1e-05
		psi mul out in0 in1 ; n = grid.x*block.x*grid.y*block.y*grid.z*block.z
		omega - sizes.come.from
		less - nothing
		coupled - nothing|on.others.not
		limited - add.does,.on.others.not
		counting - module.variable.calls
		spilling - does.what.add.does,.and.writes.[0-9]+.bytes.outside
		gathering - atomics
		wrapped - structure
		picking - $indices" "$(type_of $t)"
	export AUTOFUSE_CONFIG=$AF_TMP/my.ini
	ok "strangers $t: learns to fuse" learn 20 "$AF_TMP/report" "$app" $steps
	ok "strangers $t: same digest" same "$plain" "$(cat "$AF_TMP/learn.out")"
	ok "strangers $t: two norms fuse with their additions in each step" bigger \
		"$(field "$AF_TMP/report" patterns/add_rmsnorm/fused)" $((steps * 3 / 2))
	ok "strangers $t: silu with its product" bigger "$(field "$AF_TMP/report" patterns/silu_mul/fused)" $((steps * 3 / 4))
	# A file that is in use is added to.
	cp "$AF_TMP/my.ini" "$AF_TMP/used.ini"
	AUTOFUSE_CONFIG=$AF_TMP/used.ini infer "$app" 2 >/dev/null
	ok "strangers $t: kernels that have a section are not probed again" same 10 \
		"$(python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1]))["inferred"]))' "$AF_TMP/t.json")"
	unset AUTOFUSE_CONFIG
done

# One long row: sizes of 1 say little by themselves, and averages hide much.
infer "$APPS/strangers-bf16" 2 1 4096 >/dev/null
ok "one row: sizes are told apart all the same" expect "
	alpha add n in0 in1 out
	beta add inout cols rows in1
	gamma_ rmsnorm in0 weight eps -=7 out cols
	delta rmsnorm out weight in0 rows cols ; eps = 1e-06 ; weight = 1+w
	epsilon silu out n in0
	zeta mul in1 inout ; n = grid.x*block.x*2
	eta silu_mul out in1 in0 n
	theta rmsnorm inout weight ; cols = 128 ; eps = 1e-05
	iota mul out in0 in1 @n ; n = @n*4
	kappa add out in0 in1 n=4096
	lambda_ rmsnorm weight:f32 in0 out @c ; cols = @c*4 ; rows = grid.y ; eps = 1e-05
	mu bias_add out in0 bias cols
	nu gelu_tanh in0 out n
	xi softmax inout rows cols
	omicron layernorm out in0 weight bias cols eps
	replacing copy out in0 n
	pi_ relu inout n
	rho gelu_erf out in0 @a @b cols ; rows = @a*@b
	sigma rmsnorm out in0 cols ; eps = 1e-05
	tau silu out in0 -=4096 -=4096 ; n = grid.x*4096
	upsilon - .
	phi rmsnorm out in0 weight cols -=32 ; rows = 1 ; eps = 1e-05
	chi rmsnorm inout weight cols ; rows = 1 ; eps = 1e-05
	psi mul out in0 in1 ; n = grid.x*block.x*grid.y*block.y*grid.z*block.z
	omega - sizes.come.from
	less - nothing
	coupled - nothing|on.others.not
	limited - add.does,.on.others.not
	counting - .
	spilling - .
	gathering - .
	wrapped - .
	picking - ." bf16

# Liars: a long row hides much of what is wrong with a norm.
infer "$APPS/liars" sums 10 1 4096 >/dev/null
ok "a norm of sums of neighbours is none, however long the row" expect "
	residual_kernel add inout in1 n
	feed_kernel scale out in0 n
	rmsnorm_sums_kernel - nothing|on.others.not" f32
infer "$APPS/liars" short 10 >/dev/null
ok "a norm that stops early is none" expect "
	residual_kernel add inout in1 n
	feed_kernel scale out in0 n
	rmsnorm_short_kernel - gaps" f32
infer "$APPS/liars" counts 10 >/dev/null
ok "one that counts is not pure" expect "
	residual_kernel add inout in1 n
	feed_kernel scale out in0 n
	rmsnorm_counts_kernel - module.variable" f32
infer "$APPS/pairs" unknown 3 >/dev/null
ok "a factor may be any" expect "
	add_rows add out in0 in1 n
	rms_norm rmsnorm out in0 weight cols eps
	scale_all scale inout - n" f32

# A file that is in use is added to, another one written anew.
sed -n '1,/^$/p; /add_rows/,/^$/p' "$AF_TMP/my.ini" >"$AF_TMP/used.ini"
for again in 1 2; do
	SOFTGPU_KERNELS=$APPS/pairs.softgpu.so "$AUTOFUSE_COMMAND" trace --infer="$AF_TMP/used.ini" -f "$AF_TMP/used.ini" -- "$APPS/pairs" unknown 3 >/dev/null 2>&1
done
ok "sections in use stay, new ones are added once" same "add_rows f32 rms_norm f32 scale_all f32" \
	"$(sed -n 's/^\[kernel \(.*\)\]$/\1/p' "$AF_TMP/used.ini" | sort | xargs)"
ok "such a file reads without a warning" same "" "$("$AUTOFUSE_COMMAND" config -f "$AF_TMP/used.ini" 2>&1 >/dev/null)"

# Code that is in no file (as of a just-in-time compiler): the fatbin of the strangers, loaded from memory.
AUTOFUSE_IMAGES=$AF_TMP "$AUTOFUSE_COMMAND" run --record="$AF_TMP/rec" -- "$APPS/strangers-fp32" 1 >/dev/null 2>&1
cat >"$AF_TMP/jit.py" <<'PY'
import ctypes, json, sys
def call(f, *args):
    if f(*args):
        sys.exit("%s failed" % f.__name__)
code = next(json.loads(l)["code"] for l in open(sys.argv[1]) if '"code"' in l)
with open(code[0], "rb") as f:
    f.seek(code[1])
    image = ctypes.create_string_buffer(f.read(code[2]))
cu, P = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p
context, module, function, p, n = P(), P(), P(), [P(), P(), P()], ctypes.c_int(1000)
call(cu.cuInit, 0)
call(cu.cuDevicePrimaryCtxRetain, ctypes.byref(context), 0)
call(cu.cuCtxSetCurrent, context)
call(cu.cuModuleLoadData, ctypes.byref(module), image)
call(cu.cuModuleGetFunction, ctypes.byref(function), module, b"_Z5alphaiPKfS0_Pf")
for i in range(3):
    call(cu.cuMemAlloc_v2, ctypes.byref(p[i]), ctypes.c_size_t(4096))
args = (P * 4)(*[ctypes.cast(ctypes.pointer(a), P) for a in [n] + p])
for i in range(3):
    call(cu.cuLaunchKernel, function, 4, 1, 1, 256, 1, 1, 0, None, args, None)
call(cu.cuCtxSynchronize)
PY
SOFTGPU_KERNELS=$APPS/strangers-fp32.softgpu.so "$AUTOFUSE_COMMAND" trace --json --infer -o "$AF_TMP/t.json" -- \
	python3 "$AF_TMP/jit.py" "$AF_TMP/rec" 2>"$AF_TMP/err" || cat "$AF_TMP/err"
ok "code that was in memory only is probed" expect "alpha add n in0 in1 out" f32

# For people.
text=$(SOFTGPU_KERNELS=$APPS/liars.softgpu.so "$AUTOFUSE_COMMAND" trace --infer -- "$APPS/liars" counts 10 2>/dev/null)
ok "the listing ends with sections" has "$text" '^Sections for your configuration, inferred by probing \(2 of 3 kernels'
ok "a section is ready to paste" has "$text" '^\[kernel residual_kernel f32\]$'
ok "and with reasons" has "$text" '^  rmsnorm_counts_kernel  it uses the module variable norm_calls$'
ok "without --infer it is offered" has "$("$AUTOFUSE_COMMAND" trace -- "$APPS/liars" honest 5 2>/dev/null)" \
	'^No signature knows 3 of the kernels; --infer'
ok "nothing is inferred unless asked for" same 0 \
	"$("$AUTOFUSE_COMMAND" trace -- "$APPS/liars" honest 5 2>/dev/null | grep -c '^\[kernel\|^Not inferred')"
text=$(SOFTGPU_KERNELS=$APPS/liars.softgpu.so "$AUTOFUSE_COMMAND" trace --infer -f "$AF_TESTS/apps/liars.ini" -- "$APPS/liars" honest 10 2>/dev/null)
ok "what is known is left alone" has "$text" '\(1 of 1 kernel that'
"$AUTOFUSE_COMMAND" run --record="$AF_TMP/rec" -- "$APPS/liars" honest 5 >/dev/null 2>&1
ok "a recording alone is not enough" same 2 "$("$AUTOFUSE_COMMAND" trace --infer "$AF_TMP/rec" >/dev/null 2>&1; echo $?)"
ok "a normal recording says nothing of code" same 0 "$(grep -c '"code"' "$AF_TMP/rec")"
ok "nothing is left behind" same "" "$(ls "$TMPDIR")"
finish
