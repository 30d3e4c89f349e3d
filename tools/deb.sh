#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Makes the Debian package build/deb/dbprof-bpf_VERSION_ARCHITECTURE.deb of the program that is built.
set -eu
cd "$(dirname "$0")/.."
top=$(pwd)
version=$1
tree=build/deb/tree

packaged=$(dpkg-parsechangelog -l deploy/debian/changelog -S Version)
if [ "$packaged" != "$version" ]; then
	echo "deploy/debian/changelog is of version $packaged, the program of $version:" \
		"add an entry for $version." >&2
	exit 1
fi

rm -rf build/deb
mkdir -p $tree
cp -a README.md docs deploy $tree
mv $tree/deploy/debian $tree/debian
cd $tree
# What the program is built with has been looked at; -d spares the list a second home.
if ! DBPROF_TOP=$top MAKEFLAGS='' dpkg-buildpackage -d -b -us -uc >../log 2>&1; then
	cat ../log >&2
	exit 1
fi
cd ..
rm -rf tree ./*.buildinfo ./*.changes
cd "$top"
echo build/deb/*.deb
