# SPDX-License-Identifier: BSD-3-Clause
import importlib.machinery
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from hocket_command import COMMAND, CommandTest, environment, launchers, main, run

PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
  int rank, one = 1, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("sum %d\n", sum);
  MPI_Finalize();
  return sum == 3 || sum == 1 ? 0 : 7;
}
"""


def has_abi_shim():
    return os.path.exists(os.path.join(os.path.dirname(COMMAND), "..", "lib", "libhocket-mpi-abi.so"))


class Exec(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.programs = {}
        source = os.path.join(cls.directory.name, "sum.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        for family, _ in launchers():
            if compiler := shutil.which(f"mpicc.{family}"):
                program = os.path.join(cls.directory.name, f"sum.{family}")
                subprocess.run([compiler, source, "-o", program], check=True, env=environment())
                cls.programs[family] = program

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def each(self):
        for family, launcher in launchers():
            if family in self.programs:
                with self.subTest(family):
                    yield family, launcher, self.programs[family]

    def test_an_unmodified_program_is_served(self):
        for _, launcher, program in self.each():
            result = self.expect(run("exec", "--stats", "--", launcher, "-n", "3", program), 0)
            self.assertIn("sum 3", result.stdout)
            self.assertRegex(result.stderr, r"MPI_Allreduce +3 +0")

    def test_statistics_go_where_the_user_says(self):
        for family, _, program in self.each():
            line = ["exec", "--dry-run", "--mpi", family]

            def wanted(*options, **variables):
                printed = self.expect(run(*line, *options, "--", program, **variables), 0).stdout
                return re.findall("^HOCKET_STATS=(.*)$", printed, re.MULTILINE)

            self.assertEqual(wanted("--stats"), ["1"])
            self.assertEqual(wanted("--stats", HOCKET_STATS="0"), ["1"])
            self.assertEqual(wanted("--stats", HOCKET_STATS="a.json"), [])
            self.assertEqual(wanted("--stats=b %h.json", HOCKET_STATS="a.json"), ["b %h.json"])
            self.refused(*line, "--stats=b.txt", "--", program, words=["--stats=b.txt", ".json"])
            self.refused(*line, "--stats=%p.json", "--", program, words=["`%p` stands for nothing"])

    def test_a_file_for_statistics_is_written(self):
        for _, launcher, program in self.each():
            file = os.path.join(self.directory.name, "job.json")
            result = self.expect(run("exec", "--stats", "--", launcher, "-n", "3", program, HOCKET_STATS=file), 0)
            self.assertNotIn("hocket:", result.stderr)
            with open(file, encoding="utf-8") as written:
                self.assertEqual(json.load(written)["ranks"], 3)
            os.remove(file)

    def test_disabled_everything_is_passed_through(self):
        for _, launcher, program in self.each():
            result = self.expect(run("exec", "--stats", "--disable", "--", launcher, "-n", "3", program), 0)
            self.assertIn("sum 3", result.stdout)
            self.assertRegex(result.stderr, r"MPI_Allreduce +0 +3 +disabled")

    def test_a_program_without_a_launcher(self):
        for family, _, program in self.each():
            self.assertIn("sum 1", self.expect(run("exec", "--", program), 0).stdout)
            preload = self.expect(run("exec", "--dry-run", "--", program), 0).stdout
            self.assertIn(f"libhocket-mpi-{family}.so", preload)

    def test_dashes_may_be_left_out(self):
        for _, launcher, program in self.each():
            self.assertIn("sum 3", self.expect(run("exec", "--stats", launcher, "-n", "3", program), 0).stdout)

    def test_the_exit_code_is_the_programs(self):
        for _, launcher, program in self.each():
            self.assertNotEqual(run("exec", "--", launcher, "-n", "2", program).returncode, 0)

    def test_other_preloads_stay(self):
        for family, launcher, program in self.each():
            libm = os.path.realpath(next(path for path in ("/lib/x86_64-linux-gnu/libm.so.6", "/lib64/libm.so.6", "")
                                         if not path or os.path.exists(path)))
            result = run("exec", "--dry-run", "--", launcher, program, LD_PRELOAD=libm)
            self.assertRegex(self.expect(result, 0).stdout, rf"libhocket-mpi-{family}\.so:{libm}\n")

    def test_a_library_that_ld_preload_cannot_name_is_refused(self):
        for folder in ("us er", "a:b"):
            prefix = os.path.join(os.path.realpath(self.directory.name), folder)
            command, shim = (os.path.join(prefix, *at) for at in (("bin", "hocket"), ("lib", "libhocket-mpi-mpich.so")))
            for path in (command, shim):
                os.makedirs(os.path.dirname(path))
            shutil.copy(COMMAND, command)
            open(shim, "w", encoding="utf-8").close()
            result = subprocess.run([command, "exec", "--mpi", "mpich", "--", "true"], capture_output=True, text=True,
                                    env=environment(), timeout=60, check=False)
            self.assertEqual(result.returncode, 1, result)
            for word in (shim, "a space or a colon", "install hocket below a path without them"):
                self.assertIn(word, result.stderr)

    def test_launcher_and_program_of_different_mpis(self):
        if len(self.programs) == 2:
            launcher = dict(launchers())["mpich"]
            self.refused("exec", "--", launcher, "-n", "2", self.programs["openmpi"], code=1,
                         words=["another MPI", "libmpi.so.40"])

    def test_settings_that_cannot_be_honoured_stop_it_before_the_launch(self):
        for _, launcher, program in self.each():
            self.refused("exec", "--", launcher, "-n", "2", program, code=1,
                         words=["HOCKET_ALLREDUCE", "`rign`", "ring"], HOCKET_ALLREDUCE="rign")

    def test_misspelt_settings_and_wrong_values_stop_it_before_the_launch(self):
        for _, launcher, program in self.each():
            self.refused("exec", "--", launcher, "-n", "2", program, code=1,
                         words=["`HOCKET_ALREDUCE`", "did you mean HOCKET_ALLREDUCE?"], HOCKET_ALREDUCE="ring")
            self.refused("exec", "--", launcher, "-n", "2", program, code=1,
                         words=["HOCKET_MEMORY=much", "accepted is", "64K"], HOCKET_MEMORY="much")

    def test_a_name_that_others_may_have_set_is_told_once(self):
        for _, launcher, program in self.each():
            result = self.expect(run("exec", "--", launcher, "-n", "3", program, HOCKET_ROOT="somewhere"), 0)
            self.assertIn("sum 3", result.stdout)
            self.assertEqual(result.stderr.count("`HOCKET_ROOT` is not a setting"), 1, result.stderr)

    def linked_with(self, soname, target, *options):
        """An ELF file that needs a library of this name, which is made for the purpose."""
        library = os.path.join(self.directory.name, soname)
        subprocess.run(["cc", "-shared", "-x", "c", "/dev/null", f"-Wl,-soname,{soname}", "-o", library], check=True)
        source = os.path.join(self.directory.name, "nothing.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write("int main(void) { return 0; }\n")
        os.makedirs(os.path.dirname(target), exist_ok=True)
        subprocess.run(["cc", *options, source, "-Wl,--no-as-needed", library, "-o", target], check=True)
        return target

    @unittest.skipUnless(has_abi_shim(), "built without the shim for the standard interface")
    def test_the_standard_interface_is_known_by_the_program_under_any_launcher(self):
        program = self.linked_with("libmpi_abi.so.1", os.path.join(self.directory.name, "standard"))
        for line in [[launcher, "-n", "2"] for _, launcher in launchers()] + [[]]:
            result = self.expect(run("exec", "--dry-run", "--", *line, program), 0)
            self.assertIn("libhocket-mpi-abi.so", result.stdout)

    @unittest.skipUnless(has_abi_shim(), "built without the shim for the standard interface")
    def test_a_python_is_asked_for_its_mpi4py(self):
        package = os.path.join(self.directory.name, "packages", "mpi4py")
        suffix = importlib.machinery.EXTENSION_SUFFIXES[-1]
        self.linked_with("libmpi_abi.so.1", os.path.join(package, "MPI" + suffix), "-shared", "-fPIC")
        open(os.path.join(package, "__init__.py"), "w", encoding="utf-8").close()
        script = os.path.join(self.directory.name, "script")
        with open(script, "w", encoding="utf-8") as file:
            file.write(f"#!/usr/bin/env -S {sys.executable} -u\n")
        os.chmod(script, 0o755)
        for program in ([sys.executable, "-m", "something"], [script]):
            for family, launcher in launchers():
                line = ["exec", "--dry-run", "--", launcher, "-n", "2", *program]
                result = self.expect(run(*line, PYTHONPATH=os.path.dirname(package)), 0)
                self.assertIn("libhocket-mpi-abi.so", result.stdout)
                # Without it the launcher decides.
                empty = tempfile.mkdtemp(dir=self.directory.name)
                os.mkdir(os.path.join(empty, "mpi4py"))
                open(os.path.join(empty, "mpi4py", "__init__.py"), "w", encoding="utf-8").close()
                self.assertIn(f"libhocket-mpi-{family}.so", self.expect(run(*line, PYTHONPATH=empty), 0).stdout)

    def test_an_option_that_is_not_there_is_no_program(self):
        for verb in (["exec"], ["run"], ["lab", "exec", "n0"], ["lab", "mpirun"]):
            self.refused(*verb, "--statss", "--", "true", words=["no option `--statss`", "--help` lists them"])

    def test_what_cannot_be_run_ends_with_the_codes_of_a_shell(self):
        for options in ([], ["--mpi", "mpich"], ["--dry-run"]):
            self.refused("exec", *options, "--", "/nowhere/app", code=127, words=["no program `/nowhere/app`"])
            self.refused("exec", *options, "--", self.directory.name, code=126, words=[self.directory.name])
        plain = os.path.join(self.directory.name, "plain")
        with open(plain, "w", encoding="utf-8") as file:
            file.write("no program\n")
        self.refused("exec", "--", plain, code=126, words=[plain, "Permission denied"])
        self.refused("exec", "--", "plain", code=126, words=["`plain`", "Permission denied"],
                     PATH=self.directory.name)
        self.refused("exec", "--", plain + "/app", code=126, words=["Not a directory"])

    def test_bad_lines(self):
        self.refused("exec", words=["what should be run"])
        self.refused("exec", "--", "no-such-launcher", "-n", "2", code=127, words=["`no-such-launcher`", "on PATH"])
        self.refused("exec", "--", "true", code=1, words=["--mpi"])
        self.refused("exec", "--mpi", "lam", "--", "true", words=["lam"])


if __name__ == "__main__":
    main()
