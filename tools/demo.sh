#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Profiles the `join` pipeline for ten seconds. Run by `make demo` once all is built.
set -eu
cd "$(dirname "$0")/.."

program=build/dbprof-bpf
pipeline=$(tools/target.sh --print release)
for built in "$program" "$pipeline"; do
	[ -x "$built" ] || {
		echo "$built is missing: run 'make demo'." >&2
		exit 1
	}
done

as_root=
if [ "$(id -u)" != 0 ]; then
	command -v sudo >/dev/null 2>&1 || {
		echo "Profiling another process needs root: run 'make demo' as root." >&2
		exit 1
	}
	as_root=sudo
	# Asked for here, so that no prompt falls into the ten seconds.
	sudo -v
fi

folder=$(mktemp -d "${TMPDIR:-/tmp}/dbprof-demo.XXXXXX")
mkdir "$folder/storage"
mkfifo "$folder/input"
pid=
# shellcheck disable=SC2317 # the trap calls it
clean() {
	[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || true
	rm -rf "$folder/storage" "$folder/input"
	rmdir "$folder" 2>/dev/null || true
}
trap clean EXIT
trap 'exit 130' INT TERM

# Far more steps than ten seconds hold; the pipeline is ended with the demo.
TMPDIR=$folder/storage "$pipeline" join --workers 2 --steps 1000000 --hold \
	<"$folder/input" >"$folder/pipeline.log" 2>&1 &
pid=$!
exec 3>"$folder/input"

tries=0
until grep -qs '^ready' "$folder/pipeline.log"; do
	tries=$((tries + 1))
	if [ $tries -gt 300 ] || ! kill -0 "$pid" 2>/dev/null; then
		echo "The pipeline did not start:" >&2
		cat "$folder/pipeline.log" >&2
		exit 1
	fi
	sleep 0.1
done

echo "The pipeline 'join' runs with 2 workers as process $pid. This is profiled for ten seconds:"
echo
echo "    dbprof-bpf --pid $pid --duration 10s --output $folder/join.json"
echo
echo >&3
status=0
$as_root "$program" --pid "$pid" --duration 10s --output "$folder/join.json" || status=$?
if [ -e "$folder/join.json" ]; then
	echo
	echo "Files, in $folder:"
	echo "    join.json     the profile, as DBSP writes it: open it in Feldera's profile viewer"
	echo "    pipeline.log  what the pipeline printed"
fi
exit $status
