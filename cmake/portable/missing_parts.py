# SPDX-License-Identifier: BSD-3-Clause
"""What a wheel has to have and lacks, on one line; nothing if all is there.

usage: missing_parts.py WHEEL"""

import sys
import zipfile

LIBRARIES = [f"lib/hocket/libhocket-{part}.so" for part in ("mpi-mpich", "mpi-openmpi", "mpi-abi", "bench-mpich",
                                                            "bench-openmpi")]
# The kernel's programs are inside the command, with the names of their sources.
PROGRAMS = ["bpf/lab_port.bpf.c", "bpf/nic.bpf.c"]


def missing(wheel):
    with zipfile.ZipFile(wheel) as archive:
        files = {name.partition(".data/data/")[2]: name for name in archive.namelist()}
        command = archive.read(files["bin/hocket"]) if "bin/hocket" in files else b""
    found = [name for name in ["bin/hocket", *LIBRARIES] if name not in files]
    return found + [f"the program of {source}" for source in PROGRAMS if source.encode() not in command]


def main():
    if len(sys.argv) != 2:
        sys.exit("missing_parts.py: which wheel? For example: missing_parts.py dist/hocket-*.whl")
    print(", ".join(missing(sys.argv[1])))


if __name__ == "__main__":
    main()
