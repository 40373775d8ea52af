# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# For third.sh: how one of its programs is set up, run, timed and judged. What it is stands in NAME.sh:
#   title type exe    its name, element type, and binary below AF_THIRD
#   model             arguments of models.py, the output's path below AF_TMP/models
#   links files       what it finds in its folder: FROM[:TO], from the models and from AF_THIRD
#   args steady input its arguments; those with which it is deterministic, if not always; standard input
#   figure unit better   sed pattern whose group is its own speed figure; less or more is better
#   times             so many times as many pairs of runs as for the others
#   mask              sed commands that take timings out of its standard output
#   fuses why         a pattern that it must fuse, or none; then the reason that the report must give
models=$AF_TMP/models
summary() { python3 "$AF_TESTS/gpu/third/summary.py" "$@"; }

program() { # NAME: sets all of the above
	title='' type='' exe='' config='' fuses=none why='' figure='' unit=s better=less times=1 mask='' input=''
	model=() links=() files=() args=() steady=()
	# shellcheck source=/dev/null
	. "$AF_TESTS/gpu/third/$1.sh"
	dir=$AF_TMP/$1
	[ ! -e "$dir/steady" ] || args=("${steady[@]}")
}

make_models() { # NAME...
	local made=' ' name
	for name; do
		program "$name"
		case $made in *" ${model[1]-} "*) continue ;; esac
		[ ${#model[@]} = 0 ] && continue
		made+="${model[1]} "
		mkdir -p "$(dirname "$models/${model[1]}")"
		python3 "$AF_TESTS/gpu/third/models.py" "${model[0]}" "$models/${model[1]}" "${model[@]:2}" &
	done
	wait
}

place() { # FOLDER FROM[:TO]
	local from=${2%%:*} to=$dir/work/${2#*:}
	[ "${2#*:}" != "$2" ] || to=$dir/work/${from##*/}
	mkdir -p "$(dirname "$to")"
	ln -s "$1/$from" "$to"
}

# Runs it once; its output without timings is TAG.out, its figure (or the seconds it took) TAG.figure.
run_program() { # off|on TAG [VARIABLE=VALUE...]
	local mode=$1 tag=$dir/$2 start=$EPOCHREALTIME status value
	shift 2
	[ "$mode" = off ] || set -- LD_PRELOAD="$LIB" "$@"
	(cd "$dir/work" && exec timeout 60 env ${config:+AUTOFUSE_CONFIG="$config"} "$@" "$AF_THIRD/$exe" "${args[@]}") \
		<<<"${input%$'\n'}" >"$tag.raw" 2>"$tag.err"
	status=$?
	value=$(cat "$tag.raw" "$tag.err" | tr '\r' '\n' | grep -a . | sed -nE "s/^${figure:-no figure}\$/\1/p" | tail -n 1)
	if [ -z "$figure" ]; then value=$(awk "BEGIN {print $EPOCHREALTIME - $start}"); fi
	echo "${value:-nan}" >"$tag.figure"
	{ sed -E "$mask" "$tag.raw"; echo "exit status $status"; } >"$tag.out"
	return $status
}

learned() { # REPORT: it says what it should in the end, and no verdict is open
	summary settled "$1" || return
	case $fuses in
	none) [ -z "$why" ] || summary facts "$1" | grep -q "^rejected [a-z_]* $why " ;;
	*) summary facts "$1" | grep -qE "^fused $fuses [1-9]" ;;
	esac
}

# Two runs without the shim (is it deterministic?), then runs with it until no verdict is open.
prepare() {
	local i item
	mkdir -p "$dir/work"
	for item in "${links[@]}"; do place "$models" "$item"; done
	for item in "${files[@]}"; do place "$AF_THIRD" "$item"; done
	if ! run_program off first || ! run_program off second; then
		touch "$dir/broken"
		return
	fi
	if ! cmp -s "$dir/first.out" "$dir/second.out" && [ ${#steady[@]} != 0 ]; then
		diff "$dir/first.out" "$dir/second.out" | head -n 4 >"$dir/steady"
		args=("${steady[@]}")
		run_program off first
		run_program off second
	fi
	if ! cmp -s "$dir/first.out" "$dir/second.out"; then
		touch "$dir/differs"
		return
	fi
	for ((i = 1; i <= 12; i++)); do
		run_program on learn AUTOFUSE_REPORT="$dir/learn.json"
		cmp -s "$dir/first.out" "$dir/learn.out" || cp "$dir/learn.out" "$dir/learn.$i.out"
		echo "$i" >"$dir/runs"
		learned "$dir/learn.json" 2>/dev/null && break
		sleep "$([ "$AF_BACKEND" = soft ] && echo 2 || echo 0.7)"
	done
}

timed() { # PAIRS
	local i
	[ -e "$dir/runs" ] || return
	for ((i = 0; i < $1 * times; i++)); do
		run_program off "off.$i"
		run_program on "on.$i" AUTOFUSE_REPORT="$dir/report.json"
	done
	# What is fused in a run where nothing is spent on checks.
	run_program on report AUTOFUSE_REPORT="$dir/report.json" AUTOFUSE_VERIFY=off
}

all_same() { # FILE...: like the first run without the shim
	local f
	for f; do
		cmp -s "$dir/first.out" "$f" && continue
		echo "# ${f##*/} differs from a run without the shim:"
		diff -a "$dir/first.out" "$f" | head -n 6 | cut -c1-160 | sed 's/^/#   /'
		tail -n 3 "${f%.out}.err" 2>/dev/null | cut -c1-160 | sed 's/^/#   stderr: /'
		return 1
	done
}

judge() {
	local fused ratio
	if [ -e "$dir/broken" ]; then
		ok "$title: runs without the shim" false
		tail -q -n 3 "$dir/first.out" "$dir/first.err" | cut -c1-160 | sed 's/^/#   /'
		return
	elif [ -e "$dir/differs" ]; then
		skip "$title" "two runs without the shim differ"
		diff -a "$dir/first.out" "$dir/second.out" | head -n 6 | cut -c1-160 | sed 's/^/#   /'
		return
	fi
	[ ! -e "$dir/steady" ] || { echo "# $title: two runs without the shim differ; compared with ${steady[*]}:"; sed 's/^/#   /' "$dir/steady"; }
	ok "$title: same output without the shim, $(wc -l <"$dir/first.out") lines" all_same "$dir"/off.*.out
	ok "$title: same output with it, while it learns and after" all_same "$dir"/learn*.out "$dir"/on.*.out "$dir/report.out"
	summary facts "$dir/report.json" >"$dir/facts"
	sed "s|^|# $title: |" "$dir/facts"
	fused=$(awk '$1 == "fused" {n += $3} END {print n + 0}' "$dir/facts")
	if [ "$fuses" = none ]; then
		ok "$title: nothing there to fuse, nothing fused" same 0 "$fused"
		[ -z "$why" ] || ok "$title: because it is $why" grep -q "^rejected [a-z_]* $why " "$dir/facts"
	else
		ok "$title: fuses $fuses" grep -qE "^fused $fuses [1-9]" "$dir/facts"
		ok "$title: no verdict is left open after $(cat "$dir/runs") runs" summary settled "$dir/report.json"
	fi
	ratio=$(summary ratio "$better" "$dir"/off.*.figure -- "$dir"/on.*.figure)
	ok "$title: time with / without is ${ratio%% *}, at most 1 but for 2 % of noise" summary atmost "${ratio%% *}" 1.02
	summary row "$title" "$type" "$unit" "$(cat "$dir/runs")" "$dir/report.json" "$ratio" >"$dir/row"
}

table() {
	local name
	echo "| program | type | launches | sent | fused | not fused | off | on | time on / off | learning runs |"
	echo "|---|---|---|---|---|---|---|---|---|---|"
	for name in $present; do
		[ ! -e "$AF_TMP/$name/row" ] || cat "$AF_TMP/$name/row"
	done
}
