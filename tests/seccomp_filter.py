#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs a command under a seccomp filter, as containers have: seccomp_filter.py CALL ACTION COMMAND...

CALL is the name of a system call, ACTION an errno for it or "kill".
"""

import ctypes
import errno
import os
import struct
import sys

NUMBERS = {
    "x86_64": {"bpf": 321, "perf_event_open": 298, "pidfd_open": 434},
    "aarch64": {"bpf": 280, "perf_event_open": 241, "pidfd_open": 434},
}[os.uname().machine]
PR_SET_SECCOMP, SECCOMP_MODE_FILTER, PR_SET_NO_NEW_PRIVS = 22, 2, 38
LOAD, JUMP_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, ERRNO, KILL = 0x7FFF0000, 0x00050000, 0x80000000


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def main(call, action, *command):
    verdict = KILL if action == "kill" else ERRNO | getattr(errno, action)
    instructions = b"".join(
        struct.pack("=HBBI", *instruction)
        for instruction in (
            (LOAD, 0, 0, 0),  # the number of the call
            (JUMP_EQUAL, 0, 1, NUMBERS[call]),
            (RETURN, 0, 0, verdict),
            (RETURN, 0, 0, ALLOW),
        )
    )
    program = Program(len(instructions) // 8, instructions)
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program)) != 0:
        raise OSError(ctypes.get_errno(), "no seccomp filter can be set")
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(*sys.argv[1:])
