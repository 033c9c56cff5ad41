# SPDX-License-Identifier: BSD-3-Clause
"""Runs the hocket command for tests. Each test file is called with the command's path."""

import os
import shutil
import subprocess
import sys
import unittest

COMMAND = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "hocket"
# Generous: the machine may be busy. Ends what hangs; no test depends on how long anything takes.
LIMIT_S = 240


def environment(**settings):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("HOCKET_")}
    clean.pop("LD_PRELOAD", None)
    # Open MPI refuses to be started by root, and by default more ranks than cores.
    clean.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                 OMPI_MCA_rmaps_base_oversubscribe="1", PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe",
                 OMPI_MCA_btl="^ofi")  # of libfabric: in Open MPI 5's wheel it sleeps for a second in MPI_Init
    clean.update(settings)
    return clean


def run(*arguments, before=(), **settings):
    return subprocess.run([*before, COMMAND, *arguments], env=environment(**settings), capture_output=True, text=True,
                          timeout=LIMIT_S, check=False)


def launchers():
    """(family, launcher) of Debian's MPIs, which come with names of their own."""
    names = {"mpich": "mpiexec.mpich", "openmpi": "mpirun.openmpi"}
    return [(family, path) for family, name in names.items() if (path := shutil.which(name))]


def cluster_launchers():
    """(family, launcher) of the MPIs under which ranks on several nodes are tried: the newest of each family."""
    venv = os.path.join(os.path.dirname(COMMAND), "../../../.venv")
    found = []
    for family, path in (("mpich", "mpich/bin/mpiexec"), ("openmpi", "openmpi/bin/mpirun")):
        path = os.path.normpath(os.path.join(venv, path))
        if os.path.exists(path):
            found.append((family, path))
    return found or launchers()


def run_on_nodes(family, launcher, arguments, nodes=2, ranks_a_node=2, **settings):
    """The ranks of `hocket ARGUMENTS` are on so many nodes of one machine, told apart by HOCKET_NODE."""
    # More ranks than cores: an MPI that never gives way takes ten seconds for what takes one.
    settings = {"MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1", "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "1",
                "OMPI_MCA_mpi_yield_when_idle": "1", "PRTE_MCA_hwloc_default_binding_policy": "none", **settings}
    line = [launcher]
    for node in range(nodes):
        named = ["-env", "HOCKET_NODE", f"n{node}"] if family == "mpich" else ["-x", f"HOCKET_NODE=n{node}"]
        line += [":"] * (node > 0) + ["-n", str(ranks_a_node), *named, COMMAND, *arguments]
    return subprocess.run(line, env=environment(**settings), capture_output=True, text=True, timeout=LIMIT_S,
                          check=False)


class CommandTest(unittest.TestCase):
    def expect(self, result, code):
        self.assertEqual(result.returncode, code, f"stdout:\n{result.stdout}\nstderr:\n{result.stderr}")
        return result

    def refused(self, *arguments, words, code=2, **settings):
        """It ends with the code and says why on stderr."""
        result = self.expect(run(*arguments, **settings), code)
        for word in words:
            self.assertIn(word, result.stdout + result.stderr)
        self.assertTrue(result.stderr, "nothing on stderr")


def main():
    sys.argv[1:] = sys.argv[2:]
    unittest.main()
