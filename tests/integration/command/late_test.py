# SPDX-License-Identifier: BSD-3-Clause
"""hocket where and top, on jobs that hang. Called with the command and the source of a program that does."""

import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

from hocket_command import COMMAND, LIMIT_S, CommandTest, environment, launchers, main, run

SOURCE = os.path.abspath(sys.argv.pop(2))
NOBODY = 65534


def eventually(condition):
    """What it gives, once that is something; nothing when it never is."""
    limit = time.monotonic() + LIMIT_S
    while not (found := condition()):
        if time.monotonic() > limit:
            return None
        time.sleep(0.05)
    return found


def is_alive(process):
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def where(process, *arguments):
    """The one job of the process, or nothing."""
    result = run("where", "--json", *arguments, str(process))
    jobs = json.loads(result.stdout)["jobs"] if result.stdout else []
    return jobs[0] if len(jobs) == 1 else None


class LateTest(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.programs = []
        for family, launcher in launchers():
            program = os.path.join(cls.folder.name, "hanging-" + family)
            if compiler := shutil.which(f"mpicc.{family}"):
                subprocess.run([compiler, SOURCE, "-o", program], check=True, env=environment())
                cls.programs.append((launcher, program))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def started(self, how, family=0, **settings):
        """The launcher of a job that hangs, and the job, once all its ranks wait or are waited for."""
        if len(self.programs) <= family:
            self.skipTest("there is no MPI with a compiler")
        launcher, program = self.programs[family]
        launched = subprocess.Popen([COMMAND, "exec", "--oversubscribe", "--", launcher, "-n", "3", program, how],
                                    env=environment(**{"HOCKET_LATE_S": "0", **settings}), stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        self.addCleanup(launched.wait)
        self.addCleanup(launched.kill)

        def hangs():
            job = where(launched.pid)
            hangs_for = max(job["late_s"], job["stuck_s"]) if job else 0
            return job if job and len(job["here"]) == 3 and hangs_for >= 1.5 else None
        job = eventually(hangs)
        self.assertTrue(job, "the job was not seen to hang")
        for rank in job["here"]:
            self.addCleanup(self.end, rank["process"])
        return launched, job

    @staticmethod
    def end(process):
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def test_the_late_rank_is_the_first_whatever_process_is_named(self):
        for family in range(len(self.programs)):
            with self.subTest(self.programs[family]):
                launched, job = self.started("computes", family)
                self.assertEqual([rank["rank"] for rank in job["here"]], [1, 0, 2])
                late = job["here"][0]
                self.assertEqual((late["standing"], late["state"], late["awaited_by"]), ("late", "runs", [0, 2]))
                self.assertEqual((late["place"], late["after"]), ("no MPI call", "MPI_Barrier"))
                self.assertEqual(job["here"][1]["waits_for"], [1])
                self.assertEqual(job["here"][1]["place"], "MPI_Barrier of MPI_COMM_WORLD of 3 ranks")
                for process in [launched.pid, *(rank["process"] for rank in job["here"])]:
                    result = self.expect(run("where", "--late", "1", str(process)), 1)
                    self.assertIn(f"where rank 1 is: gdb -p {late['process']} ", result.stdout)
                    self.assertTrue(result.stdout.splitlines()[2].lstrip().startswith("1 "), result.stdout)
                self.expect(run("where", "--late", "1000000", str(launched.pid)), 0)
                by_name = self.expect(run("top", "--json", "--count", "1", "--interval", "0.3", job["job"]), 0)
                seen = json.loads(by_name.stdout)["jobs"][0]
                self.assertEqual([rank["process"] for rank in seen["here"]],
                                 [rank["process"] for rank in job["here"]])
                self.assertGreater(seen["here"][1]["waited_share"], 0.5)
                self.assertLess(seen["here"][0]["waited_share"], 0.5)
                launched.send_signal(signal.SIGTERM)
                self.assertTrue(eventually(lambda: not any(is_alive(rank["process"]) for rank in job["here"])),
                                "ranks outlived their launcher")

    def test_ranks_in_barriers_of_different_communicators_are_a_deadlock(self):
        launched, job = self.started("deadlocks")
        self.assertEqual(len(job["deadlocks"]), 1)
        self.assertRegex(job["deadlocks"][0], "rank 1 waits for rank [02], rank [02] for rank 1|"
                                              "rank 0 waits for rank 1, rank 1 for rank 0")
        result = self.expect(run("where", "--late", "1", str(launched.pid)), 1)
        self.assertIn("a deadlock: rank ", result.stdout)
        self.assertIn('MPI_Barrier of "other" of 3 ranks', result.stdout)

    def test_of_messages_that_never_come_it_says_what_is_known(self):
        for family in range(len(self.programs)):
            with self.subTest(self.programs[family]):
                launched, job = self.started("receives", family)
                self.assertEqual((job["late_s"], job["deadlocks"], job["possible_deadlocks"]), (0, [], []))
                result = self.expect(run("where", "--late", "1", str(launched.pid)), 1)
                self.assertEqual(result.stdout.count("MPI_Recv from any rank, tag 7"), 3, result.stdout)
                self.assertIn("nobody is known to be late, and all ranks have been in calls for ", result.stdout)
                self.expect(run("where", "--late", "1000000", str(launched.pid)), 0)

    def test_ranks_that_receive_from_each_other_in_a_ring_may_be_in_a_deadlock(self):
        launched, _ = self.started("ring", HOCKET_LATE_S="1000")
        job = eventually(lambda: (seen := where(launched.pid)) and seen["possible_deadlocks"] and seen)
        self.assertEqual(job["possible_deadlocks"], ["rank 0 waits for rank 1, rank 1 for rank 2, rank 2 for rank 0"])
        self.assertEqual(job["deadlocks"], [])
        result = run("where", "--late", "1", str(launched.pid))
        self.assertEqual(result.stdout.count("MPI_Recv from rank "), 3, result.stdout)
        self.assertIn("perhaps a deadlock: rank 0 ", result.stdout)
        self.expect(result, 1)

    def test_a_stopped_rank_is_said_to_be_stopped_and_a_killed_one_to_have_ended(self):
        _, job = self.started("sleeps")
        late = job["here"][0]["process"]
        os.kill(late, signal.SIGSTOP)
        self.assertTrue(eventually(lambda: where(job["here"][1]["process"])["here"][0]["state"] == "is stopped"))
        top = subprocess.Popen([COMMAND, "top", "--json", "--interval", "0.1", job["job"]], env=environment(),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(top.stdout.close)
        self.addCleanup(top.stderr.close)
        self.addCleanup(top.kill)
        json.loads(top.stdout.readline())
        for rank in job["here"]:
            self.end(rank["process"])
        rest, errors = top.communicate(timeout=LIMIT_S)
        for line in rest.splitlines():
            json.loads(line)
        self.assertEqual(top.returncode, 0, errors)
        self.assertIn("the job has ended", errors)

    def test_prometheus_gets_a_file_from_the_ranks_or_from_outside_and_not_both(self):
        with tempfile.TemporaryDirectory() as folder:
            launched, job = self.started("computes", HOCKET_METRICS=folder)
            own = eventually(lambda: [name for name in os.listdir(folder) if name.endswith(".prom")])
            with open(os.path.join(folder, own[0]), encoding="utf-8") as file:
                text = file.read()
            self.assertIn(f'hocket_ranks{{job="{job["job"]}",user="{os.geteuid()}",program="hanging-', text)
            self.assertRegex(text, r"(?m)^hocket_ranks_waiting\{.*\} [12]$")
            top = ("top", "--json", "--interval", "0.1", "--metrics")
            self.expect(run(*top, folder, "--count", "1", job["job"]), 0)
            self.assertEqual([name for name in os.listdir(folder) if name.endswith(".prom")], own)
            with tempfile.TemporaryDirectory() as other:
                outside = subprocess.Popen([COMMAND, *top, other, job["job"]], env=environment(),
                                           stdout=subprocess.DEVNULL)
                self.addCleanup(outside.kill)
                path = os.path.join(other, "hocket.prom")
                self.assertTrue(eventually(lambda: os.path.exists(path)))
                with open(path, encoding="utf-8") as file:
                    self.assertRegex(file.read(), r'(?m)^hocket_ranks_waiting\{job=.*\} 2$')
                outside.send_signal(signal.SIGTERM)
                self.assertEqual(outside.wait(LIMIT_S), 0)
                self.assertEqual(os.listdir(other), [])
            launched.kill()
        self.refused("top", "--metrics", "/nowhere/at/all", words=["/nowhere/at/all"])

    def test_another_user_sees_nothing_and_is_told_why(self):
        if os.geteuid() != 0:
            self.skipTest("only root can be another user")
        launched, job = self.started("sleeps")
        user = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
        if subprocess.run([*user, COMMAND, "--version"], capture_output=True, check=False).returncode != 0:
            self.skipTest("another user can't run the command where it was built")
        for process in (launched.pid, job["here"][0]["process"]):
            result = self.expect(run("where", str(process), before=user), 2)
            self.assertIn("is another user's", result.stderr)
            self.assertEqual(result.stdout, "")
        result = self.expect(run("top", "--json", "--count", "1", "--interval", "0.1", before=user), 0)
        self.assertEqual(json.loads(result.stdout)["jobs"], [])
        self.assertTrue(all(is_alive(rank["process"]) for rank in job["here"]))

    def test_what_has_no_record_is_told_so(self):
        self.refused("where", str(os.getpid()), words=[f"process {os.getpid()} (python", "has no record",
                                                       "MPI_Init"])
        self.refused("where", str(2**22 + 1), words=[f"there is no process {2**22 + 1}"])
        self.refused("top", "there-is-no-such-job", words=["`there-is-no-such-job`"])
        self.refused("where", "word", words=["`word`", "nor is that a process's number"])
        self.refused("where", "0", words=["`0`"])
        self.refused("where", words=["job is required"])
        self.refused("top", "--count", "x", words=["--count: x is not a whole number of 1 or more"])
        self.refused("top", "--count", "0", words=["--count: 0 is not"])
        self.refused("top", str(2**22 + 1), words=[f"there is no process {2**22 + 1}"])
        self.refused("where", "--late", "-1", "1", words=["-1"])

    def test_a_record_of_another_version_is_not_read(self):
        this_magic = 0x31_74_65_6b_63_6f_68  # as in record.h
        for magic, size in ((this_magic + 1, 65536), (this_magic, 99)):
            content = struct.pack("=QI", magic, size)
            record = os.memfd_create("hocket-record")
            try:
                os.write(record, content + bytes(100000))
                self.refused("where", str(os.getpid()), words=["another version of hocket"])
            finally:
                os.close(record)

    def on_terminal(self, *arguments, send=b"", size=(24, 80), **settings):
        """What it writes to a terminal, until it ends after `send` was typed behind its first picture."""
        leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
        before = termios.tcgetattr(follower)
        process = subprocess.Popen([COMMAND, "top", *arguments], env=environment(**{"TERM": "xterm", **settings}),
                                   stdin=follower, stdout=follower, stderr=follower, start_new_session=True,
                                   preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        self.addCleanup(process.kill)
        output, has_sent = b"", False
        limit = time.monotonic() + LIMIT_S
        while process.poll() is None or select.select([leader], [], [], 0)[0]:
            self.assertLess(time.monotonic(), limit, output)
            if select.select([leader], [], [], 0.1)[0]:
                output += os.read(leader, 65536)
            if send and not has_sent and output.count(b"\033[J") >= 2:
                has_sent = True
                if isinstance(send, bytes):
                    os.write(leader, send)
                else:
                    process.send_signal(send)
        self.assertEqual(process.returncode, 0, output)
        self.assertEqual(termios.tcgetattr(follower), before, "the terminal is not as it was")
        os.close(leader)
        os.close(follower)
        return output.decode()

    def test_a_terminal_is_drawn_upon_in_place_and_left_as_it_was(self):
        _, job = self.started("computes")
        for send in (b"q", b"\x03", signal.SIGTERM):
            output = self.on_terminal("--interval", "0.2", "--late", "1", job["job"], send=send)
            self.assertTrue(output.startswith("\033[?1049h"), output)
            self.assertTrue(output.endswith("\033[?1049l"), output)
            self.assertIn("\033[1;31m     1 ", output)
            for line in re.split(r"\n|\033\[H", output):
                self.assertLessEqual(len(re.sub(r"\033\[[0-9;?]*[A-Za-z]", "", line).rstrip("\r")), 80, line)
        self.assertNotRegex(self.on_terminal("--interval", "0.2", job["job"], send=b"q", NO_COLOR="1"), r"\033\[\d*m")

    def test_with_a_count_the_last_picture_stays_on_the_terminal(self):
        _, job = self.started("computes")
        output = self.on_terminal("--count", "2", "--interval", "0.2", job["job"], NO_COLOR="1")
        self.assertEqual(output.count("\033[?1049l"), 1)
        lines = output.partition("\033[?1049l")[2].splitlines()
        self.assertNotIn("\033", "".join(lines))
        self.assertRegex(lines[0], r"^hocket top  [0-9:]{8}  1 job, 3 ranks$")
        self.assertEqual([line.split()[0] for line in lines[2:7]], ["job", "RANK", "1", "0", "2"], lines)

    def test_where_a_terminal_cannot_place_text_tables_follow_each_other(self):
        _, job = self.started("computes")
        for name in ("dumb", ""):
            output = self.on_terminal("--count", "2", "--interval", "0.2", job["job"], TERM=name, NO_COLOR="1")
            self.assertNotIn("\033", output)
            self.assertEqual(output.count("job " + job["job"]), 2, output)

    def test_no_terminal_is_too_small(self):
        _, job = self.started("computes")
        for size in ((3, 80), (2, 20), (1, 1), (24, 10), (24, 39), (0, 0), (5, 300)):
            with self.subTest(size):
                output = self.on_terminal("--interval", "0.2", job["job"], send=b"q", size=size, NO_COLOR="1")
                picture = output.split("\033[H")[-1].partition("\033[J")[0].replace("\033[K", "").split("\r\n")
                self.assertLessEqual(len(picture), size[0] or 24, picture)
                for line in picture:
                    self.assertLessEqual(len(line), size[1] or 80, line)
                if size[0] == 3:
                    self.assertEqual([line.split()[0] for line in picture], ["job", "RANK", "1"], picture)


if __name__ == "__main__":
    main()
