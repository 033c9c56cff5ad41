# SPDX-License-Identifier: BSD-3-Clause
"""usage: action_test.py HOCKET

Runs the second step of packaging/action/action.yml as a runner does, and then a program in the environment that the
runner would give to later steps."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

ACTION = pathlib.Path(__file__).parents[3] / "packaging/action/action.yml"
HOCKET = ""


def script_of(step):
    """What the step of that name runs."""
    text = ACTION.read_text(encoding="utf-8")
    found = re.search(rf"^    - name: {step}\n(?:      .*\n)*?      run: \|\n((?:        .*\n)+)", text, re.MULTILINE)
    return textwrap.dedent(found.group(1))


class LaterSteps(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.variables = pathlib.Path(folder.name) / "variables"
        self.variables.touch()

    def step(self, mpi, oversubscribe="true"):
        # The first step puts the command on the path.
        environment = dict(os.environ, MPI=mpi, OVERSUBSCRIBE=oversubscribe, GITHUB_ENV=str(self.variables),
                           PATH=f"{os.path.dirname(HOCKET)}:{os.environ['PATH']}")
        environment.pop("LD_PRELOAD", None)
        result = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c",
                                 script_of("Let MPI programs run with hocket")],
                                env=environment, capture_output=True, text=True, timeout=60, check=False)
        return result, dict(line.split("=", 1) for line in self.variables.read_text(encoding="utf-8").splitlines())

    def test_programs_of_the_mpi_run_with_hocket(self):
        launcher = shutil.which("mpirun.mpich")
        if launcher is None:
            self.skipTest("no mpirun.mpich")
        result, variables = self.step("mpich")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(variables["LD_PRELOAD"].endswith("/libhocket-mpi-mpich.so"), variables)
        later = subprocess.run([launcher, "-n", "2", "grep", "-c", "libhocket-mpi-mpich", "/proc/self/maps"],
                               env=dict(os.environ, **variables), capture_output=True, text=True, timeout=60,
                               check=False)
        self.assertRegex(later.stdout, r"^[1-9]\d*\n[1-9]\d*\n$", later.stderr)

    def test_cores_are_shared_on_request(self):
        self.assertIn("PRTE_MCA_rmaps_default_mapping_policy", self.step("openmpi")[1])
        self.variables.write_text("", encoding="utf-8")
        self.assertEqual(list(self.step("openmpi", oversubscribe="false")[1]), ["LD_PRELOAD"])

    def test_mpi_that_there_is_not_ends_the_step(self):
        result, variables = self.step("lam")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("lam", result.stderr)
        self.assertEqual(variables, {})


if __name__ == "__main__":
    HOCKET = sys.argv.pop(1)
    unittest.main()
