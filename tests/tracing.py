# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Makes a program's main thread, which waits in a system call, do another one: by ptrace(2)."""

import ctypes
import os
import signal
import struct

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
LIBC.ptrace.restype = ctypes.c_long

SEIZE, INTERRUPT, GETREGS, SETREGS, DETACH, SYSCALL = 0x4206, 0x4207, 12, 13, 17, 24
SYSGOOD = 1  # PTRACE_O_TRACESYSGOOD
WALL = 0x40000000

# struct user_regs_struct of x86-64, arch/x86/include/asm/user_64.h
NAMES = (
    "r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss "
    "fs_base gs_base ds es fs gs"
).split()
FORMAT = f"<{len(NAMES)}Q"
EXIT, FORK, EXECVE = 60, 57, 59
SIGTRAP_OF_CALL = signal.SIGTRAP | 0x80


def ptrace(request, pid, address=0, data=0):
    if LIBC.ptrace(request, pid, address, data) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


class Registers(dict):
    @classmethod
    def read(cls, pid):
        raw = ctypes.create_string_buffer(struct.calcsize(FORMAT))
        ptrace(GETREGS, pid, 0, ctypes.addressof(raw))
        return cls(zip(NAMES, struct.unpack(FORMAT, raw.raw)))

    def write(self, pid):
        raw = ctypes.create_string_buffer(struct.pack(FORMAT, *(self[name] for name in NAMES)))
        ptrace(SETREGS, pid, 0, ctypes.addressof(raw))


def wait_stopped(pid):
    got, status = os.waitpid(pid, WALL)
    assert got == pid and os.WIFSTOPPED(status), status
    return os.WSTOPSIG(status)


def stop(pid):
    """Stops the thread in the middle of its system call, and returns its registers."""
    ptrace(SEIZE, pid, 0, SYSGOOD)
    ptrace(INTERRUPT, pid)
    wait_stopped(pid)
    before = Registers.read(pid)
    code = os.pread(os.open(f"/proc/{pid}/mem", os.O_RDONLY), 2, before["rip"] - 2)
    assert code == b"\x0f\x05", "the thread does not wait in a system call"
    return before


def aim(pid, before, number, *arguments):
    """The next thing that the thread does is that system call."""
    there = Registers(before)
    there |= dict(zip(("rdi", "rsi", "rdx"), (*arguments, 0, 0, 0)))
    there |= {"rax": number, "orig_rax": 2**64 - 1, "rip": before["rip"] - 2}
    Registers.write(there, pid)


def exit_main_thread(pid):
    """The thread ends, and no other one."""
    before = stop(pid)
    aim(pid, before, EXIT)
    ptrace(DETACH, pid)


def fork(pid):
    """The child's id; it stands still where its parent waits. The parent goes on waiting."""
    before = stop(pid)
    aim(pid, before, FORK)
    for _ in range(2):  # into the call, and out of it
        ptrace(SYSCALL, pid)
        assert wait_stopped(pid) == SIGTRAP_OF_CALL
    child = Registers.read(pid)["rax"]
    os.kill(child, signal.SIGSTOP)
    # What it was in before begins once more.
    aim(pid, before, before["orig_rax"], before["rdi"], before["rsi"], before["rdx"])
    ptrace(DETACH, pid)
    return child


def execute(pid, *words):
    """Another program in the same process."""
    before = stop(pid)
    strings, places = b"", []
    start = before["rsp"] - 8192
    for word in words:
        places.append(start + len(strings))
        strings += word.encode() + b"\0"
    strings += b"\0" * (-len(strings) % 8)
    vector = start + len(strings)
    data = strings + struct.pack(f"<{len(places) + 1}Q", *places, 0)
    memory = os.open(f"/proc/{pid}/mem", os.O_WRONLY)
    os.pwrite(memory, data, start)
    os.close(memory)
    aim(pid, before, EXECVE, places[0], vector, 0)
    ptrace(DETACH, pid)
