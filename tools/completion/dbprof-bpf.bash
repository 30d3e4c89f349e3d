# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# Completion of dbprof-bpf for bash. `make install` puts it where bash-completion looks for it.

_dbprof_bpf_commands="record report diff export merge serve check layout help"

_dbprof_bpf_formats="json json-zip bundle html pprof folded svg dot dot-dir dot-zip snapshot openmetrics prometheus"

# The options of a command; of profiling itself for none.
_dbprof_bpf_options() {
	case $1 in
	"" | record)
		echo "--pid -p --duration -d --interval --output -o --format -f --mode -m --budget" \
			"--frequency -F --layout -l --uprobes --steps --max-threads --max-circuits --max-operators" \
			"--verbose -v --quiet -q --version -V --state --state-header --state-timeout"
		;;
	report)
		echo "--metric --total --as --used-bytes --storage-size --worker --node --json" \
			"--store --at --pid"
		;;
	diff) echo "--worker --top --all --json --store --at --pid" ;;
	check) echo "--pid -p --layout -l --json" ;;
	export)
		echo "--format -f --output -o --first-worker --state --state-header --state-timeout"
		;;
	merge) echo "--output -o --format -f --offset -O --sum -s" ;;
	serve)
		echo "--listen --tls-cert --tls-key --token-file --store --keep --interval --budget" \
			"--mode -m --top-operators --layout -l --max-threads --max-circuits" \
			"--max-operators"
		;;
	help) return ;;
	esac
	echo "--help -? --usage"
}

# The pids of programs with a worker of DBSP, which has its thread's name.
_dbprof_bpf_pids() {
	local comm name pid
	for comm in /proc/[0-9]*/task/*/comm; do
		name=
		read -r name 2>/dev/null <"$comm"
		[[ $name == dbsp-worker-* ]] || continue
		pid=${comm#/proc/}
		echo "${pid%%/*}"
	done
}

_dbprof_bpf_words() {
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

# The files that begin with the word.
_dbprof_bpf_files() {
	mapfile -t COMPREPLY < <(compgen -f -- "$1")
	compopt -o filenames 2>/dev/null
}

# What an option takes. Returns 1 when it takes nothing.
_dbprof_bpf_argument() {
	case $1 in
	--pid | -p) _dbprof_bpf_words "$(_dbprof_bpf_pids)" "$2" ;;
	--format | -f) _dbprof_bpf_words "$_dbprof_bpf_formats" "$2" ;;
	--mode | -m) _dbprof_bpf_words "auto engine sampled exact waits" "$2" ;;
	--uprobes) _dbprof_bpf_words "auto multi perf" "$2" ;;
	--steps) _dbprof_bpf_words "auto paths events polls" "$2" ;;
	--as) _dbprof_bpf_words "bytes count" "$2" ;;
	--output | -o | --layout | -l | --state | --store | --tls-cert | --tls-key | --token-file) _dbprof_bpf_files "$2" ;;
	--listen | --keep | --top-operators | --max-operators | --duration | -d | --interval | --budget | --frequency | -F | --max-threads | --max-circuits | \
		--metric | --total | --at | --worker | --node | --top | --first-worker | --offset | -O | --state-header | \
		--state-timeout)
		COMPREPLY=()
		;;
	*) return 1 ;;
	esac
}

_dbprof_bpf() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
	local command="" i
	COMPREPLY=()
	case " $_dbprof_bpf_commands " in
	*" ${COMP_WORDS[1]} "*) [[ $COMP_CWORD -gt 1 ]] && command=${COMP_WORDS[1]} ;;
	esac
	# Behind `--` stands the program that is to be started.
	for ((i = 1; i < COMP_CWORD; i++)); do
		if [[ ${COMP_WORDS[i]} == -- ]]; then
			_dbprof_bpf_files "$word"
			return
		fi
	done
	# `=` is a word of its own to bash.
	if [[ $word == "=" ]]; then
		word=
		_dbprof_bpf_argument "$before" "$word"
		return
	fi
	[[ $before == "=" ]] && before=${COMP_WORDS[COMP_CWORD - 2]}
	_dbprof_bpf_argument "$before" "$word" && return
	if [[ $word == -* ]]; then
		_dbprof_bpf_words "$(_dbprof_bpf_options "$command")" "$word"
	elif [[ $command == help ]]; then
		_dbprof_bpf_words "$_dbprof_bpf_commands" "$word"
	elif [[ $COMP_CWORD -eq 1 ]]; then
		_dbprof_bpf_words "$_dbprof_bpf_commands" "$word"
	elif [[ -n $command && $command != record && $command != serve ]]; then
		_dbprof_bpf_files "$word"
	fi
}

complete -F _dbprof_bpf dbprof-bpf
