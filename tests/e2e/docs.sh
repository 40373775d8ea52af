#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The documents say everything they promise: every option, reason, pattern and command, with the words of the
# tables, links that lead somewhere, man pages that format without a warning.
. "$(dirname "$0")/lib.sh"
root=$(cd "$AF_TESTS/.." && pwd)
if [ ! -e "$root/config/options.def" ] || [ ! -e "$root/docs" ]; then
	skip "documents" "the sources are not here"
	finish
fi
cd "$root" || exit 1

# missing FILE PYTHON: rows of tables that FILE lacks.
missing() {
	python3 - "$@" <<'PY'
import re, sys
doc, table, what = open(sys.argv[1]).read(), open(sys.argv[2]).read(), sys.argv[3]
if sys.argv[1].endswith((".1", ".7")):
    doc = doc.replace("\\-", "-").replace("\\&", "")
rows = {"OPTION": r'^OPTION\((\w+), \w+, ".*?", "(\w+)",\s*"(.*?)"\)',
        "REASON": r'^REASON\((?!NONE)\w+, "(.*?)",\s*"(.*?)"\)',
        "PATTERN": r'^PATTERN\((\w+)', "COMMAND": r'^COMMAND\((\w+), "[^"]*",\s*"[^"]'}[what]
found = re.findall(rows, table, re.S | re.M)
assert found, "no rows in " + sys.argv[2]
bad = 0
for row in found:
    for word in row if isinstance(row, tuple) else (row,):
        # The first letter of a sentence may be a capital one.
        if word not in doc and word[1:] not in doc:
            print("# %s lacks: %s" % (sys.argv[1], word))
            bad = 1
sys.exit(bad)
PY
}
ok "every option is in libautofuse(7)" missing docs/man/libautofuse.7 config/options.def OPTION
ok "every option is in the README" missing README.md config/options.def OPTION
ok "every reason is in libautofuse(7), in its words" missing docs/man/libautofuse.7 matcher/reason.def REASON
ok "every reason is in READ_A_REPORT, in its words" missing docs/READ_A_REPORT.md matcher/reason.def REASON
ok "every reason is in the README, in its words" missing README.md matcher/reason.def REASON
ok "every command is in autofuse(1)" missing docs/man/autofuse.1 tools/commands.def COMMAND
ok "each reason has something to do about it" awk -F'|' '/^\| `[a-z-]+` \|/ && NF == 5 && length($4) < 10 {print "# " $0; bad = 1} END {exit bad}' docs/READ_A_REPORT.md

if [ "$AF_BACKEND" = soft ]; then
	last() { grep -E '^ *with it, run [0-9]+ \(cached\)' | sed -E 's/run [0-9]+/run N/'; }
	ok "make demo ends as the README says" same "$(last <README.md)" \
		"$(env -u AUTOFUSE_PROBE_SHARE -u AUTOFUSE_PLAN_SHARE tests/demo "$AF_BUILD" 2>&1 | last)"
else
	skip "make demo ends as the README says" "the README has the software GPU's"
fi

# What a signature may say, where people look it up first.
ok "every operation, argument, type and key of signatures is in libautofuse(7)" python3 - <<'PY'
import re, sys
page = open("docs/man/libautofuse.7").read()
page = page[page.index(".SS Signatures"):page.index(".SH REASONS")]
words = [w for f in ("opcode", "role", "dtype") for w in re.findall(r"^(?:OPCODE|ROLE|DTYPE)\((\w+)", open("matcher/%s.def" % f).read(), re.M)]
words += re.findall(r'strcmp\(p->key, "(\w+)"', open("matcher/sig_section.c").read()) + ["inout", r"1\+w"]
assert len(words) > 60
lost = [w for w in words if not re.search(r"(?<!\w)%s(?!\w)" % w, page)]
print("# lost: %s" % " ".join(lost) if lost else "", end="\n" if lost else "")
sys.exit(bool(lost))
PY
ok "every variable of the environment is in a man page" python3 - <<'PY'
import glob, re, sys
pages = "".join(open(p).read() for p in glob.glob("docs/man/*"))
names = {n for d in ("config", "shim", "tools") for f in glob.glob(d + "/*.c") for n in re.findall(r'getenv\("(\w+)"', open(f).read())}
lost = sorted(n for n in names if not n.startswith(("AUTOFUSE", "SOFTGPU")) and n != "PATH" and n not in pages)
print("# lost: %s" % " ".join(lost) if lost else "", end="\n" if lost else "")
sys.exit(bool(lost) or len(names) < 8)
PY
ok "every key of a report is in READ_A_REPORT" python3 - <<'PY'
import re, sys
doc = open("docs/READ_A_REPORT.md").read() + open("docs/AB.md").read()
keys = {k for f in ("report_json", "graph_report", "graph_list") for k in re.findall(r'\\"(\w+)\\":', open("shim/%s.c" % f).read())}
lost = sorted(k for k in keys if not re.search(r'[`"]%s[`"]' % k, doc))
print("# lost: %s" % " ".join(lost) if lost else "", end="\n" if lost else "")
sys.exit(bool(lost) or len(keys) < 40)
PY
for w in "no longer looked at" "no pattern was found among the kernels with signatures" "left alone" "graph launches" "held sequences"; do
	ok "the line at exit: \"$w\" is said and explained" eval 'grep -q "$w" shim/report.c shim/graph_report.c && grep -q "^| .*$w.* | " README.md'
done
listed() { sed -n '/^    \$ autofuse trace -f/,/^The .stream. line/p' docs/TRACE.md | sed '1d;$d;s/^    //' | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'; }
ok "the listing in TRACE.md is what trace prints" same "$(listed)" \
	"$("$AUTOFUSE_COMMAND" trace -f tests/data/llama3_cuda_fp32.ini tests/data/llama3_cuda_fp32.jsonl.gz)"

links() {
	local file target bad=0
	for file in docs/*.md; do
		while read -r target; do
			[ -e "$(dirname "$file")/${target%%#*}" ] || { echo "# $file links to $target"; bad=1; }
		done < <(grep -oE '\]\([^)#:]+(#[^)]*)?\)' "$file" | sed 's/^](//; s/)$//')
	done
	return $bad
}
ok "links lead somewhere" links
if man --version >/dev/null 2>&1 && command -v groff >/dev/null; then
	for page in docs/man/*; do
		ok "$(basename "$page") formats without a warning" same "" "$(LC_ALL=C.UTF-8 man --warnings -l "$page" 2>&1 >/dev/null)"
	done
else
	left_out "man pages format without a warning" "man or groff is not here"
fi
# What the first-run page has people type is what the command understands.
for c in run ab scan plan cache config; do
	usage=$("$AUTOFUSE_COMMAND" $c --help)
	ok "autofuse $c --help: 0, and it is usage" has "$? $usage" "^0 usage: autofuse $c "
	lost=
	for word in $("$AUTOFUSE_COMMAND" $c --larger --larger= 2>&1 | grep usage: | grep -oE -- '--?[a-z][a-z-]*'); do
		grep -qF -- "$word" <<<"$usage" || lost="$lost $word"
	done
	ok "autofuse $c --help has the options that its usage has" same "" "$lost"
	ok "autofuse help lists $c" has "$("$AUTOFUSE_COMMAND" help)" "^  $c "
done
finish
