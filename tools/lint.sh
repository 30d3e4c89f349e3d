#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Style and layers, one line a finding. What a tool that is missing would have checked is named.
set -u
cd "$(dirname "$0")/.." || exit 1
PATH="$PATH:$HOME/.cargo/bin"
status=0

has() {
	command -v "$1" >/dev/null 2>&1 && return 0
	echo "lint: $1 is missing, so $2 is not checked: run 'make deps'" >&2
	return 1
}

failed() {
	echo "lint: $1" >&2
	status=1
}

c_files=$(find bpf user tests -path tests/target -prune -o -name '*.[ch]' -print | sort)
scripts=$(grep -rlE '^#!/(bin/sh|usr/bin/env bash|bin/bash)' .ci tools tests --include='*' \
	--exclude-dir=target | sort)

if has clang-format "the style of C"; then
	# The finding itself; the source line and the caret below it are left out.
	# shellcheck disable=SC2086
	clang-format --dry-run -Werror $c_files 2>&1 | grep -E '^[^ ].*(error|warning):' &&
		failed "run clang-format -i on these files"
fi

if has cppcheck "what cppcheck knows of C"; then
	# It reads no headers of the system, so it is told what their macros say. It does not see that
	# CHECK() tests for NULL, nor that a function fills a buffer of which it is given the address.
	cppcheck --quiet --error-exitcode=1 -j "$(nproc)" --std=c11 --language=c \
		--enable=warning,performance,portability --inline-suppr \
		--suppress=missingInclude --suppress=missingIncludeSystem \
		--suppress=unmatchedSuppression --suppress='resourceLeak:tests/unit/*' \
		--suppress='uninitvar:tests/unit/*' \
		--template='{file}:{line}: {severity}: {message} [{id}]' \
		-D_GNU_SOURCE -D__x86_64__ -DDBPROF_VERSION='"0"' \
		-D'LIBBPF_OPTS(type,name,...)=struct type name={__VA_ARGS__}' \
		-Iuser -I. -Itests user tests/unit 2>&1 ||
		failed "cppcheck found something"
fi

tools/layers || failed "includes against the flow of the data"

if has codespell "spelling"; then
	# shellcheck disable=SC2086
	codespell --quiet-level=2 --ignore-words=tools/words README.md docs deploy user/html $c_files \
		tests/*.py tools .ci Makefile tests/target/src || failed "misspelled words"
fi

if has shellcheck "the shell scripts"; then
	# shellcheck disable=SC2086
	shellcheck --format=gcc $scripts || failed "shellcheck found something"
fi

if command -v rustfmt >/dev/null 2>&1; then
	rustfmt --check -l --color never --edition 2024 tests/target/src/main.rs \
		tests/target/src/bin/dbsp-oracle/main.rs | sort -u |
		grep . && failed "run cargo fmt in tests/target"
fi

exit $status
