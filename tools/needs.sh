#!/bin/sh
# Says for each package in the given lists that is missing, in one sentence, which one it is.
#   needs.sh LIST...           exits 1 when one is missing
#   needs.sh --names LIST...   prints the names of the missing packages only
set -u

names=false
[ "${1:-}" = --names ] && names=true && shift

present() {
	case $1 in
	cmd:*) command -v "${1#cmd:}" >/dev/null 2>&1 ;;
	pkg:*) pkg-config --exists "${1#pkg:}" 2>/dev/null ;;
	*) [ -e "$1" ] ;;
	esac
}

status=0
for list; do
	while read -r package proof; do
		case $package in '' | '#'*) continue ;; esac
		present "$proof" && continue
		status=1
		if $names; then
			echo "$package"
		else
			echo "The Debian package $package is missing (${proof#*:}):" \
				"run 'make deps' or 'apt-get install $package'." >&2
		fi
	done <"$list"
done
exit $status
