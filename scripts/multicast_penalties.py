#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How many messages of the chain ranks waited for because they had missed multicasts: penalty rounds.

    HOCKET_LOG=debug HOCKET_MULTICAST=on HOCKET_BROADCAST=multicast hocket lab mpirun --mpi mpich --with-hocket \\
        ./broadcasts 10000 1000 2> log
    scripts/multicast_penalties.py --ranks 16 --broadcasts 10000 --share 0.5 log

Reads what ranks say of multicasts that they have missed. A rank waits for as many messages as there are ranks in a row,
up to itself, that have missed the same one: rank after rank from the root on. Beside it what to expect if each misses a
given share by itself: e + e^2 + ... of a rank as far from the root as there are terms (Hoefler, Siebert, Rehm, A
practically constant-time MPI Broadcast Algorithm for large-scale InfiniBand Clusters with Multicast, section 2:
e / (1 - e) without end). Broadcasts of one fragment only, blocking, on one communicator.
"""

import argparse
import collections
import re
import sys

MISSED = re.compile(r"rank (\d+): missed message (\d+) of rank (\d+) by multicast \(stream 0\)")


def runs_of(ranks, missing):
    """Of each rank but the root, by its distance in the chain: how long the row is that ends with it; 0: heard it."""
    length = 0
    for distance in range(1, ranks):
        length = length + 1 if distance in missing else 0
        yield length


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", type=argparse.FileType("r", encoding="utf-8", errors="replace"),
                        help="what the ranks wrote to stderr with HOCKET_LOG=debug; - for stdin")
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--broadcasts", type=int, required=True, help="how many there were")
    parser.add_argument("--share", type=float, help="of multicasts that each rank misses; default: what was seen")
    arguments = parser.parse_args()
    if arguments.ranks < 2 or arguments.broadcasts < 1:
        parser.error("at least two ranks and one broadcast are wanted")
    if arguments.share is not None and not 0 <= arguments.share <= 1:
        parser.error(f"--share {arguments.share}: from 0 to 1, as 0.5 for half of them")
    log = arguments.log.read()
    if "messages awaited" not in log:
        sys.exit("multicast_penalties: in this log no rank tells of its multicasts; it has to be that of a whole run "
                 "with HOCKET_LOG=debug, in which they were used")

    missed = collections.defaultdict(set)  # the broadcast -> distances from its root
    for rank, number, source in (map(int, found) for found in MISSED.findall(log)):
        missed[source, number].add((rank - source) % arguments.ranks)
    if len(missed) > arguments.broadcasts:
        sys.exit(f"multicast_penalties: {len(missed)} broadcasts were missed by somebody, more than the "
                 f"{arguments.broadcasts} of --broadcasts")
    receptions = arguments.broadcasts * (arguments.ranks - 1)
    share = sum(map(len, missed.values())) / receptions
    waits = [list(runs_of(arguments.ranks, distances)) for distances in missed.values()]
    mean = sum(map(sum, waits)) / receptions
    longest = sum(map(max, waits)) / arguments.broadcasts
    expected = arguments.share if arguments.share is not None else share
    powers = [expected ** exponent for exponent in range(1, arguments.ranks)]
    predicted = sum(sum(powers[:distance]) for distance in range(1, arguments.ranks)) / (arguments.ranks - 1)
    print(f"missed {share:.1%}; penalty rounds of a rank: {mean:.3f}, predicted {predicted:.3f}; "
          f"longest of a broadcast: mean {longest:.2f}, most {max(map(max, waits), default=0)}")


if __name__ == "__main__":
    main()
