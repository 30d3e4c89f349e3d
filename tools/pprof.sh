#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Builds pprof, which the tests open our profiles with, unless it is built, and prints where it lies:
# in the user's cache, outside of the checkout. The version is one that Go 1.19 of Debian 12 builds.
set -eu

version=v0.0.0-20230602150820-91b7bce49751
cache=${XDG_CACHE_HOME:-$HOME/.cache}/dbprof-bpf
program=$cache/pprof-$version/pprof

if [ ! -x "$program" ]; then
	PATH="$PATH:/usr/local/go/bin"
	command -v go >/dev/null 2>&1 || {
		echo "go is missing: run 'make deps'." >&2
		exit 1
	}
	# Built beside its place: a build that is cut short leaves nothing that looks whole.
	folder=$program.new.$$
	trap 'rm -rf "$folder"' EXIT
	env GOFLAGS=-mod=mod GOTOOLCHAIN=local GOPATH="$cache/go" GOBIN="$folder" \
		go install "github.com/google/pprof@$version" >&2
	mkdir -p "${program%/*}"
	mv -f "$folder/pprof" "$program"
fi
echo "$program"
