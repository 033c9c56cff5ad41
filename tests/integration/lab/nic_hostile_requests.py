# SPDX-License-Identifier: BSD-3-Clause
"""What a hostile job says to the service of a NIC engine."""

import json
import os
import random
import resource
import signal
import socket
import struct
import sys
import time

import nic_job
from nic_job import (ACKNOWLEDGED, ALL, DOWN, FROM_ROOT, HELLO, HUB, JOIN, LEAVE, NOT_USED, PORT, PUBLISHED, ROOT,
                     STARTED, STATUS, SUM_OF_TWO, TO_ROOT, VETOED, VOTES, WHOLE, Job, Refused, members, request, tried)


VOTE = {"flags": VOTES, "instead": STARTED | VETOED | 1}

CONTENT_FLAWS = {
    "operands": {"operands": 49}, "folds": {"folds": 65}, "list of what isn't there": {"fold": [0, 2]},
    "list, from the left": {"fold": [0, 0x82]}, "no operands at all": {"operands": 0},
    "slices of three": {"slices": 3}, "slices of too many": {"slices": 65},
    "slices in one place": {"slices": 2, "operands": 1, "fold": [0, 0], "arrival": [(1, 0, 0)]},
    "result, backwards": {"result": (0, 0, WHOLE, 2, 1)}, "result too long": {"result": (0, 0, WHOLE, 0, 3)},
    "result behind the list": {"result": (0, 0, WHOLE, 200, 201)},
    "result of a slice": {"slices": 2, "result": (0, 0, 0, 0, 1)},
    "result of no slice": {"result": (0, 0, 0, 0, 1)},
    "message, backwards": {"send": [(1, 0, WHOLE, 1, 0)]}, "message too long": {"send": [(1, 0, WHOLE, 0, 3)]},
    "message of no slice": {"send": [(1, 0, 0, 0, 1)]},
    "message of a slice too many": {"slices": 2, "send": [(1, 0, 2, 0, 1)]},
    "place that isn't there": {"arrival": [(1, 0, 2)]}, "place of none": {"arrival": [(1, 0, 254)]},
    "slice of none": {"arrival": [(1, 0, 1, 0)]}, "slice too many": {"slices": 2, "arrival": [(1, 0, 1, 2)]},
    "pool of what it hasn't": {"send": [(1, 0, WHOLE, 0, 2)], "pooled": 7},
    "pool of part of it": {"send": [(1, 0, WHOLE, 0, 2)], "pooled": 1},
    "pool that is sent in parts": {"pooled": 3}, "pool without content": {"operands": 0, "pooled": 1},
    "pool of slices": {"slices": 2, "pooled": 2, "result": (0, 0, WHOLE, 1, 2)},
    "acknowledged": {"flags": ACKNOWLEDGED},
    "voted about": {"flags": VOTES, "all": STARTED | 1, "instead": STARTED | VETOED | 1, "result": ()},
    "no bit for the result": {"arrivals": 47, "arrival": [(1, 0, 1)] * 47, "all": STARTED | 1, "result": ()},
    "result that nobody waits for": {"all": STARTED | 1}, "wait for no result": {"result": ()},
    "root that gives and gets": {"flags": TO_ROOT | FROM_ROOT},
    "message to a root where there is none": {"send": [(ROOT, 0, WHOLE, 0, 1)]},
    "message to the hub where there is none": {"send": [(HUB, 0, WHOLE, 0, 1)]},
    "message from a root where there is none": {"arrival": [(ROOT, 0, 1)]},
    "arrival that is not used where there is no root": {"arrival": [(NOT_USED, 0, 1)]},
    "message of the hub's to itself": {"flags": TO_ROOT, "send": [(HUB, 0, WHOLE, 0, 1)]},
    "message that is not used": {"flags": TO_ROOT, "send": [(NOT_USED, 0, WHOLE, 0, 1)]},
    "message from the hub by name": {"flags": TO_ROOT, "arrival": [(HUB, 0, 1)]}}
ROOT_FLAWS = {
    "that gets nothing": {"flags": TO_ROOT}, "that gives nothing": {"flags": FROM_ROOT},
    "to be sent to": {"flags": TO_ROOT, "send": [(ROOT, 0)]}, "result of a barrier": {"all": STARTED | PUBLISHED | 1},
    "content of a barrier": {"send": [(1, 0, WHOLE, 0, 1)]}, "place of a barrier": {"arrival": [(1, 0, 0)]},
    "result of nothing": {"result": (0, 0, WHOLE, 0, 1)}, "list of a barrier": {"fold": [0]},
    "slices of a barrier": {"slices": 2}}


def flaws(about):
    """Requests to join that are wrong, one by one."""
    mine = members(about)
    own, other = about["own"], about["other"]
    wrong = {
        "another's id": join(about["victim"], mine),
        "no program": join(1, mine, programs=[]),
        "programs that aren't there": join(1, mine, count=8),
        "seventeen programs": join(1, mine, programs=[nic_job.program(1)] * 17),
        "one member": join(1, mine[:1]), "self of none": join(1, mine, rank=2),
        "members that aren't there": join(1, mine, size=4096),
        "another's address": join(1, [(other, PORT), (own, PORT)]),
        "another port of one's own": join(1, [(own, 53), (other, PORT)]),
        "another port": join(1, [(own, PORT), (other, 53)]),
        "oneself as another": join(1, [(own, PORT), (own, PORT)]),
        "loopback": join(1, [(own, PORT), ("127.0.0.1", PORT)]),
        "nowhere": join(1, [(own, PORT), ("0.0.0.0", PORT)]),
        "everybody": join(1, [(own, PORT), ("255.255.255.255", PORT)]),
        "many": join(1, [(own, PORT), ("239.1.1.1", PORT)]),
        "eternity": join(1, mine, silence_ns=2 ** 64 - 1), "two days": join(1, mine, silence_ns=2 * 86400 * 10 ** 9)}
    for name, changes in {
            "stages": {"stages": 17}, "sends": {"sends": 48}, "arrivals": {"arrivals": 48},
            "end of sends": {"end_sends": [2]}, "order of sends": {"stages": 2, "needs": [STARTED] * 2,
                                                                  "end_sends": [1, 0]},
            "before the start": {"needs": [1]}, "never reached": {"needs": [STARTED | 2]},
            "stages apart": {"stages": 2, "needs": [STARTED | 1, STARTED], "end_sends": [0, 1]},
            "mask": {"all": STARTED | 3}, "mask without a start": {"all": 1, "needs": [1]},
            "to nobody": {"send": [(2, 0)]}, "to oneself": {"send": [(0, 0)]},
            "from nobody": {"arrival": [(2, 0)]}, "from oneself": {"arrival": [(0, 0)]},
            "to all": {"send": [(ALL, 0)]}, "from all": {**VOTE, "arrival": [(ALL, 0)]},
            "vote, acknowledged": {**VOTE, "flags": VOTES | ACKNOWLEDGED},
            "vote that nothing follows": {**VOTE, "instead": STARTED | 1},
            "vote that is vetoed already": {**VOTE, "all": STARTED | 1 | VETOED},
            "vote whose ends are apart": {**VOTE, "instead": STARTED | VETOED},
            "vote with a mask": {**VOTE, "instead": STARTED | VETOED | 3},
            "vote without a bit": {**VOTE, "arrivals": 47, "arrival": [(1, 0)] * 47},
            "vote that nobody asks for": {**VOTE, "needs": [1], "question": 1},
            "vote of a late stage": {**VOTE, "stages": 2, "needs": [1, 1], "end_sends": [0, 1]}}.items():
        wrong[f"program: {name}"] = join(1, mine, programs=[nic_job.program(1, **changes)])
    for name, changes in CONTENT_FLAWS.items():
        wrong[f"content: {name}"] = join(1, mine, programs=[nic_job.program(1, **{**SUM_OF_TWO, **changes})])
    for name, changes in ROOT_FLAWS.items():
        wrong[f"root: {name}"] = join(1, mine, programs=[nic_job.program(1, **changes)])
    return {name: tried(action) for name, action in wrong.items()}


def join(identity, them, **changes):
    def action():
        job = Job()
        try:
            job.join(identity, them, **changes)
        finally:
            job.close()
    return action


def requests(about):
    """Of what isn't one's own, and what no library would say."""
    job = Job()
    status = json.loads(job.ask(request(STATUS))[0])
    found = {"groups": status["groups"], "down": struct.unpack_from("=i", job.ask(request(DOWN))[0], 4)[0],
             "leave": []}
    for group in range(300):
        other = Job()
        other.socket.send(request(LEAVE) + struct.pack("=II", group, 0))
        found["leave"].append(len(other.hear()[0]))
        other.close()
    found["leave"] = sorted(set(found["leave"]))
    found["version"] = len(job.ask(request(HELLO, version=9))[0]) > 0
    return found


def fuzz(about):
    """Thousands of messages by chance; after each the service greets, or has hung up."""
    chance = random.Random(about["seed"])
    good = nic_job.join_request(1, members(about))
    job, counts = Job(), {"greeted": 0, "hung up": 0}
    for number in range(about["messages"]):
        message = request(chance.choice([JOIN, LEAVE, STATUS, DOWN, 0, 77])) + chance.randbytes(chance.randrange(300))
        if number % 2 == 0:
            message = bytearray(good)
            for _ in range(chance.randrange(1, 4)):
                message[chance.randrange(len(good))] = chance.randrange(256)
            struct.pack_into("=Q", message, 8, number)
        if number % 50 == 0:
            message = chance.randbytes(chance.randrange(1, 60000))
        try:
            job.socket.send(message)
            job.socket.send(request(HELLO))
        except OSError:
            pass
        answer = b"none"
        while answer and len(answer) != nic_job.HELLO_BYTES:
            answer, descriptors = job.hear()
            for descriptor in descriptors:
                os.close(descriptor)
        counts["greeted" if answer else "hung up"] += 1
        if not answer or number % 20 == 0:
            job.close()
            job = Job()
    return counts


def deaths(about):
    """Processes that end at each point of what they say."""
    whole = nic_job.join_request(0, members(about))
    for point in range(6):
        for number in range(8):
            if os.fork() != 0:
                continue
            job = Job()
            said = bytearray(whole)
            struct.pack_into("=Q", said, 8, 1000 + 10 * point + number)
            if point == 1:
                job.socket.send(request(HELLO))
            elif point == 2:
                job.socket.send(said[:-1])
            elif point == 3:
                job.socket.send(said)
            elif point == 4:
                job.ask(bytes(said))
            elif point == 5:
                Job().join(2000 + number, members(about)).ring()
            os.kill(os.getpid(), signal.SIGKILL)
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return {}


def deaf(about):
    """Asks and asks, and never reads what it is told."""
    jobs = [Job() for _ in range(20)]
    for job in jobs:
        job.socket.setblocking(False)
        with_status = request(STATUS)
        until = time.monotonic() + 5
        while time.monotonic() < until:
            try:
                job.socket.send(with_status)
            except BlockingIOError:
                os.sched_yield()
            except OSError:
                break
    silent = Job()
    return {"greeted": len(silent.ask(request(HELLO))[0])}


def groups(about):
    """As many as it gets."""
    job = Job()
    made = []
    wide = {"operands": about.get("operands", 0)}
    programs = [nic_job.program(1, **{**SUM_OF_TWO, **wide} if wide["operands"] else {})]
    while True:
        try:
            many = [(about["own"], PORT)] + [(about["other"], PORT)] * (about["size"] - 1)
            group = job.join(about.get("first", 10 ** 6) + len(made), many, programs=programs)
            for descriptor in (group.doorbell, group.wakeup_socket):
                descriptor.close()
            made.append(group.number)
        except Refused as refusal:
            return {"made": len(made), "refusal": str(refusal)}


def connections(about):
    """As many as it gets, each of which says nothing."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    jobs = [Job() for _ in range(about["most"])]
    last = jobs[-1].hear()[0][8:248].split(b"\0")[0].decode()
    jobs[0].socket.send(request(HELLO))
    first = len(jobs[0].hear()[0])
    print(json.dumps({"last": last, "first": first}), flush=True)
    sys.stdin.readline()
    return {}


def impostor(about):
    """Takes the name of a service before anybody has it."""
    taken = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    taken.bind("\0hocket-nic/" + about["interface"])
    taken.listen(8)
    print("{}", flush=True)
    sys.stdin.readline()
    return {}


def silent_neighbour(about):
    return {"answer": tried(join(1, [(about["own"], PORT), ("10.77.0.99", PORT)]))}


WAYS = [flaws, requests, fuzz, deaths, deaf, groups, connections, impostor, silent_neighbour]
