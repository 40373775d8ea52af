#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Any driver call that we make may fail or be slow: the program never notices. (Software GPU only.)
. "$(dirname "$0")/lib.sh"
if [ "$AF_BACKEND" != soft ]; then
	skip "failures are injected" "needs the software GPU"
	finish
fi
export AUTOFUSE_CONFIG=$AF_TESTS/apps/pairs.ini AUTOFUSE_SUMMARY=no
app=$APPS/pairs
learn 30 "$AF_TMP/report" "$app" plain 4000 || echo "not ok 0 - could not learn"
plain=$("$app" plain 300)

# Calls that only we make in this program: whatever they answer, the output stays.
for call in cuMemHostGetDevicePointer cuMemcpyDtoDAsync cuMemsetD8Async cuStreamGetFlags \
	cuStreamGetCtx cuThreadExchangeStreamCaptureMode cuKernelGetName cuFuncGetName cuKernelGetParamInfo \
	cuFuncGetParamInfo cuKernelGetLibrary cuFuncGetModule cuPointerGetAttributes cuFuncLoad \
	cuFuncSetAttribute cuModuleLoadData cuModuleGetFunction cuDriverGetVersion; do
	got=$(SOFTGPU_FAIL=$call:*:999 AUTOFUSE_SAMPLE_EVERY=5 shim "$app" plain 300 2>"$AF_TMP/err"; echo $?)
	ok "$call always fails: same output" same "$plain 0" "$(tr '\n' ' ' <<<"$got" | sed 's/ *$//')"
	ok "$call always fails: at most one warning" [ "$(grep -c '^autofuse: ' "$AF_TMP/err")" -le 1 ]
done
# Learning from nothing with failures in the way: no verdict, or a right one.
for call in cuMemAlloc cuLaunchKernel cuMemcpyDtoDAsync; do
	for nth in 9 12 30; do
		got=$(AUTOFUSE_CACHE=$AF_TMP/c$nth SOFTGPU_FAIL=$call:$nth:2 "$app" plain 300 2>&1; echo $?)
		want=$got
		got=$(AUTOFUSE_CACHE=$AF_TMP/c$nth SOFTGPU_FAIL=$call:$nth:2 shim "$app" plain 300 2>"$AF_TMP/err"; echo $?)
		# The nth call is another one under the shim: the program may see the failure elsewhere,
		# but it sees a failure or the right output.
		case $got in
		*"
0") ok "$call number $nth fails: right output or the program's own error" same "$plain" "${got%
*}" ;;
		*) ok "$call number $nth fails: right output or the program's own error" [ "$want" != "$plain
0" ] ;;
		esac
	done
done
# The probe cannot run, or takes its time.
got=$(AUTOFUSE_CACHE=$AF_TMP/noprobe AUTOFUSE_PROBE_COMMAND=/bin/false shim "$app" plain 300 2>&1)
ok "a probe command that fails" same "$plain" "$got"
got=$(AUTOFUSE_CACHE=$AF_TMP/noprobe2 AUTOFUSE_PROBE_COMMAND=/nonexistent shim "$app" plain 300 2>"$AF_TMP/err")
ok "no probe command: same output" same "$plain" "$got"
ok "no probe command: one warning" same 1 "$(grep -c '^autofuse: ' "$AF_TMP/err")"
printf '#!/bin/sh\nexec sleep 30\n' >"$AF_TMP/slow"
chmod +x "$AF_TMP/slow"
start=$(date +%s)
got=$(AUTOFUSE_CACHE=$AF_TMP/noprobe3 AUTOFUSE_PROBE_COMMAND=$AF_TMP/slow shim "$app" plain 300 2>&1 | cat)
ok "a probe that hangs delays nobody" [ $(($(date +%s) - start)) -lt 15 ]
ok "a probe that hangs: same output" same "$plain" "$got"
# Slow calls make it slow, not wrong.
got=$(SOFTGPU_SLOW=cuLaunchKernel:300,cuMemcpyDtoDAsync:2000 AUTOFUSE_SAMPLE_EVERY=9 shim "$app" plain 300)
ok "slow launches: same output" same "$plain" "$got"
# A held launch that fails late reports at the next call on its stream, with the driver's code.
got=$(AUTOFUSE_VERIFY=off SOFTGPU_FAIL=cuLaunchKernel:20:719 shim "$app" event 300 2>&1; echo $?)
ok "a launch that fails late is reported" has "$got" "unspecified launch failure|3$"
# Device memory for checks is given back when the program runs out.
got=$(SOFTGPU_MEMORY=$((40 << 20)) AUTOFUSE_CHECK_MEMORY=32M AUTOFUSE_SAMPLE_EVERY=3 shim "$app" plain 300 64 4096 2>&1)
want=$(SOFTGPU_MEMORY=$((40 << 20)) "$app" plain 300 64 4096 2>&1)
ok "little device memory: same output" same "$want" "$got"
finish
