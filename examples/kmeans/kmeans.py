#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""k-means over `import hocket` and NumPy, without an MPI: what kmeans.c does, number by number, so that its result is
the same, bit for bit, as that program's, on any number of ranks. What is special about this k-means is told in
kmeans.h.

    hocket run -n 4 python kmeans.py --points 100000 --clusters 5 --starts 4
"""

import argparse
import json
import math
import sys
import time

import numpy as np

import hocket

LARGEST = 1 << 16  # coordinate, in units
MOST_DIMENSIONS = 64
SEPARATION = 6  # of the centres that points are made around, in standard deviations
WEYL = np.uint64(0x9E3779B97F4A7C15)


def mix(x):
    """The last part of splitmix64 by Steele, Lea and Flood (2014)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def random_bits(seed, index):
    """Numbers `index` of the random sequences `seed`: arrays of one shape, or one number for all."""
    seed, index = np.atleast_1d(np.asarray(seed, "u8")), np.atleast_1d(np.asarray(index, "u8"))
    return mix(seed * WEYL + mix(index + np.uint64(1)))


def random_fraction(seed, index):
    return (random_bits(seed, index) >> np.uint64(11)).astype(float) / 9007199254740992.0


def rounded(values):
    """To the nearest whole number, halves away from zero."""
    whole = np.trunc(values)
    return (whole + np.copysign(np.abs(values - whole) >= 0.5, values)).astype("i8")


def unit_for(largest):
    """A power of two, so that whole numbers of units stay what they were."""
    return math.ldexp(1, math.frexp(largest)[1]) / LARGEST if largest > 0 else 1.0


class KMeans:
    """This rank's part of the points, and what all ranks know."""

    def __init__(self, comm, options):
        self.comm, self.options = comm, options
        self.points_of_all, self.dimensions, self.clusters = (options[name] for name in (
            "points", "dimensions", "clusters"))
        each, extra = divmod(self.points_of_all, comm.size)
        self.counts = [each + (rank < extra) for rank in range(comm.size)]
        self.first = sum(self.counts[:comm.rank])
        self.points = np.empty((self.counts[comm.rank], self.dimensions), "i4")

    def make_points(self):
        """A random mixture, of which every rank makes its own part."""
        seed, shape = self.options["seed"], (self.clusters, self.dimensions)
        half = SEPARATION * math.pow(self.clusters, 1.0 / self.dimensions)
        truth, index, tries = np.empty(shape), 0, 0
        for centre in range(self.clusters):
            too_near = True
            while too_near:
                tries += 1
                if tries > 100000 * self.clusters:
                    sys.exit("kmeans: found no room for so many clusters")
                indices = np.arange(index, index + self.dimensions)
                truth[centre] = half * (2 * random_fraction(~np.uint64(seed), indices) - 1)
                index += self.dimensions
                apart = ((truth[:centre] - truth[centre]) ** 2).sum(axis=1)
                too_near = bool((apart < SEPARATION * SEPARATION).any())
        places = np.arange(self.first, self.first + len(self.points), dtype="u8")
        cluster = (random_bits(np.uint64(seed) ^ np.uint64(0xABCDEF), places) % np.uint64(self.clusters)).astype(int)
        numbers = places[:, None] * np.uint64(self.dimensions) + np.arange(self.dimensions, dtype="u8")
        radius = np.sqrt(-2 * np.log(1 - random_fraction(seed, np.uint64(2) * numbers)))
        noise = radius * np.cos(2 * math.pi * random_fraction(seed, np.uint64(2) * numbers + np.uint64(1)))
        self.points[...] = rounded((truth[cluster] + np.clip(noise, -9, 9)) / self.options["unit"])

    def scatter_points(self, values):
        """Those of a file, which rank 0 has read."""
        counts = [count * self.dimensions for count in self.counts]
        units = rounded(values / self.options["unit"]).astype("i4") if self.comm.rank == 0 else None
        self.comm.scatterv(units, self.points, counts)

    def choose_centres(self, seed):
        """k-means++: each further centre is a point chosen at random, the likelier the farther it is from others."""
        centres = np.empty((self.clusters, self.dimensions))
        distances = np.ones(len(self.points), "i8")
        for centre in range(self.clusters):
            totals = self.comm.allgather(distances.sum(keepdims=True))[:, 0].tolist()
            if sum(totals) == 0:
                sys.exit("kmeans: there are fewer different points than clusters")
            target = (int(random_bits(seed, centre)[0]) * sum(totals)) >> 64
            owner = 0
            while owner + 1 < self.comm.size and target >= totals[owner]:
                target -= totals[owner]
                owner += 1
            chosen = np.empty(self.dimensions, "i4")
            if self.comm.rank == owner:
                chosen[:] = self.points[np.searchsorted(np.cumsum(distances), target, side="right")]
            self.comm.broadcast(chosen, owner)
            centres[centre] = chosen
            apart = ((self.points.astype("i8") - chosen) ** 2).sum(axis=1)
            distances = apart if centre == 0 else np.minimum(distances, apart)
        return centres

    def nearest(self, centres):
        """Of each point, the nearest centre, the first of several, and the squared distance to it."""
        squares = np.zeros((len(self.points), self.clusters))
        for axis in range(self.dimensions):  # in the order in which a loop would add them
            squares += (self.points[:, axis, None] - centres[:, axis]) ** 2
        labels = squares.argmin(axis=1)
        return labels, squares[np.arange(len(labels)), labels]

    def run(self, start):
        """Moves centres until no point changes its cluster: Lloyd's algorithm."""
        centres = self.choose_centres(random_bits(self.options["seed"], start)[0])
        labels, error, iterations, changes = np.full(len(self.points), -1), None, 0, 1
        while iterations < self.options["iterations"] and changes > 0:
            nearest, distances = self.nearest(centres)
            # Of a cluster's coordinates, and at the end of its row the number of its points; then changes and error.
            sums = np.zeros(self.clusters * (self.dimensions + 1) + 2, "i8")
            rows = sums[:-2].reshape(self.clusters, -1)
            np.add.at(rows[:, :-1], nearest, self.points)
            rows[:, -1] = np.bincount(nearest, minlength=self.clusters)
            sums[-2:] = (nearest != labels).sum(), rounded(distances).sum()
            labels = nearest
            self.comm.allreduce(hocket.IN_PLACE, sums)
            changes, before, error = int(sums[-2]), error, int(sums[-1])
            # Each step lowers the error, or the sums were wrong; but for rounding.
            if before is not None and error - before > self.points_of_all:
                sys.exit("kmeans: WRONG: an iteration has raised the error")
            iterations += 1
            filled = rows[:, -1] > 0  # a cluster that has lost all its points keeps its centre
            centres[filled] = rows[filled, :-1] / rows[filled, -1:]
        return error, iterations, labels, centres, rows[:, -1].copy()

    def checksum(self, labels, centres):
        """A number that every label with its place goes into, and every bit of the centres."""
        places = np.arange(self.first, self.first + len(labels), dtype="u8")
        total = self.comm.allreduce(random_bits(labels, places).sum(keepdims=True, dtype="u8"))
        bits = centres.reshape(-1).view("u8")
        mine = random_bits(bits, np.arange(len(bits))).sum(keepdims=True, dtype="u8")
        both = np.concatenate([mine, ~mine])
        extremes = self.comm.allreduce(both, None, hocket.MAX)
        if extremes[0] != ~extremes[1]:
            sys.exit("kmeans: WRONG: ranks have different centres")
        return int((total + mine)[0])


def read_points(path):
    """The numbers of each line, apart by commas, semicolons or blanks. The first line may have the columns' titles."""
    rows = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                row = [float(word) for word in line.replace(",", " ").replace(";", " ").split()]
            except ValueError:
                row = [math.nan]
            is_wrong = len(row) > MOST_DIMENSIONS or not all(map(math.isfinite, row))
            if not row or (is_wrong and number == 1):
                continue
            if is_wrong:
                raise ValueError(f"{path}, line {number}: not up to {MOST_DIMENSIONS} numbers")
            if rows and len(row) != len(rows[0]):
                raise ValueError(f"{path}, line {number}: not as many numbers as before")
            rows.append(row)
    return np.array(rows).reshape(len(rows), -1) if rows else np.empty((0, 1))


def read_options(arguments):
    """The options, and the content of the file if there is one."""
    parser = argparse.ArgumentParser(description="Divides points into clusters by k-means.")
    for name, default, text in (
            ("points", 100000, "how many to make, from as many normal distributions as clusters"),
            ("dimensions", 4, "of the points made"), ("clusters", 8, "how many"),
            ("seed", 1, "of the points made, and of the centres to start from"),
            ("starts", 10, "choose first centres so often, and keep the best end"),
            ("iterations", 1000, "at most in each start")):
        parser.add_argument(f"--{name}", type=int, default=default, help=f"{text} (default {default})")
    parser.add_argument("--file", help="instead of points made: one a line, numbers apart by commas")
    parser.add_argument("--output", help="write the number of each point's cluster there, a line each")
    options, values = vars(parser.parse_args(arguments)), None
    for name in ("points", "dimensions", "clusters", "starts", "iterations"):
        if options[name] < 1:
            parser.error(f"--{name} is {options[name]}; at least 1 is needed")
    if options["file"]:
        values = read_points(options["file"])
        options["points"], options["dimensions"] = values.shape
        options["unit"] = unit_for(np.abs(values).max(initial=0))
    else:
        half = SEPARATION * math.pow(options["clusters"], 1.0 / options["dimensions"])
        options["unit"] = unit_for(half + 9)
    if options["points"] < options["clusters"]:
        parser.error("fewer points than clusters")
    return options, values


def share_options(comm):
    """Rank 0 reads the command line and the file, so that a mistake is told once."""
    text, values, status = b"", None, 0
    if comm.rank == 0:
        try:
            options, values = read_options(sys.argv[1:])
            text = json.dumps(options).encode()
        except SystemExit as ended:
            status = ended.code
        except (OSError, ValueError) as error:
            print(f"kmeans: {error}", file=sys.stderr)
            status = 2
    length, status = comm.broadcast(np.array([len(text), status])).tolist()
    if length == 0:
        sys.exit(status)
    letters = np.frombuffer(text, "u1") if comm.rank == 0 else np.empty(length, "u1")
    return json.loads(comm.broadcast(letters).tobytes()), values


def main():
    comm = hocket.world()
    options, values = share_options(comm)
    kmeans, is_first = KMeans(comm, options), comm.rank == 0
    if is_first:
        print(f"{options['points']} points in {options['dimensions']} dimensions ({options['file'] or 'a mixture'}), "
              f"{options['clusters']} clusters, seed {options['seed']}, on {comm.size} ranks\n\n"
              f"{'start':>5}{'iterations':>13}{'error a point':>17}")
    if options["file"]:
        kmeans.scatter_points(values)
    else:
        kmeans.make_points()
    comm.barrier()
    begin, iterations, best = time.perf_counter(), 0, None
    for start in range(options["starts"]):
        end = kmeans.run(start)
        iterations += end[1]
        if is_first:
            print(f"{start + 1:5}{end[1]:13}{end[0] * options['unit'] ** 2 / options['points']:17.6g}")
        if best is None or end[0] < best[0]:
            best = end
    seconds = time.perf_counter() - begin
    _, _, labels, centres, counts = best
    if is_first:
        print(f"\n{'cluster':>7}{'points':>11}   centre")
        for cluster, (count, centre) in enumerate(zip(counts, centres * options["unit"])):
            print(f"{cluster + 1:7}{count:11}  " + "".join(f"{value:10.4f}" for value in centre[:4]))
    checksum = kmeans.checksum(labels, centres)
    if options["output"]:
        all_labels = np.empty(options["points"], "i8") if is_first else None
        comm.gatherv(labels, all_labels, kmeans.counts)
        if is_first:
            np.savetxt(options["output"], all_labels + 1, "%d")
    if is_first:
        print(f"\nranks {comm.size} points {options['points']} clusters {options['clusters']} iterations {iterations} "
              f"checksum {checksum:016x} seconds {seconds:.6f}")


if __name__ == "__main__":
    main()
