#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Builds the test pipeline, or prints where it lies.
#   target.sh [--print] PROFILE     PROFILE: release; layout: the same with debug info;
#                                   nopie: release, linked to run at a fixed address;
#                                   oracle: the program that calls DBSP's own profile functions,
#                                   which is built along with release
# Cargo's folder is $DBPROF_TARGET_DIR, else in the user's cache: outside of the checkout, reused.
set -eu
cd "$(dirname "$0")/../tests/target"

print=false
[ "$1" = --print ] && print=true && shift
profile=$1
folder=${DBPROF_TARGET_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/dbprof-bpf/target}
program=$folder/$profile/dbsp-target
[ "$profile" = nopie ] && program=$folder/release/dbsp-target-nopie
[ "$profile" = oracle ] && program=$folder/release/dbsp-oracle

if $print; then
	echo "$program"
	exit 0
fi
PATH="$PATH:$HOME/.cargo/bin"
command -v cargo >/dev/null 2>&1 || {
	echo "cargo is missing: run 'make deps'." >&2
	exit 1
}
quiet=--quiet
[ -t 2 ] && quiet=
[ -e "$program" ] ||
	echo "Building the DBSP test pipeline ($profile); the first time takes about ten minutes."

# cargo COMMAND PROFILE [-- FLAGS]; the crate asks for a newer compiler than it needs.
run_cargo() {
	command=$1
	cargo_profile=$2
	shift 2
	cargo "$command" ${quiet:+"$quiet"} --locked --ignore-rust-version \
		--profile "$cargo_profile" --target-dir "$folder" "$@"
}

if [ "$profile" = nopie ]; then
	# All crates but the last are those of the release build: only the link is another one.
	# Cargo leaves the result under the release build's name, which is put back in any case.
	trap 'run_cargo build release --bin dbsp-target' EXIT
	run_cargo rustc release --bin dbsp-target -- -C relocation-model=static -C link-arg=-no-pie
	cp -f "$folder/release/dbsp-target" "$program.new"
	mv -f "$program.new" "$program"
elif [ "$profile" = layout ]; then
	run_cargo build layout --bin dbsp-target
else
	run_cargo build release
fi
