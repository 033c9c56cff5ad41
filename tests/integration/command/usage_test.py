# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from hocket_command import COMMAND, LIMIT_S, CommandTest, main, run

DEV = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../dev")
DEMO = os.path.join(os.path.dirname(DEV), "scripts", "demo.py")

SUBCOMMANDS = ["info", "exec", "run", "bench", "algorithms", "schedule"]


class Help(CommandTest):
    def test_without_arguments_teaches(self):
        text = self.expect(run(), 0).stdout
        for name in SUBCOMMANDS:
            self.assertIn(name, text)
        self.assertIn("First steps", text)

    def test_every_subcommand_has_help_with_an_example(self):
        for name in SUBCOMMANDS:
            self.assertIn(f"hocket {name}", self.expect(run(name, "--help"), 0).stdout)

    def test_usage_shows_where_the_program_goes(self):
        for name, words in [("exec", "-- LAUNCHER ... PROGRAM ..."), ("run", "PROGRAM ..."),
                            ("bench", "[-- LAUNCHER ...]")]:
            usage = re.search("^Usage: (.*)$", self.expect(run(name, "--help"), 0).stdout, re.MULTILINE).group(1)
            self.assertTrue(usage.startswith(f"hocket {name} ") and usage.endswith(words), usage)

    def test_version(self):
        self.assertRegex(self.expect(run("--version"), 0).stdout, r"^hocket \d+\.\d+\.\d+\n$")


class BadLines(CommandTest):
    def test_unknown_subcommand_of_a_subcommand(self):
        for command in ("lab", "nic"):
            self.refused(command, "frobnicate", words=["frobnicate", "status"])

    def test_unknown_subcommand(self):
        self.refused("inof", words=["inof"])

    def test_unknown_option(self):
        self.refused("info", "--jason", words=["--jason"])

    def test_limits_of_numbers_are_written_as_people_do(self):
        for arguments, limits in ((["bench", "all", "--time-budget", "-1"], "-1 is not a number from 0 to 3600"),
                                  (["bench", "wait", "--late", "nan"], "nan is not a number from 0.01 to 600"),
                                  (["lab", "bench", "reduce", "--skew-us", "1,2e6"],
                                   "2e6 is not a number from 0 to 1000000"),
                                  (["nic", "top", "--interval", "soon"], "soon is not a number from 0.01 to 3600")):
            self.refused(*arguments, words=[limits])

    def test_explain_options_without_explain(self):
        self.refused("info", "--ranks", "4", words=["--explain"])


class Dev(CommandTest):
    def test_what_is_not_understood_ends_with_2(self):
        for words in (["frob"], ["test", "frob"], ["build", "frob"], ["build", "dev", "asan"], ["lint", "frob"],
                      ["fuzz", "frob"], ["bench", "--mpi", "frob", "--dry-run"], ["demo", "frob"]):
            result = subprocess.run(["bash", DEV, *words], capture_output=True, text=True, timeout=LIMIT_S, check=False)
            self.expect(result, 2)
            self.assertIn(words[-1] if words[-1] != "--dry-run" else "frob", result.stderr)


class Demo(CommandTest):
    def test_in_a_lab_it_asks_for_nothing_that_it_does_not_run(self):
        with tempfile.TemporaryDirectory() as build:
            hocket = os.path.join(build, "bin", "hocket")
            os.mkdir(os.path.dirname(hocket))
            with open(hocket, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\necho no labs today >&2\nexit 1\n")
            os.chmod(hocket, 0o755)
            line = [sys.executable, "-B", DEMO, "--build", build, "--only", "heat2d", "--lab", "2x2"]
            result = subprocess.run(line, capture_output=True, text=True, timeout=LIMIT_S, check=False)
            self.expect(result, 1)
            self.assertRegex(result.stderr, r"^no labs today\ndemo: this failed: \S+/hocket lab up 2 .*\n$")

    def test_it_builds_what_its_libraries_load(self):
        build = os.path.join(os.path.dirname(COMMAND), "..")
        if not os.path.exists(os.path.join(build, "build.ninja")) or not shutil.which("ninja"):
            self.skipTest("not built by ninja")

        def ninja(*words):
            return subprocess.run(["ninja", "-C", build, "-t", *words], capture_output=True, text=True,
                                  check=True).stdout

        library = "lib/libhocket-multicast-verbs.so"
        if library + ":" not in ninja("targets", "all"):
            self.skipTest("no libibverbs or librdmacm here")
        with open(os.path.join(os.path.dirname(DEMO), "demo.sh"), encoding="utf-8") as file:
            targets = re.search("^build release (.*)$", file.read(), re.MULTILINE).group(1).split()
        self.assertIn("hocket_mpi_mpich", targets)
        for target in targets:
            if target.startswith("hocket_mpi_"):
                self.assertIn(library, ninja("inputs", target).split(), target)


# Has the kernel refuse the system call of a number, and becomes a program.
REFUSED = """
import ctypes, os, struct, sys
steps = [(0x20, 0, 0, 0), (0x15, 0, 1, int(sys.argv[1])), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7FFF0000)]
program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
libc = ctypes.CDLL(None)
libc.prctl(38, 1, 0, 0, 0)
sys.exit(1) if libc.prctl(22, 2, struct.pack("HxxxxxxP", len(steps), ctypes.addressof(program))) else None
os.execv(sys.argv[2], sys.argv[2:])
"""
MEMFD_CREATE = "319"


class Info(CommandTest):
    def test_text_has_all_parts(self):
        text = self.expect(run("info"), 0).stdout
        for word in ["usable cores", "shared memory", "MPIs on PATH", "Settings"]:
            self.assertIn(word, text)

    def test_json_has_the_same_facts(self):
        facts = json.loads(self.expect(run("info", "--json"), 0).stdout)
        self.assertGreaterEqual(facts["machine"]["usable_cores"]["usable"], 1)
        self.assertIs(facts["possible"]["shared_memory"]["possible"], True)
        self.assertIsInstance(facts["mpi"], dict)

    def test_where_memfd_is_refused_a_file_does(self):
        refused = [sys.executable, "-c", REFUSED, MEMFD_CREATE]
        memory = json.loads(self.expect(run("info", "--json", before=refused), 0).stdout)["possible"]["shared_memory"]
        self.assertIs(memory["possible"], True)
        self.assertIn("unlinked files", self.expect(run("info", before=refused), 0).stdout)

    def test_one_core_by_affinity_is_seen(self):
        pinned = run("info", "--json", before=["taskset", "-c", "0"])
        self.assertEqual(json.loads(self.expect(pinned, 0).stdout)["machine"]["usable_cores"]["usable"], 1)

    def test_every_setting_is_shown_with_its_value_and_meaning(self):
        result = run("info", "--json", HOCKET_WAIT="sleep", HOCKET_MEMORY="64KiB")
        settings = json.loads(self.expect(result, 0).stdout)["settings"]
        self.assertEqual((settings["HOCKET_WAIT"]["value"], settings["HOCKET_WAIT"]["is_set"]), ("sleep", True))
        self.assertEqual((settings["HOCKET_CMA"]["value"], settings["HOCKET_CMA"]["is_set"]), ("auto", False))
        self.assertIsNone(settings["HOCKET_ALLREDUCE"]["value"])
        text = self.expect(run("info", HOCKET_WAIT="sleep"), 0).stdout
        lines = [line for line in text.splitlines() if line.startswith("  HOCKET_")]
        self.assertEqual([line.split()[0] for line in lines], list(settings))
        self.assertRegex(text, r"HOCKET_WAIT +sleep +how a rank waits")
        self.assertRegex(text, r"HOCKET_CMA +auto \(default\) +copying")
        places = {line.index(settings[line.split()[0]]["meaning"]) for line in lines}
        self.assertEqual(len(places), 1, "the meanings stand in one column")

    def test_value_that_cannot_be_understood_is_reported(self):
        text = self.expect(run("info", HOCKET_WAIT="snooze"), 0).stdout
        self.assertRegex(text, r"problem +HOCKET_WAIT=snooze can't be understood; accepted is one of auto")

    def test_misspelt_setting_is_reported(self):
        self.assertIn("HOCKET_ALLREDUCE", self.expect(run("info", HOCKET_ALREDUCE="ring"), 0).stdout)

    def test_setting_that_cannot_be_honoured_is_reported(self):
        text = self.expect(run("info", HOCKET_ALLREDUCE="rign"), 0).stdout
        self.assertIn("`rign`", text)
        self.assertIn("recursive_doubling", text)


if __name__ == "__main__":
    main()
