# SPDX-License-Identifier: BSD-3-Clause
"""What a hostile job tries, as a process without rights in a node: nic_hostile_job.py WAY JSON prints what came of it,
by the name of an error or "done"."""

import ctypes
import json
import mmap
import os
import random
import socket
import struct
import sys
import time

import nic_hostile_requests
import nic_job
from nic_job import (ABORT, DOORBELL, INT64, MESSAGE, MOST_WORDS, PAGE_BYTES, PORT, PUBLISHED, STARTED, SUM, SUM_OF_TWO,
                     WHOLE, WINDOW, Job, all_tried, members, tried)

_LIBC = ctypes.CDLL(None, use_errno=True)
BPF, PROCESS_VM_READV, PIDFD_OPEN, PIDFD_GETFD, PTRACE = 321, 310, 434, 438, 101  # of x86-64
MAP_LOOKUP, MAP_UPDATE, OBJ_PIN, MAP_FREEZE = 1, 2, 6, 22
PROG_QUERY, OBJ_INFO, ENABLE_STATS = 16, 15, 32
NEXT_IDS = {"program": 11, "map": 12, "link": 31}
BY_IDS = {"program": 13, "map": 14, "link": 30}
SO_COOKIE, SO_NO_CHECK, UDP_SEGMENT, F_ADD_SEALS = 57, 11, 103, 1033
NOBODY = 65534
IP_TRANSPARENT, IP_OPTIONS, SO_MARK, SO_TIMESTAMPING = 19, 4, 36, 37


def call(number, *arguments):
    result = _LIBC.syscall(number, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), "")
    return result


def bpf(command, *words):
    attribute = (ctypes.c_uint32 * 32)(*words)
    return call(BPF, command, attribute, ctypes.sizeof(attribute))


def on_map(command, descriptor, key, value):
    """Element `key` to or from `value`."""
    number = ctypes.c_uint32(key)
    attribute = struct.pack("=IIQQQ", descriptor, 0, ctypes.addressof(number), ctypes.addressof(value), 0)
    return call(BPF, command, ctypes.create_string_buffer(attribute, 128), 128)


def maps(about):
    """By descriptors: from the page that was lent to anything else."""
    job = Job()
    group = job.join(about["id"], members(about))
    value = ctypes.create_string_buffer(PAGE_BYTES)
    page = group.page_descriptor
    found = {f"next {what}": tried(lambda command=command: bpf(command, 0)) for what, command in NEXT_IDS.items()}
    for what, command in BY_IDS.items():
        outcomes = {tried(lambda number=number, command=command: bpf(command, number)) for number in range(1, 300)}
        found[f"{what} by number"] = sorted(outcomes)
    found["statistics"] = tried(lambda: bpf(ENABLE_STATS, 0))
    for name, point in (("arriving", 46), ("leaving", 47)):
        index = socket.if_nametoindex("eth0")
        found[name] = tried(lambda point=point, index=index: bpf(PROG_QUERY, index, point))
    if about["engine"] == "kernel":
        found["behind the page"] = tried(lambda: mmap.mmap(page, 4096, offset=PAGE_BYTES))
        found["longer than the page"] = tried(lambda: mmap.mmap(page, PAGE_BYTES + 4096))
        found["rest of the page"] = group.page[128:] == bytes(PAGE_BYTES - 128)
        found["another element"] = tried(lambda: on_map(MAP_LOOKUP, page, 1, value))
        found["write another"] = tried(lambda: on_map(MAP_UPDATE, page, 1, value))
        found["freeze"] = tried(lambda: bpf(MAP_FREEZE, page)) != "done"
    else:
        found.update(all_tried({
            "cut": lambda: os.ftruncate(page, 0), "lengthen": lambda: os.ftruncate(page, 1 << 40),
            "append": lambda: os.pwrite(page, b"x", 1 << 30), "seal": lambda: call(72, page, F_ADD_SEALS, 8)}))
    # Its own page it may fill: the engine asks it for nothing.
    group.page[:64] = b"\xff" * 64
    return found


def processes(about):
    """At the service, at another user's job."""
    found = {}
    for name, process in about["processes"].items():
        place = ctypes.create_string_buffer(8)
        local = struct.pack("=QQ", ctypes.addressof(place), 8)
        pidfd = call(PIDFD_OPEN, process, 0)
        outcomes = all_tried({
            "attach": lambda process=process: call(PTRACE, 16, process, 0, 0),
            "seize": lambda process=process: call(PTRACE, 0x4206, process, 0, 0),
            "read": lambda process=process, local=local: call(PROCESS_VM_READV, process, local, 1,
                                                              struct.pack("=QQ", 0x400000, 8), 1, 0),
            "take": lambda pidfd=pidfd: call(PIDFD_GETFD, pidfd, 3, 0),
            "memory": lambda process=process: open(f"/proc/{process}/mem", "rb"),
            "layout": lambda process=process: open(f"/proc/{process}/maps", "rb").read(),
            "descriptors": lambda process=process: os.listdir(f"/proc/{process}/fd"),
            "kill": lambda process=process: os.kill(process, 0)})
        found.update({f"{way} {name}": outcome for way, outcome in outcomes.items()})
    return found


def bound(*address, options=()):
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for option in options:
        made.setsockopt(socket.SOL_SOCKET, option, 1)
    made.bind(address)
    return made


def taken_ports(own):
    wanted = f"{struct.unpack('=I', socket.inet_aton(own))[0]:08X}:"
    with open("/proc/self/net/udp", encoding="utf-8") as file:
        local = [line.split()[1] for line in list(file)[1:]]
    return [int(address.split(":")[1], 16) for address in local if address.startswith(wanted)]


def packets(about):
    """By sockets of its own: forged, replayed, and from the engine's place."""
    sender = bound("0.0.0.0", 0)
    chance = random.Random(about["seed"])
    to = (about["other"], PORT)
    for kind in [MESSAGE, 2, 3, 4, 5, ABORT, DOORBELL, 0]:
        for _ in range(about["forged"]):
            sender.sendto(nic_job.packet(kind, group=about["victim"], epoch=chance.randrange(1, 99), target=1,
                                         bit=chance.randrange(3), tag=chance.getrandbits(64),
                                         operand=[7] * chance.choice([0, 1, MOST_WORDS])), to)
    for length in (0, 1, 39, 41, 47, 560, 1400):
        sender.sendto(chance.randbytes(length), to)
    for replayed in about["heard"]:
        for _ in range(3):
            sender.sendto(bytes.fromhex(replayed), to)
    both = (socket.SO_REUSEADDR, socket.SO_REUSEPORT)
    ports = taken_ports(about["own"])
    return {"ports": len(ports), **all_tried({
        "raw": lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP),
        "frames": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW),
        "mark": lambda: sender.setsockopt(socket.SOL_SOCKET, SO_MARK, 0x686b6e63),
        "another's address": lambda: sender.setsockopt(socket.IPPROTO_IP, IP_TRANSPARENT, 1)}),
        "their ports": sorted({tried(lambda port=port, ip=ip: bound(ip, port, options=both))
                               for port in ports for ip in (about["own"], "0.0.0.0")})}


def own_doorbell(about):
    """What was lent, put to other uses."""
    job = Job()
    group = job.join(about["id"], members(about))
    doorbell = group.doorbell
    found = {"family": doorbell.family.name, "type": doorbell.type.name, "owner": os.fstat(doorbell.fileno()).st_uid,
             "wake-up socket's owner": os.fstat(group.wakeup_socket.fileno()).st_uid}
    group.ring(program_number=7)
    group.ring(epoch=99)
    group.ring(epoch=0)
    group.ring(kind=ABORT)
    group.ring(kind=ABORT, group=about["victim"])
    for length in (1, 39, 41, 1400):
        tried(lambda length=length: doorbell.send(b"\xff" * length))
    group.ring(group=about["victim"], source=9, target=9, send=200, bit=200)
    for number in {*range(16)} - {group.number}:
        for epoch in range(1, 100):
            group.ring(group=number, epoch=epoch)
    here = {"group": group.number, "epoch": 2}
    if about["engine"] == "kernel":
        option = doorbell.setsockopt
        found.update(all_tried({
            "mark": lambda: option(socket.SOL_SOCKET, SO_MARK, 0x686b6e63),
            "another's address": lambda: option(socket.IPPROTO_IP, IP_TRANSPARENT, 1),
            "raise": lambda: option(socket.SOL_SOCKET, socket.SO_PRIORITY, 7)}))
        for elsewhere in ((about["other"], 9), (about["own"], PORT), ("127.0.0.1", PORT)):
            tried(lambda elsewhere=elsewhere: doorbell.sendto(nic_job.packet(DOORBELL, **here), elsewhere))
        option(socket.IPPROTO_UDP, UDP_SEGMENT, 40)
        tried(lambda: doorbell.send(nic_job.packet(DOORBELL, **here) * 20))
        option(socket.IPPROTO_UDP, UDP_SEGMENT, 0)
        option(socket.IPPROTO_IP, IP_OPTIONS, bytes([1, 1, 1, 0]))
        tried(lambda: doorbell.send(nic_job.packet(DOORBELL, **here)))
        option(socket.IPPROTO_IP, IP_OPTIONS, b"")
        call(42, doorbell.fileno(), struct.pack("=HHIQ", socket.AF_UNSPEC, 0, 0, 0), 16)  # it is connected no more
        found.update(all_tried({"the engine's place": lambda: doorbell.bind((about["own"], PORT)),
                                "a low port": lambda: doorbell.bind((about["own"], 53))}))
    job.close()
    return found


def doorbells_with_content(about):
    """Of operations that a program can't do, one by one; then of one that it can."""
    job = Job()
    group = job.join(about["id"], members(about), programs=[nic_job.program(1, **SUM_OF_TWO), nic_job.program(1)])
    right = {"words": 3, "operation": SUM, "of_type": INT64, "operand": [5, 6, 7]}
    wrong = [{"words": 0}, {"words": 2}, {"words": 65}, {"words": 255}, {"root": 1}, {"root": 65535}, {"operation": 0},
             {"operation": 7}, {"of_type": 0}, {"of_type": 7}, {"operation": 1, "of_type": 3}, {"operand": []},
             {"operand": [1] * 4}, {"operand": [1] * 64}, {"program_number": 1},
             {"program_number": 1, "words": 0, "operation": 0, "of_type": 0},
             {"words": 0, "operation": 0, "of_type": 0, "operand": []}]
    for change in wrong:
        group.ring(**{**right, **change})
    # Another length than any ring's.
    group.ring(**{**right, "words": 65, "operand": [1] * 65})
    group.ring(**right)
    return {"wrong": len(wrong), "done": group.done()}


SECRET = 0x5ec2e7


def leave_operands(about):
    """Operations that end at once: their operands stay where they were."""
    job = Job()
    alone = {"all": STARTED | PUBLISHED, "sends": 0, "stages": 0, "arrivals": 0, "end_sends": []}
    mine = nic_job.program(1, **alone, operands=1, fold=[0], result=(0, 0, WHOLE, 0, 1))
    group = job.join(about["id"], members(about), programs=[mine])
    call = {"words": MOST_WORDS, "operation": SUM, "of_type": INT64}
    for epoch in range(1, WINDOW + 1):
        group.ring(epoch=epoch, **call, operand=[SECRET] * MOST_WORDS)
        wait_for(group, epoch)
    return {"kept": sum(group.result(epoch) == (SECRET,) * MOST_WORDS for epoch in range(WINDOW - 15, WINDOW + 1))}


def look_for_operands(about):
    """Results of what has never come."""
    job = Job()
    alone = {"all": STARTED | PUBLISHED, "sends": 0, "stages": 0, "arrivals": 0, "end_sends": []}
    found = 0
    for number, place in enumerate(range(1, 4)):
        group = job.join(about["id"] + number, members(about), programs=[
            nic_job.program(1, **alone, operands=4, fold=[place], result=(0, 0, WHOLE, 0, 1))])
        for epoch in range(1, WINDOW + 1):
            group.ring(epoch=epoch, words=MOST_WORDS, operation=SUM, of_type=INT64, operand=[0] * MOST_WORDS)
            wait_for(group, epoch)
            found += any(group.result(epoch))
    return {"found": found}


def wait_for(group, epoch):
    until = time.monotonic() + 10
    while group.done() < epoch and time.monotonic() < until:
        time.sleep(0.001)


def doorbell(about):
    job = Job()
    first = job.join(about["id"], members(about)).doorbell
    second = job.join(about["id"] + 1000, members(about)).doorbell
    return {"family": first.family.name, "another": second is not first}


def doorbells_of_changing_rights(about):
    """With the right to send raw packets, without, with it again."""
    job = Job()
    groups = []
    for number, user in enumerate((0, NOBODY, 0)):
        os.seteuid(user)
        groups.append(job.join(about["id"] + number, members(about)))
        os.seteuid(0)
    for group in groups:
        group.ring()
    return {"families": [group.doorbell.family.name for group in groups],
            "same": groups[2].doorbell is groups[0].doorbell}


def strange_source(about):
    """One's own group is told by a member that it hasn't: whose address is that?"""
    job = Job()
    key = (5, 6)
    group = job.join(about["id"], members(about), key=key)
    struct.pack_into("=I", group.page, nic_job.SLEEPS_AT, 1)
    print("joined", flush=True)
    sys.stdin.readline()  # meanwhile somebody sends them
    group.wakeup_socket.settimeout(0.2)
    heard = []
    while True:
        try:
            heard.append(group.wakeup_socket.recvfrom(100)[1])
        except TimeoutError:
            return {"heard": heard}


def report_strangely(about):
    sender = bound("0.0.0.0", 0)
    for source in range(2, 40):
        sender.sendto(nic_job.packet(ABORT, group=about["id"], source=source, key=(5, 6)), (about["other"], PORT))
    return {}


WAYS = [maps, processes, packets, own_doorbell, doorbell, doorbells_with_content, leave_operands, look_for_operands,
        doorbells_of_changing_rights, strange_source, report_strangely, *nic_hostile_requests.WAYS]

if __name__ == "__main__":
    print(json.dumps({way.__name__: way for way in WAYS}[sys.argv[1]](json.loads(sys.argv[2]))))
