#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a library that goes into every process may look like (DESIGN 2, "The library is a guest").
# usage: tools/check_library.sh LIBRARY DRIVER_API_DEF    (called after linking)
set -u
export LC_ALL=C
lib=$1 api=$2
root=$(dirname "$0")/..
ceiling=2.17 # of 2012; clock_gettime lives in libc since then
bad=0
finding() { # TEXT WHAT
	[ -z "$1" ] || { printf '%s: %s:\n%s\n' "$lib" "$2" "$1" >&2; bad=1; }
}
dynamic=$(readelf -dW "$lib") || exit 2
symbols=$(readelf --dyn-syms -W "$lib" | awk 'NF >= 8 && $1 ~ /^[0-9]+:$/ {print $7, $5, $8}') # section binding name

finding "$(sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p' <<<"$dynamic" |
	grep -vxE 'libc\.so\.6|libdl\.so\.2|libpthread\.so\.0')" "needs a library that may be absent"
finding "$(grep -E '\((INIT|FINI|INIT_ARRAY|FINI_ARRAY|PREINIT_ARRAY|TEXTREL)\)' <<<"$dynamic")" \
	"runs code when it is loaded or unloaded, or has text relocations"
finding "$(readelf -lW "$lib" | grep 'GNU_STACK.*E ')" "wants an executable stack"

# Exports: dlsym, dlopen, every hook, and every thunk that is not of class neutral or may touch a graph that is lent.
expected=$(awk -F'[(,] *' -v calls="$root/matcher/calls.def" -v hooks="$root/shim/hooks.def" \
	-v loans="$root/shim/loans.def" '
	function lent(base) { return base in loan ? loan[base] == "settles" : base ~ /^cuGraph/ }
	BEGIN {
		while ((getline line < calls) > 0)
			if (split(line, f, /[(,] */) > 2 && f[1] == "CALL") class[f[2]] = f[3]
		while ((getline line < hooks) > 0)
			if (split(line, f, /[(,] */) > 1 && f[1] == "HOOK") hook[f[2]] = 1
		while ((getline line < loans) > 0)
			if (split(line, f, /[(,] */) > 2 && f[1] == "LOAN") loan[f[2]] = f[3]
		print "dlopen"; print "dlsym"
	}
	/^DRIVER_API/ && (($2 in hook) || class[$3] != "neutral" || lent($3)) { print $2 }' "$api" "$root/shim/interop.def" | sort)
exported=$(awk '$1 != "UND" {print $3}' <<<"$symbols" | sort)
finding "$(comm -13 <(echo "$expected") <(echo "$exported"))" "exports what it should not"
finding "$(comm -23 <(echo "$expected") <(echo "$exported"))" "does not export"

finding "$(awk '$1 == "UND" && $3 ~ /@GLIBC_/ {print $3}' <<<"$symbols" | awk -F'@GLIBC_' -v c=$ceiling '
	{ split($2, v, "."); split(c, m, "."); if (v[1] > m[1] || v[2] > m[2]) print }')" \
	"needs a glibc newer than $ceiling (pin it in shim/glibc.h)"
finding "$(awk '$1 == "UND" && $2 == "GLOBAL" && $3 !~ /@GLIBC_/ {print $3}' <<<"$symbols")" \
	"imports without a version"
finding "$(awk '$3 ~ /^__tls_get_addr/ {print $3}' <<<"$symbols")" \
	"has thread-locals that are not initial-exec (would need ld-linux)"
finding "$(awk '$1 == "UND" && $3 ~ /^(exit|abort|_exit|quick_exit|__assert_fail|dlsym|dlopen|dlvsym)@/ {print $3}' <<<"$symbols" |
	grep -v '^_exit@')" "calls what a guest does not call"
exit $bad
