#!/bin/sh
# Installs the Debian packages of tools/packages, tools/packages-dev and the lists given that are
# missing, and a Rust toolchain.
set -eu
cd "$(dirname "$0")/.."

# The oldest compiler that the locked crates of the test pipeline build with.
rust_min=1.91
lists="tools/packages tools/packages-dev $*"
# shellcheck disable=SC2086
packages=$(tools/needs.sh --names $lists || true)

as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null 2>&1; then
		sudo "$@"
	else
		echo "Installing packages needs root: run 'make deps' as root." >&2
		exit 1
	fi
}

# The names are words of their own on purpose.
# shellcheck disable=SC2086
if [ -n "$packages" ]; then
	command -v apt-get >/dev/null 2>&1 || {
		echo "This is no Debian system; install the counterparts of:" $packages >&2
		exit 1
	}
	echo "Installing" $packages
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq update
	# Programs are wanted, no services: with SYSTEMD_OFFLINE, packages start none of theirs.
	as_root env DEBIAN_FRONTEND=noninteractive SYSTEMD_OFFLINE=1 \
		apt-get -qq install -y --no-install-recommends $packages >/dev/null
	# shellcheck disable=SC2086
	tools/needs.sh $lists
fi

recent() {
	PATH="$PATH:$HOME/.cargo/bin"
	command -v cargo >/dev/null 2>&1 || return 1
	version=$(cargo --version | cut -d' ' -f2)
	[ "$(printf '%s\n' $rust_min "$version" | sort -V | head -n 1)" = $rust_min ]
}

recent && exit 0
if command -v rustup >/dev/null 2>&1; then
	rustup toolchain install --profile minimal stable && rustup default stable
elif command -v curl >/dev/null 2>&1; then
	curl -sSf --proto '=https' https://sh.rustup.rs | sh -s -- -y --profile minimal || true
fi
recent || {
	echo "A Rust toolchain ($rust_min or newer) is missing and rustup cannot be had:" \
		"install one so that 'cargo' is on the PATH." >&2
	exit 1
}
