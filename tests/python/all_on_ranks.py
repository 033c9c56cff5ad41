# SPDX-License-Identifier: BSD-3-Clause
"""Runs the functions test_... of the modules on each rank, one after the other, by world(). All ranks come to the end,
or the job fails."""

import exchanges_on_ranks
import misuse_on_ranks
import neighbours_on_ranks
import persistent_on_ranks
import reductions_on_ranks

import hocket


def main():
    communicator = hocket.world()
    modules = (reductions_on_ranks, exchanges_on_ranks, neighbours_on_ranks, persistent_on_ranks, misuse_on_ranks)
    tests = {name: function for module in modules
             for name, function in vars(module).items() if name.startswith("test_")}
    for name, function in tests.items():
        try:
            function(communicator)
        except BaseException as error:
            error.args = (f"{name}: {error}", *error.args[1:])
            raise
        communicator.barrier()
    if communicator.rank == 0:
        print(len(tests), "tests on", communicator.size, "ranks")


if __name__ == "__main__":
    main()
