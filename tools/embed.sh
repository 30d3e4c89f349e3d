#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Writes an assembler file that holds FILEs as data, with a table of them (user/util/embedded.h).
# Usage, from the top of the checkout: tools/embed.sh user/layouts/*.json > OUT.S
# The names in the table are relative to user/; no other path gets into the object file.
set -eu

cat <<'EOF'
/* Written by tools/embed.sh. */
	.section .rodata, "a", %progbits
EOF

number=0
for file in "$@"; do
	case $file in
	*[!A-Za-z0-9._/+-]*)
		echo "embed.sh: $file: a name of letters, digits and . _ / + - is needed" >&2
		exit 1
		;;
	esac
	if [ ! -r "$file" ]; then
		echo "embed.sh: $file: cannot be read" >&2
		exit 1
	fi
	cat <<EOF
.Lname$number:
	.asciz "${file#user/}"
.Ldata$number:
	.incbin "$file"
.Lend$number:
EOF
	number=$((number + 1))
done

cat <<'EOF'
	.balign 8
	.globl embedded_count
	.type embedded_count, %object
	.size embedded_count, 8
embedded_count:
EOF
echo "	.quad $number"

# The table holds addresses, which the loader sets.
cat <<'EOF'
	.section .data.rel.ro, "aw", %progbits
	.balign 8
	.globl embedded_files
	.type embedded_files, %object
embedded_files:
EOF
index=0
while [ "$index" -lt "$number" ]; do
	echo "	.quad .Lname$index, .Ldata$index, .Lend$index - .Ldata$index"
	index=$((index + 1))
done
cat <<'EOF'
	.size embedded_files, . - embedded_files
	.section .note.GNU-stack, "", %progbits
EOF
