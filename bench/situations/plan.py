# SPDX-License-Identifier: BSD-3-Clause
"""Which cells are measured: the processes that are started for a number of ranks, and what each of them measures.

A cell is a situation and a call. Processes of situations.c measure a list of cells, those of peer.c a list of places,
each with some accesses. The full list of calls is measured in the tight loop and beside one kind of window."""

BLOCKING = ("bcast", "reduce", "allreduce", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv",
            "alltoall", "alltoallv", "alltoallw", "reduce_scatter_block", "reduce_scatter", "scan", "exscan",
            "neighbor_alltoall", "neighbor_allgather", "sendrecv")
STARTED = ("iallreduce", "ibcast", "iallgather", "ialltoall", "ineighbor_alltoall", "persistent_allreduce")
OF_ONE_ROOT = ("bcast_of_0_8", "reduce_of_0_8", "gather_of_0_8", "scatter_of_0_8")
LOOPS = ("test_ibarrier", "test_iallreduce_8", "get_status_of_ibarrier", "testall_of_two", "testany_of_two",
         "testsome_of_two", "iprobe_ring", "improbe_ring", "parrived_ring")
EXCHANGES = ("waitany_of_200", "waitsome_of_200", "waitall_of_200")
FEW = ("barrier", "bcast_8", "allreduce_8", "allgather_8", "alltoall_8", "sendrecv_8", "ibarrier", "test_ibarrier")
SOME = (*FEW, "allreduce_64K", "alltoall_64K", "sendrecv_64K", "gather_8", "scan_8", "neighbor_alltoall_8",
        "iallreduce_8", "eight_iallreduce", "iprobe_ring")

ACCESSES = {"rma": ("lock_get_unlock", "accumulate_4K", "fetch_and_op"),
            "messages": ("ssend", "send_64K", "iprobe_64K")}
PROCESSOR_OF = {"rma": "window", "messages": "messages"}


def of_length(length):
    return (*(f"{name}_{length}" for name in BLOCKING), *(f"{name}_{length}" for name in STARTED))


SHORT = ("barrier", *of_length("8"), *OF_ONE_ROOT, "ibarrier", "eight_iallreduce", "split_barrier_free", *LOOPS,
         *EXCHANGES)


class Start:
    """A process start: a program, its words, where its ranks run, and its units: (word, [cells]), a cell being a
    (situation, call)."""

    def __init__(self, name, program, units, **how):
        self.name, self.program, self.units = name, program, units
        self.words, self.seconds = how.get("words", {}), how.get("seconds", 0)
        self.one_core, self.foreign = how.get("one_core", False), how.get("foreign", False)

    def only(self, is_wanted):
        """With the wanted cells only: is_wanted(situation, call)."""
        units = [(unit, kept) for unit, cells in self.units if (kept := [cell for cell in cells if is_wanted(*cell)])]
        return Start(self.name, self.program, units, words=self.words, seconds=self.seconds, one_core=self.one_core,
                     foreign=self.foreign)

    def shares_cores(self, ranks, cores):
        return ranks > cores or self.one_core or self.foreign


def waited_s(situation):
    """Seconds that rank 0 waits for the last rank, each time."""
    for name, unit in (("dup_first_", 1), ("first_", 1), ("late_", 1e-3)):
        if situation.startswith(name):
            return float(situation.removeprefix(name)) * unit
    return 0


def calls_start(name, cells, label="", seconds=0, **how):
    """`cells` are pairs of situations.c; in results their situation is preceded by `label`, which replaces `tight`."""
    units = []
    for situation, call in cells:
        shown = situation if not label else label if situation == "tight" else f"{label}_{situation}"
        measured = [(shown, call), *([(shown, "processor_nothing")] if waited_s(situation) >= 0.2 else [])]
        units.append((f"{situation}:{call}", measured))
    repeated = sum(waited_s(situation) * (1 if waited_s(situation) >= 1 else 3) for situation, _ in cells)
    return Start(name, "situations.c", units, seconds=seconds + repeated, **how)


def peer_start(group, silence, places):
    shown = [*ACCESSES[group], *([f"processor_{PROCESSOR_OF[group]}"] if silence >= 0.05 else [])]
    units = [(place, [(f"peer_{place}_{silence:g}", access) for access in shown]) for place in places]
    return Start(f"peer_{group}_{silence:g}", "peer.c", units, words={"group": group, "silence_s": silence},
                 seconds=silence * len(places))


def pairs(situations, calls):
    return [(situation, call) for situation in situations for call in calls]


def peers_of(ranks):
    everywhere = ("first", "later", "receive")
    usual = [peer_start("rma", 0.1, everywhere), peer_start("messages", 0.1, everywhere)]
    if ranks > 4:
        return usual
    if ranks > 2:
        return [*usual, peer_start("rma", 0, ("first", "later")), peer_start("rma", 1, ("first",))]
    return [*usual, peer_start("rma", 0, ("first", "later")), peer_start("messages", 0, ("first", "later")),
            peer_start("rma", 1, everywhere), peer_start("messages", 1, ("first", "receive"))]


def starts_of(ranks, has_long_silence=False):
    """All starts for this number of ranks. A long silence takes eleven seconds, twice."""
    is_small = ranks <= 4
    long_calls = of_length("64K") if is_small else ("bcast_64K", "allreduce_64K", "alltoall_64K", "sendrecv_64K")
    tight = [("first_0", "barrier"), *pairs(["tight"], SHORT + long_calls)]
    windows = [("first_0.1", "barrier"), *pairs(["win_allocate"], SHORT if is_small else SOME),
               *pairs(["win_create", "win_allocate_shared", "win_dynamic"] if is_small else ["win_create"], FEW),
               *pairs(["receive_posted"], SOME), *pairs(["persistent_held"], (*FEW, *EXCHANGES)),
               *pairs(["computing"], LOOPS)]
    lateness = ("0.3", "1", "4", "8", "40", "400") if is_small else ("1", "4", "40")
    late = [*([("first_1", "barrier")] if is_small else []), *pairs([f"late_{each}" for each in lateness],
                                                                    ["allreduce_8"]),
            ("late_40", "barrier"), *pairs(["dup_first_0", "dup_first_0.1", *(["dup_first_1"] if ranks == 2 else [])],
                                           ["barrier"])]
    starts = [calls_start("tight", tight), calls_start("beside", windows), calls_start("late", late), *peers_of(ranks)]
    if is_small:
        after = [("late_4", "allreduce_8"), ("late_40", "allreduce_8")]
        shared = [*pairs(["tight"], FEW), ("late_4", "allreduce_8")]
        starts += [calls_start("multiple", pairs(["tight"], SOME), "multiple", words={"threads": "multiple"}),
                   calls_start("bound", [*pairs(["tight"], SOME), *after], "bound", words={"bound": 1}),
                   calls_start("one_core", shared, "one_core", one_core=True),
                   calls_start("foreign", shared, "foreign", foreign=True, words={"block_ms": 30},
                               seconds=0.15 * len(shared))]
    if has_long_silence and is_small:
        starts += [calls_start("first_11", [("first_11", "barrier"), ("dup_first_11", "barrier")]),
                   peer_start("rma", 11, ("first",)), peer_start("messages", 11, ("first",))]
    return starts


def chosen(starts, names):
    """Those of `names`: each a situation or the beginning of one up to a `_`; all of them where there is no name."""
    def is_wanted(situation, _):
        return not names or any(situation == name or situation.startswith(name + "_") for name in names)
    return [kept for start in starts if (kept := start.only(is_wanted)).units]


# About what starts and cells take on two cores, in seconds: of a rank of an MPI, and of a cell of each program.
START_S = {"mpich": (0.05, 0.05), "openmpi": (0.7, 0.1)}
CELL_S = {"situations.c": 0.022, "peer.c": 0.08}


def seconds_of(start, mpi, ranks):
    """About what one process start takes."""
    fixed, of_rank = START_S.get(mpi, START_S["openmpi"])
    return start.seconds + fixed + of_rank * ranks + CELL_S[start.program] * len(start.units)
