#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Heat on a plate, by a halo exchange among the ranks of a grid, without an MPI:

    hocket run -n 6 python plate.py

Each rank has a rectangle of the plate. In every step it starts the exchange of its four edges, works out the cells that
need none of them, and then the rest. The plate is cold all around. In the end rank 0 has the whole plate, draws it, and
compares it with what it works out by itself: bit for bit the same, on any number of ranks.
"""

import argparse
import sys

import numpy as np

import hocket

SHADES = " .:-=+*#%@"
SHARE = 0.2  # of the difference to each neighbour that a cell takes over in a step
# A cell's neighbours: above, below, left, right. So are a grid's destinations in two dimensions.
ABOVE, BELOW, LEFT, RIGHT = range(4)


def most_square(size):
    rows = max(each for each in range(1, size + 1) if size % each == 0 and each * each <= size)
    return rows, size // rows


def cuts(cells, parts):
    """Where each part of so many cells begins, and where the last ends."""
    return [cells * part // parts for part in range(parts + 1)]


def hot_spots(rows, columns):
    plate = np.zeros((rows, columns))
    plate[rows // 8:rows // 3, columns // 8:columns // 3] = 1
    plate[3 * rows // 5:4 * rows // 5, columns // 2:7 * columns // 8] = 1
    return plate


def relax(old, new, rows, columns):
    """The next value of some of the cells; `old` has a cell around them all."""
    centre = old[1:-1, 1:-1][rows, columns]
    around = [old[:-2, 1:-1], old[2:, 1:-1], old[1:-1, :-2], old[1:-1, 2:]]
    above, below, left, right = (each[rows, columns] for each in around)
    new[1:-1, 1:-1][rows, columns] = centre + SHARE * ((above + below) + (left + right) - 4 * centre)


class Part:
    """This rank's rectangle, with the cells of its neighbours around it."""

    def __init__(self, comm, whole):
        lengths = most_square(comm.size)
        row, column = np.unravel_index(comm.rank, lengths)
        down, across = (cuts(cells, parts) for cells, parts in zip(whole.shape, lengths))
        mine = whole[down[row]:down[row + 1], across[column]:across[column + 1]]
        self.halo = hocket.Neighbourhood.grid(comm, lengths)  # beyond the plate's edges is nobody
        self.old = np.pad(mine, 1)
        self.new = self.old.copy()
        height, width = mine.shape
        self.counts = [width, width, height, height]  # of an edge, and of what comes from the other side
        self.begins = [0, width, 2 * width, 2 * width + height]
        self.edges, self.ghosts = (np.zeros(sum(self.counts)) for _ in range(2))

    def block(self, array, neighbour):
        return array[self.begins[neighbour]:self.begins[neighbour] + self.counts[neighbour]]

    def step(self):
        old, inner, everything = self.old, slice(1, -1), slice(None)
        for neighbour, edge in ((ABOVE, old[1, 1:-1]), (BELOW, old[-2, 1:-1]), (LEFT, old[1:-1, 1]),
                                (RIGHT, old[1:-1, -2])):
            self.block(self.edges, neighbour)[:] = edge
        with self.halo.alltoallv_start(self.edges, self.ghosts, self.counts, self.counts):
            relax(old, self.new, inner, inner)
        # The block of nobody stays as it is: 0.
        for neighbour, around in ((ABOVE, old[0, 1:-1]), (BELOW, old[-1, 1:-1]), (LEFT, old[1:-1, 0]),
                                  (RIGHT, old[1:-1, -1])):
            around[:] = self.block(self.ghosts, neighbour)
        for edge in (0, -1):
            relax(old, self.new, edge, everything)
            relax(old, self.new, everything, edge)
        self.old, self.new = self.new, self.old


def collected(comm, mine, shape):
    """The whole plate at rank 0."""
    lengths = most_square(comm.size)
    down, across = (cuts(cells, parts) for cells, parts in zip(shape, lengths))
    shapes = [(down[row + 1] - down[row], across[column + 1] - across[column])
              for row in range(lengths[0]) for column in range(lengths[1])]
    counts = [height * width for height, width in shapes]
    parts = np.empty(sum(counts)) if comm.rank == 0 else None
    comm.gatherv(np.ascontiguousarray(mine), parts, counts)
    if comm.rank != 0:
        return None
    blocks = [part.reshape(each) for part, each in zip(np.split(parts, np.cumsum(counts)[:-1]), shapes)]
    return np.block([blocks[row * lengths[1]:(row + 1) * lengths[1]] for row in range(lengths[0])])


def alone(plate, steps):
    """The same without an exchange."""
    old = np.pad(plate, 1)
    new = old.copy()
    for _ in range(steps):
        relax(old, new, slice(None), slice(None))
        old, new = new, old
    return old[1:-1, 1:-1]


def drawn(plate, rows=12, columns=64):
    rows, columns = min(rows, plate.shape[0]), min(columns, plate.shape[1])
    down, across = cuts(plate.shape[0], rows), cuts(plate.shape[1], columns)
    heat = np.add.reduceat(np.add.reduceat(plate, down[:-1], 0), across[:-1], 1)
    heat /= np.outer(np.diff(down), np.diff(across)) * max(plate.max(), 1e-300)
    return "\n".join("|" + "".join(SHADES[min(int(cell * len(SHADES)), len(SHADES) - 1)] for cell in row) + "|"
                     for row in heat * 0.999)


def main():
    parser = argparse.ArgumentParser(description="Heat on a plate, by a halo exchange. Start it by hocket run.")
    parser.add_argument("--rows", type=int, default=96, help="of the plate's cells (default: %(default)s)")
    parser.add_argument("--columns", type=int, default=256, help="(default: %(default)s)")
    parser.add_argument("--steps", type=int, default=500, help="(default: %(default)s)")
    options = parser.parse_args()
    comm = hocket.world()
    lengths = most_square(comm.size)
    for name, cells, ranks in (("rows", options.rows, lengths[0]), ("columns", options.columns, lengths[1])):
        if cells < 2 * ranks:
            if comm.rank == 0:
                parser.error(f"--{name} {cells} are too few: {ranks} ranks beside each other need 2 each")
            return 2
    whole = hot_spots(options.rows, options.columns)
    part = Part(comm, whole)
    for _ in range(options.steps):
        part.step()
    found = collected(comm, part.old[1:-1, 1:-1], whole.shape)
    if comm.rank != 0:
        return 0
    wrong = int(np.count_nonzero(found != alone(whole, options.steps)))
    print(drawn(found))
    print(f"ranks {lengths[0]} x {lengths[1]} cells {options.rows} x {options.columns} steps {options.steps} "
          f"heat {found.sum():.6f} wrong {wrong}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
