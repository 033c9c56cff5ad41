# SPDX-License-Identifier: BSD-3-Clause
"""What the trace of traced.c says.

  traced_test.py TRACE RANKS [--nodes N] [--ring]
"""

import argparse
import collections
import json
import sys

LATE = 1
LATE_US = 50_000
CLOCKS_US = 2_000  # where ranks share cores, a round trip takes a slice


def slices_in(call, slices):
    """Those of the call's rank within its time."""
    return [one for one in slices if one is not call and one["tid"] == call["tid"] and one["ts"] >= call["ts"] and
            one["ts"] + one["dur"] <= call["ts"] + call["dur"] + 0.002]


def check_nesting(slices):
    """Slices of a track lie in each other or behind each other."""
    tracks = collections.defaultdict(list)
    for one in slices:
        tracks[one["pid"], one["tid"]].append(one)
    for track in tracks.values():
        open_until = []
        for one in sorted(track, key=lambda other: (other["ts"], -other["dur"])):
            end = one["ts"] + one["dur"]
            while open_until and open_until[-1] <= one["ts"] + 0.002:
                open_until.pop()
            assert not open_until or end <= open_until[-1] + 0.002, f"{one} ends after the slice that it begins in"
            open_until.append(end)


def check_arrows(events, calls):
    """Each goes from the beginning of a call of another rank of the node to a call that it is in."""
    ends = collections.defaultdict(dict)
    for one in events:
        if one["ph"] in "sf":
            assert one["ph"] not in ends[one["id"]], f"{one}: the id is another arrow's, too"
            ends[one["id"]][one["ph"]] = one
    begins = {(call["pid"], call["tid"], round(call["ts"], 3)) for call in calls}
    missing = 0
    for arrow in ends.values():
        tail, head = arrow["s"], arrow["f"]
        assert tail["tid"] != head["tid"] and tail["pid"] == head["pid"], arrow
        missing += (tail["pid"], tail["tid"], round(tail["ts"], 3)) not in begins
    assert ends and not missing, f"{missing} of {len(ends)} arrows begin where no call does"


def check_who_is_late(calls, slices, ranks, nodes):
    """In barriers the late rank is named by the others of its node."""
    waited = collections.Counter()
    for call in calls:
        if call["name"] != "MPI_Barrier":
            continue
        for part in slices_in(call, slices):
            if part["name"].startswith("wait for rank"):
                waited[call["tid"], part["args"]["rank"]] += part["dur"]
    print("us in barriers, by who waits and for whom:", dict(waited))
    for rank in range(ranks):
        if rank == LATE or rank * nodes // ranks != LATE * nodes // ranks:
            continue
        for_late = waited[rank, LATE]
        for_others = sum(us for (who, whom), us in waited.items() if who == rank and whom != LATE)
        assert for_late > LATE_US / 2 and for_late > for_others, f"rank {rank} did not wait for rank {LATE}"


def check_clocks(calls):
    """All ranks are in a barrier at one time, on whatever node."""
    together = collections.defaultdict(list)
    for call in calls:
        if call["name"] == "MPI_Barrier":
            together[call["args"]["communicator"], call["args"]["call"]].append(call)
    for one, of_ranks in together.items():
        latest = max(call["ts"] for call in of_ranks)
        soonest = min(call["ts"] + call["dur"] for call in of_ranks)
        assert latest <= soonest + CLOCKS_US, f"barrier {one}: one rank came {latest - soonest} us after another left"


def check_names(calls):
    """Calls are of communicators by their names."""
    found = {(call["name"], call["args"].get("communicator name")) for call in calls}
    for expected in (("MPI_Barrier", "MPI_COMM_WORLD"), ("MPI_Allreduce", "copy"), ("MPI_Allreduce", '"renamed" copy')):
        assert expected in found, f"{expected} is not among {found}"


def main():
    """Fails by an assertion."""
    parser = argparse.ArgumentParser()
    parser.add_argument("trace")
    parser.add_argument("ranks", type=int)
    parser.add_argument("--nodes", type=int, default=1)
    parser.add_argument("--ring", action="store_true")
    options = parser.parse_args()
    with open(options.trace, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    assert all(one["tid"] > 0 and one["pid"] > 0 for one in events if "tid" in one), "viewers take 0 for the idle one"
    for one in events:
        if "tid" in one:
            one["tid"] -= 1  # the rank
    slices = [one for one in events if one["ph"] == "X"]
    calls = [one for one in slices if one["cat"] == "collective"]
    names = {one["tid"]: one["args"]["name"] for one in events if one["name"] == "thread_name"}
    ranks = [rank for rank in range(options.ranks) if not options.ring or rank != LATE]
    assert names == {rank: f"rank {rank}" for rank in ranks}, names
    assert len({one["pid"] for one in slices}) == options.nodes
    check_nesting(slices)
    beside = collections.Counter((one["name"], one["ph"]) for one in events if one["ph"] in "be")
    if options.ring:
        for rank in ranks:
            assert beside[f"rank {rank}: MPI_Barrier, not over", "b"] == 1, beside
        # Of the 50 that were asked for; a ring has room for a power of two.
        assert all(sum(one["tid"] == rank for one in slices) <= 64 for rank in ranks)
    else:
        check_who_is_late(calls, slices, options.ranks, options.nodes)
        check_arrows(events, calls)
        check_clocks(calls)
        check_names(calls)
        receive = next(one for one in slices if one["name"] == "MPI_Recv" and one["tid"] == 0)
        assert receive["args"] == {"peer": LATE, "tag": 5} and receive["dur"] > LATE_US / 2, receive
        for call in calls:
            if call["name"] == "MPI_Bcast":
                assert call["args"]["root"] == LATE and call["args"]["bytes"] == 4, call
        assert all(call["args"]["algorithm"] for call in calls)
        reduced = {one["tid"] for one in slices if one["name"] == "reduce"}
        assert reduced, "no rank combined anything"
        if options.nodes == 1:
            for rank in ranks:
                for end in "be":
                    assert beside[f"rank {rank}: MPI_Allreduce", end] == 1, beside
    print(f"traced_test: passed, {len(slices)} slices")


if __name__ == "__main__":
    sys.exit(main())
