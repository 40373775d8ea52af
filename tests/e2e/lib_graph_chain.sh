# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# For scripts about graph_chain, the program of chains in graphs: how it is run, how its chains come to be fused.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
export AUTOFUSE_SUMMARY=no AUTOFUSE_GRAPHS=on AUTOFUSE_CONFIG=$AF_TESTS/apps/graph_chain.ini
[ "$AF_BACKEND" = soft ] && export AUTOFUSE_NVRTC=$AF_BUILD/softgpu
report=$AF_TMP/report
app=$APPS/graph_chain
launches=300
graph() { field "$report" "graphs/$1"; }
first() { graph "execs/0/$1"; }
run() { AUTOFUSE_REPORT=$report shim "$app" "$@" >"$AF_TMP/got"; }
alike() { # what the program gave under the shim, and without
	"$app" "$@" | cmp -s - "$AF_TMP/got"
}
# Evidence and images come in the background, and stay: until the graph is fused as it will be.
chain_learns() { # GROUPS STORES ARGUMENTS...
	local i groups=$1 stores=$2
	shift 2
	for ((i = 0; i < 40; i++)); do
		run "$@" && alike "$@" || return
		[ "$(first groups) $(first stores_dropped)" = "$groups $stores" ] && return
		probes_over
		sleep 0.3
	done
	echo "# $(first groups) groups, $(first stores_dropped) stores: $(first rejected)"
	return 1
}
