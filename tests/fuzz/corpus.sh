#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Lays out what the fuzzers start from. usage: tests/fuzz/corpus.sh BUILD_DIR CORPUS_DIR
set -eu
build=$1 out=$2
cd "$(dirname "$0")/../.."
rm -rf "$out"
mkdir -p "$out"/{ini,plan,scan,purity,cache,image}
cp tests/apps/*.ini tests/data/*.ini "$out/ini/"
cat >"$out/ini/all.ini" <<'EOF'
; every kind of line
[autofuse]
verify = always ; a comment
check_memory = 256M
patterns = -all +add_rmsnorm
[pattern add_rmsnorm]
enable = no
[kernel everything]
match = _Z3add* _Z[0-9]*norm?
match = *
op = rmsnorm
args = out:bf16 inout in1 weight n=4 eps - -=1.5 rows cols
dtype = f32
cols = n / 4 * grid.x
eps = 1e-5
EOF
for t in tests/data/*.jsonl.gz; do
	gzip -dc "$t" | awk '!/"k":"a"/ && n++ < 24 || /"k":"a"/ && m++ < 6' >"$out/plan/$(basename "$t" .gz)"
	# The first nodes of a graph, in a line.
	gzip -dc "$t" | awk '/"k":"inst"/ { on = 1; print } on && /"k":"n/ && n < 32 { n++; print }
		END { for (i = 1; i < n; i++) printf "{\"k\":\"edge\",\"a\":%d,\"b\":%d,\"ty\":0,\"port\":0}\n", i - 1, i }' \
		>"$out/plan/nodes-$(basename "$t" .gz)"
	[ -s "$out/plan/nodes-$(basename "$t" .gz)" ] || rm "$out/plan/nodes-$(basename "$t" .gz)"
	head -n 4 "$out/plan/$(basename "$t" .gz)" | gzip -n >"$out/plan/$(basename "$t")"
done
cat >"$out/plan/recording.jsonl" <<'EOF'
{"k":"version","v":1}
{"k":"stream","st":"0x70","flags":1}
{"k":"alloc","lo":"0x1000","hi":"0x9000","dev":0,"flags":1}
{"k":"l","t":5,"f":"_Z12accum_kernelPfS_i","g":[2,1,1],"b":[64,1,1],"sm":0,"st":"0x70","na":0,"attrs":0,"dev":0,"ctx":12,"img":"00000000000000010000000000000002","p":[[0,8,"0010000000000000"],[8,8,"0020000000000000"],[16,4,"80000000"]]}
{"k":"a","f":"cuEventRecord","st":"0x70"}
{"k":"lx","f":"_Z14rmsnorm_kernelPfS_S_ii","g":[1,1,1],"b":[128,1,1],"sm":0,"st":"0x70","na":0,"prio":-1,"p":[[0,8,"0030000000000000"],[8,8,"0010000000000000"],[16,8,"0040000000000000"],[24,4,"80000000"],[28,4,"01000000"]]}
{"k":"a","f":"cuMemFree_v2","lo":"0x1000","hi":"0x2000"}
{"k":"free","lo":"0x1000","hi":"0x9000"}
EOF
# As the library writes graphs: an addition, a norm, a child graph; and one without nodes.
cat >"$out/plan/graph.jsonl" <<'EOF'
{"k":"version","v":1}
{"k":"inst","f":"cuGraphInstantiateWithFlags","id":0,"flags":0,"opt":"off"}
{"k":"n","f":"_Z12accum_kernelPfS_i","g":[2,1,1],"b":[64,1,1],"sm":0,"attrs":0,"ctx":1,"dev":0,"p":[[0,8,"0010000000000000"],[8,8,"0020000000000000"],[16,4,"80000000"]]}
{"k":"n","f":"_Z14rmsnorm_kernelPfS_S_ii","g":[1,1,1],"b":[128,1,1],"sm":0,"attrs":0,"upd":1,"p":[[0,8,"0030000000000000"],[8,8,"0010000000000000"],[16,8,"0040000000000000"],[24,4,"80000000"],[28,4,"01000000"]]}
{"k":"node","type":4}
{"k":"edge","a":0,"b":1,"ty":0,"port":0}
{"k":"edge","a":1,"b":2,"ty":1,"port":1}
{"k":"inst","f":"cuGraphInstantiateWithFlags","id":0,"in":[0,2]}
{"k":"n","f":"_Z12accum_kernelPfS_i","g":[2,1,1],"b":[64,1,1],"sm":0,"attrs":8,"x":[4,"00000000"]}
{"k":"node","type":10}
{"k":"edge","a":0,"b":1,"ty":0,"port":0}
{"k":"gg","id":0,"f":"add_rmsnorm","is":"refused","why":"no-verdict","n":[0,1]}
{"k":"inst","f":"cuGraphInstantiate_v2","id":1,"why":"it is too large"}
{"k":"a","f":"cuGraphLaunch","st":"0x70"}
EOF
for f in "$build"/tests/unit/scan/* "$build"/tests/unit/purity-*; do
	[ "$(stat -c %s "$f")" -le 100000 ] && cp "$f" "$out/scan/"
done
cp "$out"/scan/*.cubin "$out"/scan/*.fatbin "$out/purity/"
# As cache.c writes them, without their checksums.
cat >"$out/cache/verdicts" <<'EOF'
af2 0123456789abcdef0123456789abcdef 1f:9a,2e,0:0,0 verdict none 4096 0 0 0 t256.s.desc some detail 
af2 0123456789abcdef0123456789abcdee 1f reject not-exact 0 0 0 0 - - 
!af2 no checksum
EOF
# An image of 100 bytes, all of whose checksums fuzz_image.c puts right, and the note of a compiler.
{ printf '\037'; head -c 228 /dev/zero; } >"$out/image/image"
printf '\020afnvrtc1 13000 5 7 /nonexistent/libnvrtc.so.13\n' >"$out/image/note"
