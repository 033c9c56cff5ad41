# SPDX-License-Identifier: BSD-3-Clause
"""Labs for tests: in a folder of their own, so that nobody's labs are touched, and gone when a test ends."""

import ctypes
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "command"))

from hocket_command import COMMAND, LIMIT_S, CommandTest, environment, main, run  # noqa: E402

__all__ = ["COMMAND", "LABS", "LIMIT_S", "LONG_TESTS", "LabTest", "SWITCHES", "eventually", "has_its_turn",
           "main_as_root", "pin_array", "python", "running", "traces"]

SKIPPED = 77
# Set by ./dev test --long: repetitions that show little more.
LONG_TESTS = bool(os.environ.get("LONG_TESTS"))
_LIBC = ctypes.CDLL(None, use_errno=True)
_PREFIX = "hocket-lab-test-"
_HOME = tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-")
LABS = os.path.join(_HOME, "labs")
SWITCHES = ("bridge", "redirect")


def has_its_turn(*places):
    """Whether a combination of values with these places in their lists is tried: all are in the long tier, else every
    other one. Each value still has its turns; of three lists any two values still meet."""
    return LONG_TESTS or sum(places) % 2 == 0


def eventually(condition):
    """Waits until it holds; false when it never does."""
    limit = time.monotonic() + LIMIT_S
    while not condition():
        if time.monotonic() > limit:
            return False
        time.sleep(0.01)
    return True


def running(process):
    """Whether there is such a process and it has not ended."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def python(code):
    return [sys.executable, "-u", "-c", "import os, socket, struct, sys, time\n" + code]


def _bpf(command, attribute):
    system_call = 321  # of x86-64
    return _LIBC.syscall(system_call, command, attribute, ctypes.sizeof(attribute))


def _bpf_programs():
    """The numbers of the lab's and the NIC engine's BPF programs that the kernel has, asked as bpftool does."""
    next_number, by_number, information = 11, 13, 15
    name_at = 64  # in struct bpf_prog_info
    found, number = set(), 0
    while True:
        attribute = (ctypes.c_uint32 * 8)(number)
        if _bpf(next_number, attribute) != 0:
            return found
        number = attribute[1]
        program = _bpf(by_number, (ctypes.c_uint32 * 8)(number))
        if program < 0:
            continue  # gone meanwhile
        about = ctypes.create_string_buffer(128)
        asked = struct.pack("=IIQ", program, len(about), ctypes.addressof(about))
        is_known = _bpf(information, ctypes.create_string_buffer(asked, 32)) == 0
        if is_known and about.raw[name_at:].startswith((b"lab_", b"nic_")):
            found.add(number)
        os.close(program)


def pin_array(path, value_bytes, entries):
    """An array of the kernel's in the place of what is pinned there, as another build's programs might have it."""
    create, pin, array, may_be_mapped = 0, 6, 2, 1 << 10
    descriptor = _bpf(create, (ctypes.c_uint32 * 8)(array, 4, value_bytes, entries, may_be_mapped))
    name = ctypes.create_string_buffer(path.encode())
    os.unlink(path)
    asked = struct.pack("=QI", ctypes.addressof(name), descriptor)
    is_pinned = _bpf(pin, ctypes.create_string_buffer(asked, 32)) == 0
    os.close(descriptor)
    return is_pinned


def traces():
    """What a lab might leave behind on the machine, others' labs among it: pairs of a kind and a thing."""
    with open("/proc/self/mounts", encoding="utf-8") as file:
        mounts = [line for line in file if "lab" in line]
    with open("/proc/net/dev", encoding="utf-8") as file:
        links = [line.split(":")[0].strip() for line in file if re.match(r" *(n\d+|switch|relay|eth0):", line)]
    with open("/etc/hosts", encoding="utf-8") as file:
        hosts = file.read()
    names = os.listdir("/run/netns") if os.path.isdir("/run/netns") else []
    found = {"mount": mounts, "link": links, "hosts": [hosts], "name": [name for name in names if "lab" in name],
             "folder": [LABS] if os.path.exists(LABS) else [], "BPF program": _bpf_programs()}
    return {(kind, thing) for kind, things in found.items() for thing in things}


class LabTest(CommandTest):
    maxDiff = None

    def setUp(self):
        self.before = traces()
        self.addCleanup(self.nothing_is_left)
        self.addCleanup(self.lab, "down", "--all")

    def nothing_is_left(self):
        # Others' labs come up and go meanwhile. What has gone was theirs, and so is what comes up from here on.
        left = traces() - self.before
        # The kernel lets programs go a little later.
        eventually(lambda: not left & traces())
        self.assertEqual(left & traces(), set(), "left behind, or of a lab that somebody else has up")

    def lab(self, *arguments, code=0, **settings):
        result = run("lab", *arguments, HOCKET_LAB_DIRECTORY=LABS, **settings)
        if code is not None:
            self.expect(result, code)
        return result

    def start(self, *arguments, **popen):
        """Settings of hocket's, or what Popen takes."""
        settings = {name: popen.pop(name) for name in list(popen) if name.startswith("HOCKET_")}
        popen = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **popen}
        process = subprocess.Popen([COMMAND, "lab", *arguments], text=True,
                                   env=environment(HOCKET_LAB_DIRECTORY=LABS, **settings), **popen)
        for stream in (process.stdout, process.stderr, process.stdin):
            if stream:
                self.addCleanup(stream.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def refused_lab(self, *arguments, words, code):
        result = self.lab(*arguments, code=code)
        for word in words:
            self.assertIn(word, result.stderr + result.stdout)

    def status(self, name="lab"):
        return next(lab for lab in json.loads(self.lab("status", "--json").stdout) if lab["name"] == name)

    def in_node(self, node, code, *options):
        """What Python code prints in a node."""
        return self.lab("exec", *options, node, "--", *python(code)).stdout.strip()


def _remove_labs_of_killed_tests():
    for entry in os.scandir(tempfile.gettempdir()):
        process = entry.name.removeprefix(_PREFIX).split("-")[0]
        if entry.name.startswith(_PREFIX) and process.isdigit() and not running(process):
            run("lab", "down", "--all", HOCKET_LAB_DIRECTORY=os.path.join(entry.path, "labs"))
            for folder in (os.path.join(entry.path, "labs"), entry.path):
                if os.path.isdir(folder):
                    os.rmdir(folder)


def main_as_root():
    """Runs the tests, or tells why they can't run here."""
    try:
        if os.geteuid() != 0:
            print("skipped: labs need root")
            sys.exit(SKIPPED)
        _remove_labs_of_killed_tests()
        tried = run("lab", "up", "1", "--switch", "redirect", HOCKET_LAB_DIRECTORY=LABS)
        run("lab", "down", "--all", HOCKET_LAB_DIRECTORY=LABS)
        if tried.returncode != 0:
            print(f"skipped: no labs on this machine: {tried.stderr}")
            sys.exit(SKIPPED)
        main()
    finally:
        os.rmdir(_HOME)
