# SPDX-License-Identifier: BSD-3-Clause
"""What NIC engines send is written down, and sent once more in the simulation."""

import json
import os
import shutil
import signal
import subprocess
import tempfile

from lab_command import LABS, eventually, main_as_root, run, running
from nic_lab import NicLab

QUESTIONS = {"questions (nack)", "probes"}
MESSAGES = "messages"


class RecordingTest(NicLab):
    def setUp(self):
        super().setUp()
        self.folder = tempfile.mkdtemp(prefix="hocket-recording-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.file = os.path.join(self.folder, "run.jsonl")

    def record(self, *options, collective="barrier", nodes=4, variant="nic", rounds=60, code=0):
        return self.lab("bench", collective, "--nodes", str(nodes), "--switch", "redirect", "--rounds", str(rounds),
                        "--warm-up", "5", "--variants", variant, "--record", self.file, *options, code=code)

    def lines(self):
        with open(self.file, encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def replay(self, *words, code=0):
        found = run("simulate", *words, "--replay", self.file, "--json")
        self.expect(found, code)
        if code != 0:
            return found.stderr
        found = json.loads(found.stdout)
        found["rows"] = {row["packets"]: (row["recorded"], row["simulated"]) for row in found["rows"]}
        return found

    def has_doorbells(self):
        return self.lines()[0]["has_doorbells"]  # from Linux 6.6 on

    @staticmethod
    def children_of(process, name):
        found = []
        with open(f"/proc/{process}/task/{process}/children", encoding="utf-8") as file:
            children = file.read().split()
        for child in children:
            try:
                with open(f"/proc/{child}/comm", encoding="utf-8") as comm:
                    if comm.read().strip() == name and running(int(child)):
                        found.append(int(child))
            except OSError:
                pass  # gone meanwhile
        return found

    def recorder_of(self, process):
        """The process that records for a command."""
        return self.children_of(process, "lab-record")[0]

    def start_recording(self, *command, **popen):
        process = self.start("record", self.file, "--", *command, **popen)
        self.assertTrue(eventually(lambda: os.path.exists(self.file) and os.path.getsize(self.file) > 0))
        return process, self.recorder_of(process.pid)

    def test_without_loss_the_simulation_has_the_same_packets(self):
        for _ in range(30):
            self.record(rounds=20)
            header, *records, end = self.lines()
            self.assertEqual((header["collective"], header["schedule"], header["engines"]),
                             ("barrier", "dissemination", "nic"))
            self.assertEqual((end["record"], end["missed"], end["is_complete"]), ("end", 0, True))
            self.assertEqual(len(records), end["packets"] + end["doorbells"])
            if not header["has_doorbells"]:
                self.assertIn("has no doorbells", self.replay(code=1))
                return
            self.assertEqual(end["doorbells"], 4 * 25)
            found = self.replay()
            self.assertEqual(found["rows"][MESSAGES], (4 * 2 * 25, 4 * 2 * 25))
            self.assertTrue(found["has_same_messages"])
            # Beside other load a message may be late, and asked for.
            if all(found["rows"][row][0] == 0 for row in QUESTIONS):
                self.assertTrue(found["is_same"], found["differences"])
                self.assertEqual(found["rows"]["lost"], (0, 0))
                return
        self.skipTest("in each of 30 runs some host was late")

    def test_with_loss_the_simulation_has_the_same_messages(self):
        self.record("--impair", "loss=5%", rounds=200)
        if not self.has_doorbells():
            return
        lost = [one for one in self.lines() if one["record"] == "packet" and not one["to"][0]["arrives_ns"]]
        self.assertGreater(len(lost), 0)
        for one in lost:
            self.assertEqual(one["to"][0]["effects"], ["loss"])
        found = self.replay()
        self.assertEqual(found["rows"][MESSAGES], (4 * 2 * 205, 4 * 2 * 205))
        self.assertEqual(found["rows"]["lost"][0], len(lost))
        self.assertGreater(found["rows"]["repetitions"][1], 0)
        self.assertGreater(found["rows"]["questions (nack)"][1], 0)
        self.assertTrue(found["has_same_messages"])
        # What was asked for, and so repeated and answered, depends on time.
        self.assertNotIn(MESSAGES, {one["packets"] for one in found["differences"]})

    def test_what_carries_operands_is_replayed_too(self):
        for collective, nodes in (("reduce", 5), ("allreduce", 4)):
            self.record("--elements", "4", "--impair", "loss=2%,duplicate=2%", collective=collective, nodes=nodes)
            if self.has_doorbells():
                self.assertTrue(self.replay()["has_same_messages"])

    def test_a_run_with_other_packets_is_told_apart(self):
        self.record(rounds=20)
        if not self.has_doorbells():
            return
        records = self.lines()
        # One message less than there were.
        records.remove(next(one for one in records if one["record"] == "packet" and one["kind"] == "message"))
        with open(self.file, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(one) + "\n" for one in records)
        found = run("simulate", "--replay", self.file)
        self.expect(found, 1)
        self.assertIn("Messages differ, which time does not explain.", found.stdout)

    def test_a_command_is_recorded_while_it_runs(self):
        self.up(4)
        process, _ = self.start_recording("cat", stdin=subprocess.PIPE)
        ranks = self.ranks(range(4))
        self.all_do(ranks, 30)
        for rank in ranks:
            rank.end()
        process.stdin.close()
        self.assertEqual(process.wait(), 0)
        self.assertEqual(self.lines()[0]["command"], "cat")
        if not self.has_doorbells():
            return
        self.assertIn("doesn't say what its engines carry out", self.replay(code=2))
        found = self.replay("barrier", "dissemination")
        self.assertTrue(found["has_same_messages"])
        self.assertEqual(found["operations"], 4 * 30)

    def test_the_commands_exit_code_is_passed_on(self):
        self.lab("up", "2")
        self.lab("record", self.file, "--", "sh", "-c", "exit 7", code=7)
        self.assertTrue(self.lines()[-1]["is_complete"])

    def test_nothing_but_the_file_is_left_whoever_is_killed(self):
        self.lab("up", "2")
        programs = os.path.join(LABS, "lab", "bpf")
        before = os.listdir(programs) if os.path.isdir(programs) else []
        for victim in ("command", "recorder"):
            process, recorder = self.start_recording("cat", stdin=subprocess.PIPE)
            self.assertIn("being recorded already, by process " + str(recorder),
                          self.lab("record", self.file + "2", "--", "true", code=1).stderr)
            os.kill(process.pid if victim == "command" else recorder, signal.SIGKILL)
            process.stdin.close()
            process.wait()
            self.assertTrue(eventually(lambda which=recorder: not running(which)), victim)
            self.assertEqual(os.listdir(programs) if os.path.isdir(programs) else [], before, victim)
            self.assertIn("is not complete", self.replay("barrier", "dissemination", code=1))
            os.unlink(self.file)
        self.lab("record", self.file, "--", "true")

    def test_events_for_which_there_is_no_room_are_counted(self):
        # All on one processor, whose buffer has room for 95,000: a round has twelve. Some are read before the recorder
        # is stopped, on a busy machine thousands.
        processors = os.sched_getaffinity(0)
        self.addCleanup(os.sched_setaffinity, 0, processors)
        os.sched_setaffinity(0, {min(processors)})
        process = self.start("bench", "barrier", "--nodes", "4", "--switch", "redirect", "--variants", "nic",
                             "--rounds", "12000", "--record", self.file)
        # Ranks are started when the recorder has said that it listens.
        self.assertTrue(eventually(lambda: self.children_of(process.pid, "lab-record") and
                                   self.children_of(process.pid, "hocket")))
        recorder = self.recorder_of(process.pid)
        os.kill(recorder, signal.SIGSTOP)
        self.assertTrue(eventually(lambda: not self.children_of(process.pid, "hocket")))
        os.kill(recorder, signal.SIGCONT)
        said = process.stderr.read()
        self.assertEqual(process.wait(), 1)
        end = self.lines()[-1]
        self.assertGreater(end["missed"], 0)
        self.assertFalse(end["is_complete"])
        self.assertIn(f"lacks {end['missed']} events", said)
        self.assertIn(f"lacks {end['missed']} events", self.replay(code=1))

    def test_a_lab_that_goes_ends_the_recording(self):
        self.lab("up", "2")
        process, _ = self.start_recording("cat", stdin=subprocess.PIPE)
        self.lab("down", "lab")
        process.stdin.close()
        said = process.stderr.read()
        self.assertEqual(process.wait(), 1)
        self.assertIn("ends early", said)
        self.assertFalse(self.lines()[-1]["is_complete"])

    def test_what_cannot_be_recorded_is_refused(self):
        for options, says in ((("--slices", "2"), "--slices"), (("--variants", "nic,agent"), "--variants"),
                              (("--nodes", "2,4"), "--nodes"), (("--switch", "bridge,redirect"), "--switch")):
            words = ["bench", "barrier", "--nodes", "2", "--switch", "redirect", "--variants", "nic"]
            for name, value in zip(options[::2], options[1::2]):
                words = words[:words.index(name) + 1] + [value] + words[words.index(name) + 2:] \
                    if name in words else [*words, name, value]
            refused = self.lab(*words, "--record", self.file, code=2)
            self.assertIn("--record is of one run: one value is wanted of " + says, refused.stderr)
        refused = self.record(variant="host-udp", code=2)
        self.assertIn("host-udp has no NIC engines, whose packets --record writes down", refused.stderr)
        self.lab("record", self.file, code=2)
        self.assertIn("there is no lab", self.lab("record", self.file, "--", "true", code=1).stderr)

    def test_a_file_that_is_no_recording_is_refused(self):
        self.assertIn("can't read", self.replay(code=1))
        with open(self.file, "w", encoding="utf-8") as file:
            file.write("barrier\n")
        self.assertIn("run.jsonl:1 is no line of a recording: it is no JSON", self.replay(code=1))


if __name__ == "__main__":
    main_as_root()
