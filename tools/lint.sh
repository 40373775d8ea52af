#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Layers, headers, licence lines, things a guest may not do. Prints one line per finding.
# usage: tools/lint.sh     (called by `make lint`)
set -u
cd "$(dirname "$0")/.." || exit 2
bad=0
finding() {
	[ -z "$1" ] || { printf '%s:\n%s\n' "$2" "$1"; bad=1; }
}
sources() { # DIRS...
	find "$@" \( -name '*.c' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' -o -name '*.cpp' -o -name '*.S' -o -name '*.def' \) | sort
}
include() { # DIRS PATTERN
	# shellcheck disable=SC2046,SC2086
	grep -nE "^ *# *include [<\"]($2)" $(sources $1)
}
finding "$(include config '(matcher|fused|shim|tools)/')" "config/ includes a layer above it"
finding "$(include matcher '(fused|shim|tools)/')" "matcher/ includes a layer above it"
finding "$(include fused '(shim|tools)/' | grep -v '\.inc"')" "fused/ includes a layer above it"
finding "$(include 'config matcher' '(cuda|cupti|nvrtc)')" "config/ and matcher/ stay free of CUDA headers"
finding "$(include 'config matcher fused shim' 'tests/' | grep -v '^fused/device.h')" "the library includes test code"
finding "$(include 'config matcher fused shim tools tests' '\.\./')" "an include path must show its layer"
finding "$(grep -nE '\b(exit|abort|assert|_exit|raise) *\(' $(find config matcher fused shim -name '*.c' ! -name 'probe_child*') |
	grep -vE '_exit\(127\)|static_assert|_Static_assert|^[^:]*:[0-9]*: *(\*|/\*|//)')" "a guest never ends its host"
finding "$(grep -nE '__attribute__\(\(constructor' $(sources config matcher fused shim))" "no constructors"
finding "$(for f in $(sources config matcher fused shim tools tests) $(find tools tests .ci -name '*.sh' -o -name '*.py' -o -name '*.mk') Makefile; do
	head -n 3 "$f" | grep -q 'SPDX-License-Identifier: Apache-2.0' || echo "$f"
done)" "no SPDX line"
# Every switch, every reason and every pattern has its line in the README.
finding "$({
	grep -oE '^OPTION\(\w+' config/options.def | cut -d'(' -f2
	grep -oE '^PATTERN\(\w+' matcher/pattern.def | cut -d'(' -f2
	grep -oE '^REASON\(\w+, "[a-z-]+"' matcher/reason.def | grep -v NONE | cut -d'"' -f2
} | while read -r word; do
	grep -qF "\`$word\`" README.md || echo "$word"
done)" "not in README.md"
# Every operation and every word of a signature has its line in the how-to, every pattern its row.
finding "$({
	grep -oE '^(OPCODE|ROLE)\(\w+' matcher/opcode.def matcher/role.def | cut -d'(' -f2
} | while read -r word; do
	grep -qE "^\|[^|]*\b$word\b" docs/ADD_A_SIGNATURE.md || echo "$word"
done)" "not in docs/ADD_A_SIGNATURE.md"
finding "$(grep -oE '^PATTERN\(\w+' matcher/pattern.def | cut -d'(' -f2 | while read -r word; do
	grep -qF "| \`$word\` |" docs/PATTERNS.md || echo "$word"
done)" "not in docs/PATTERNS.md"
# Own header first, so that each header stands alone.
finding "$(for f in $(find config matcher fused shim -name '*.c'); do
	h=${f%.c}.h
	[ -e "$h" ] || continue
	first=$(grep -m1 -oE '^# *include "[^"]+"' "$f" | sed 's/.*"\(.*\)"/\1/')
	[ "$first" = "$h" ] || echo "$f includes \"$first\" first"
done)" "own header first"
# Other versions of clang-format disagree in details: only this one judges.
if clang-format --version 2>/dev/null | grep -q 'version 14\.'; then
	finding "$(find config matcher fused shim tools tests \( -name '*.c' -o -name '*.h' \) -print0 |
		xargs -0 clang-format --dry-run 2>&1 | grep -oE '^[^: ]+:[0-9]+:' | cut -d: -f1 | sort | uniq -c |
		awk '{print $2 ": " $1 " places"}')" "not formatted (make format)"
fi
[ $bad = 0 ] && echo "lint: clean"
exit $bad
