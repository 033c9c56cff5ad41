# SPDX-License-Identifier: BSD-3-Clause
"""A job of a NIC engine, byte by byte as protocol/service.h and protocol/packet.h have it: for those that say what the
library never would."""

import array
import errno
import mmap
import os
import socket
import struct

PORT = 46253
VERSION = 5
HELLO, JOIN, LEAVE, STATUS, DOWN = 1, 2, 3, 4, 5
MESSAGE, NACK, ALIVE, PROBE, ACK, ABORT = 1, 2, 3, 4, 5, 6
DOORBELL = 15
STARTED = 1 << 47
VETOED = PUBLISHED = 1 << 46
ACKNOWLEDGED, VOTES, TO_ROOT, FROM_ROOT = 2, 4, 8, 16
ALL, ROOT, HUB, NOT_USED = 65535, 65534, 65533, 65532
NO_OPERAND = WHOLE = 255
SUM, INT64 = 4, 1
HELLO_BYTES, JOINED_BYTES = 296, 388
MOST_STAGES, MOST_SENDS, MOST_ARRIVALS, MOST_FOLDS = 16, 47, 47, 64
MOST_WORDS, IN_FLIGHT, WINDOW = 64, 16, 40
SLEEPS_AT, RESULTS_AT = 64, 128
PAGE_BYTES = 12288  # three pages of the machine's
LIMIT_S = 20
_MASK = (1 << 64) - 1
_JOIN = struct.Struct("=IIQQQQHHHH")
_PROGRAM = struct.Struct("=QQQBBBBBBBB6s2x16Q16s")
_SEND, _ARRIVAL = struct.Struct("=HBBBB"), struct.Struct("=HBBBx")


def request(kind, version=VERSION):
    return struct.pack("=II", version, kind)


def ip_bytes(text):
    return socket.inet_aton(text)


def _send(member=0, bit=0, part=WHOLE, first=0, end=0):
    return _SEND.pack(member, bit, part, first, end)


def _arrival(member=0, send=0, operand=NO_OPERAND, part=WHOLE):
    return _ARRIVAL.pack(member, send, operand, part)


def program(other, **changes):
    """A barrier between two: one message there, one from there."""
    about = {"all": STARTED | 1, "stages": 1, "sends": 1, "arrivals": 1, "needs": [STARTED], "end_sends": [1],
             "send": [(other, 0)], "arrival": [(other, 0)], "instead": 0, "flags": 0, "question": 0, "operands": 0,
             "slices": 0, "folds": None, "fold": [], "result": (), "pooled": 0, **changes}
    folds = len(about["fold"]) if about["folds"] is None else about["folds"]
    numbers = ("all", "instead", "pooled", "stages", "sends", "arrivals", "flags", "question", "operands", "slices")
    packed = _PROGRAM.pack(*(about[name] for name in numbers), folds, _send(*about["result"]),
                           *(about["needs"] + [0] * (MOST_STAGES - len(about["needs"]))), bytes(about["end_sends"]))
    for name, pack, most in (("send", _send, MOST_SENDS + 1), ("arrival", _arrival, MOST_ARRIVALS + 1)):
        packed += b"".join(pack(*row) for row in about[name] + [()] * (most - len(about[name])))
    return packed + bytes(about["fold"]).ljust(MOST_FOLDS, b"\0")


# What a program has beside a barrier's that gives both the sum of what their hosts gave.
SUM_OF_TWO = {"all": STARTED | PUBLISHED | 1, "operands": 2, "fold": [0, 1], "result": (NOT_USED, 0, WHOLE, 0, 2),
              "send": [(1, 0, WHOLE, 0, 1)], "arrival": [(1, 0, 1)]}


def join_request(identity, members, **changes):
    """Of member 0; `members`: (address, port)."""
    about = {"rank": 0, "size": len(members), "silence_ns": 0, "key": (1, 2), "count": None,
             "programs": [program(1)], "has_doorbell": 0, **changes}
    count = len(about["programs"]) if about["count"] is None else about["count"]
    head = _JOIN.pack(VERSION, JOIN, identity, *about["key"], about["silence_ns"], about["rank"], about["size"], count,
                      about["has_doorbell"])
    peers = b"".join(ip_bytes(ip) + struct.pack("!H", port) + bytes(2) for ip, port in members)
    return head + b"".join(about["programs"]) + peers


def siphash(key, words):
    """SipHash-2-4 of words, as their little-endian bytes."""
    def rotate(word, bits):
        return (word << bits | word >> (64 - bits)) & _MASK

    def mix():
        v[0] = (v[0] + v[1]) & _MASK
        v[1] = rotate(v[1], 13) ^ v[0]
        v[0] = rotate(v[0], 32)
        v[2] = (v[2] + v[3]) & _MASK
        v[3] = rotate(v[3], 16) ^ v[2]
        v[0] = (v[0] + v[3]) & _MASK
        v[3] = rotate(v[3], 21) ^ v[0]
        v[2] = (v[2] + v[1]) & _MASK
        v[1] = rotate(v[1], 17) ^ v[2]
        v[2] = rotate(v[2], 32)

    low, high = key
    v = [low ^ 0x736f6d6570736575, high ^ 0x646f72616e646f6d, low ^ 0x6c7967656e657261, high ^ 0x7465646279746573]
    for word in [*words, len(words) << 59 & _MASK]:
        v[3] ^= word
        mix()
        mix()
        v[0] ^= word
    v[2] ^= 0xff
    for _ in range(4):
        mix()
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def packet(kind, *, group=0, epoch=1, source=0, target=0, program_number=0, bit=0, send=0, root=0, words=0,
           operation=0, of_type=0, operand=(), key=None, tag=0):
    head = [0x684b4e43 << 32 | 3 << 28 | kind << 24 | program_number << 16 | root, group, epoch,
            source << 48 | target << 32 | send << 24 | bit << 16 | words << 8 | operation << 4 | of_type]
    return (struct.pack("!5Q", *head, siphash(key, [*head, *operand]) if key else tag)
            + struct.pack(f"<{len(operand)}Q", *operand))


class Refused(Exception):
    """What the service has answered."""


class Group:
    def __init__(self, number, doorbell_bytes, words_at, is_shared, doorbell, descriptors, doorbell_before):
        self.number = number
        self.template = doorbell[:doorbell_bytes]
        self.words_at = words_at
        self.page_descriptor = descriptors[0]
        self.wakeup_socket = socket.socket(fileno=descriptors[1])
        self.is_shared = is_shared != 0
        self.doorbell = socket.socket(fileno=descriptors[2]) if len(descriptors) > 2 else doorbell_before
        self.page = mmap.mmap(self.page_descriptor, os.fstat(self.page_descriptor).st_size or PAGE_BYTES)

    def ring(self, **words):
        at = self.words_at
        words = {"group": self.number, **words}
        rung = self.template[:at] + packet(words.pop("kind", DOORBELL), **words)
        try:
            self.doorbell.send(rung)
        except OSError as error:
            if error.errno != 105:  # ENOBUFS: the engine has kept it
                raise

    def done(self):
        return struct.unpack_from("=Q", self.page, 0)[0]

    def result(self, epoch):
        return struct.unpack_from(f"<{MOST_WORDS}Q", self.page, RESULTS_AT + epoch % IN_FLIGHT * 8 * MOST_WORDS)


class Job:
    def __init__(self, interface="eth0"):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(LIMIT_S)
        self.socket.connect(f"\0hocket-nic/{interface}")
        self.doorbell = None

    def ask(self, message):
        """The answer and what came with it; b"": it has hung up."""
        self.socket.send(message)
        return self.hear()

    def hear(self):
        try:
            answer, control, _, _ = self.socket.recvmsg(1 << 17, socket.CMSG_SPACE(12))
        except ConnectionResetError:
            return b"", []
        descriptors = array.array("i")
        for _, _, data in control:
            descriptors.frombytes(data)
        return answer, list(descriptors)

    def join(self, identity, members, **changes):
        answer, descriptors = self.ask(
            join_request(identity, members, has_doorbell=int(self.doorbell is not None), **changes))
        error, text = struct.unpack_from("=i240s", answer, 4)
        if error != 0:
            raise Refused(os.strerror(error) + ": " + text.split(b"\0")[0].decode())
        group = Group(*struct.unpack_from("=IHHI128s", answer, 248), descriptors, self.doorbell)
        if group.is_shared:
            self.doorbell = group.doorbell
        return group

    def close(self):
        self.socket.close()


def tried(action):
    try:
        action()
    except Refused as refusal:
        return str(refusal)
    except OSError as error:
        return errno.errorcode[error.errno]
    return "done"


def all_tried(actions):
    return {name: tried(action) for name, action in actions.items()}


def members(about):
    return [(about["own"], PORT), (about["other"], PORT)]
