# SPDX-License-Identifier: BSD-3-Clause
"""hocket run: what ranks print, how they end, that nothing of them is left. Called with the command and run_ranks."""

import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
import time
import uuid

from hocket_command import COMMAND, LIMIT_S, CommandTest, environment, main, run

RANKS = os.path.abspath(sys.argv.pop(2))
MARK = "RUN_TEST_MARK"


def python(code):
    """A rank in Python that knows its `rank`, and does not buffer."""
    return [sys.executable, "-u", "-c", "import os, sys, time, signal\n"
            "rank = int(os.environ['HOCKET_RUN'].split('/')[0])\n" + code]


def eventually(condition):
    """Waits until it holds; false when it never does."""
    limit = time.monotonic() + LIMIT_S
    while not condition():
        if time.monotonic() > limit:
            return False
        time.sleep(0.02)
    return True


def processes_with(mark):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                marked = f"{MARK}={mark}".encode() in file.read()
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                ended = file.read().rpartition(")")[2].split()[0] in "ZX"
        except OSError:
            continue
        if marked and not ended:
            found.append(int(pid))
    return found


class RunTest(CommandTest):
    def started(self, ranks, *command, options=(), ready=None, **popen):
        """A job on its way, and the mark of its processes, once there are `ready` of them."""
        mark = uuid.uuid4().hex
        job = subprocess.Popen([COMMAND, "run", "-n", str(ranks), "--env", f"{MARK}={mark}", *options, *command],
                               env=environment(), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **popen)
        self.addCleanup(job.stderr.close)
        self.addCleanup(job.stdout.close)
        self.addCleanup(job.kill)
        self.assertTrue(eventually(lambda: len(processes_with(mark)) >= (ready or ranks)), "the ranks did not start")
        return job, mark

    def ended(self, job, mark, code):
        out, err = job.communicate(timeout=LIMIT_S)
        self.assertEqual(job.returncode, code, f"stdout:\n{out}\nstderr:\n{err}")
        self.assertEqual(processes_with(mark), [], "left behind")
        return out, err


class World(RunTest):
    def test_ranks_find_each_other(self):
        for ranks in [1, 2, 5, 16]:
            with self.subTest(ranks=ranks):
                result = self.expect(run("run", "-n", str(ranks), RANKS, "sum"), 0)
                total = ranks * (ranks + 1) // 2
                self.assertEqual(sorted(result.stdout.splitlines()),
                                 sorted(f"rank {rank} of {ranks}: sum {total}" for rank in range(ranks)))
                self.assertEqual(result.stderr, "")

    def test_a_trace_that_cannot_be_written_is_told_once(self):
        result = self.expect(run("run", "-n", "3", RANKS, "sum", HOCKET_TRACE="/no/such/folder/trace.json"), 0)
        self.assertRegex(result.stderr, r"^[^\n]*/folder/trace.json: .*; make its folder, .* without a trace\n$")
        self.assertEqual(len(result.stdout.splitlines()), 3)

    def test_a_program_started_by_hand_is_one_rank(self):
        result = self.expect(subprocess.run([RANKS, "sum"], env=environment(), capture_output=True, text=True,
                                            timeout=LIMIT_S, check=False), 0)
        self.assertEqual(result.stdout, "rank 0 of 1: sum 1\n")

    def test_worlds_may_be_made_as_often_as_wanted(self):
        for ranks in ["1", "2", "5"]:
            result = self.expect(run("run", "-n", ranks, RANKS, "again"), 0)
            self.assertEqual(result.stdout, "again\n" * int(ranks))

    def test_wrappers_that_close_descriptors_do_no_harm(self):
        closing = python(f"os.closerange(3, 4096); os.execv({RANKS!r}, [{RANKS!r}, 'sum'])")
        child = python(f"import subprocess; sys.exit(subprocess.run([{RANKS!r}, 'sum'], close_fds=True).returncode)")
        shell = ["bash", "-c", f"'{RANKS}' sum; exit $?"]
        for wrapper in [closing, child, shell, ["env", RANKS], ["setsid", "-w", RANKS]]:
            with self.subTest(wrapper[0]):
                result = self.expect(run("run", "-n", "3", *wrapper), 0)
                self.assertEqual(result.stdout.count("sum 6"), 3, result.stdout)

    def test_programs_one_after_the_other_in_a_rank_each_have_their_world(self):
        result = self.expect(run("run", "-n", "3", "bash", "-c", f"'{RANKS}' sum && '{RANKS}' sum"), 0)
        self.assertEqual(result.stdout.count("sum 6"), 6, result.stdout)

    def test_a_job_inside_a_job_is_its_own(self):
        result = self.expect(run("run", "-n", "2", COMMAND, "run", "-n", "3", RANKS, "sum"), 0)
        self.assertEqual(result.stdout.count("of 3: sum 6"), 6, result.stdout)

    def test_a_rank_that_ends_before_it_has_come_is_an_error_on_the_others(self):
        result = run("run", "-n", "4", "-l", RANKS, "early", "2")
        self.expect(result, 9)
        self.assertRegex(result.stderr, r"\[[013]\] .*peer failed: hocket_comm_world: rank 2 \(process \d+\) has ended "
                                        r"with exit code 0")

    def test_a_rank_that_never_comes_is_named_in_time(self):
        result = run("run", "-n", "3", RANKS, "never", "1", HOCKET_SETUP_TIMEOUT_S="1")
        self.expect(result, 9)
        self.assertRegex(result.stderr, r"timed out: hocket_comm_world: rank 1 \(process \d+\) did not come to .* "
                                        r"within 1 s")

    def test_a_damaged_variable_is_an_error(self):
        for value in ["1", "0/2", "2/2:0:0", "x/y:z", "0/2:" + "0" * 32 + ":" + "0" * 31]:
            result = subprocess.run([RANKS, "sum"], env=environment(HOCKET_RUN=value), capture_output=True, text=True,
                                    timeout=LIMIT_S, check=False)
            self.expect(result, 9)
            self.assertIn(f"HOCKET_RUN={value} can't be understood", result.stderr)

    def test_a_launcher_that_is_not_there_is_an_error(self):
        place = "0/2:" + "0" * 32 + ":" + "0" * 32
        result = subprocess.run([RANKS, "sum"], env=environment(HOCKET_RUN=place), capture_output=True, text=True,
                                timeout=LIMIT_S, check=False)
        self.expect(result, 9)
        self.assertIn("unset HOCKET_RUN", result.stderr)


class Output(RunTest):
    def test_each_line_has_its_rank_and_stays_whole(self):
        code = ("for line in range(200):\n"
                "  stream = sys.stdout if line % 2 else sys.stderr\n"
                "  for piece in [f'rank {rank} ', f'line {line} ', 'x' * (line * line), '\\n']:\n"
                "    stream.write(piece)\n    stream.flush()\n")
        result = self.expect(run("run", "-n", "11", "-l", *python(code)), 0)
        for odd, text in [(1, result.stdout), (0, result.stderr)]:
            seen = []
            for line in text.splitlines():
                match = re.fullmatch(r"\[( ?\d+)\] rank (\d+) line (\d+) (x*)", line)
                self.assertTrue(match, line[:100])
                self.assertEqual(int(match[1]), int(match[2]))
                self.assertEqual(len(match[1]), 2)
                self.assertEqual(len(match[4]), int(match[3]) ** 2)
                seen.append((int(match[2]), int(match[3])))
            self.assertEqual(sorted(seen), [(rank, line) for rank in range(11) for line in range(odd, 200, 2)])

    def test_a_last_line_without_an_end_is_not_lost(self):
        result = self.expect(run("run", "-n", "2", "-l", *python("sys.stdout.write(f'unfinished {rank}')")), 0)
        self.assertEqual(sorted(result.stdout.splitlines()), ["[0] unfinished 0", "[1] unfinished 1"])

    def test_what_a_rank_said_last_stands_before_the_news_of_its_death(self):
        result = self.expect(run("run", "-n", "1", "-l", *python("sys.stderr.write('alas\\n'); sys.exit(5)")), 5)
        self.assertRegex(result.stderr,
                         r"^\[0\] alas\nhocket run: rank 0 \(process \d+\) has ended with exit code 5\n$")

    def test_without_labels_nothing_is_added(self):
        result = self.expect(run("run", "-n", "1", "printf", "a\\nb"), 0)
        self.assertEqual((result.stdout, result.stderr), ("a\nb", ""))

    def test_a_reader_that_goes_away_ends_the_job(self):
        job, mark = self.started(2, "yes", options=["-l"])
        self.assertIn("] y", job.stdout.readline())
        job.stdout.close()
        self.assertEqual(job.wait(LIMIT_S), 128 + signal.SIGPIPE)
        self.assertEqual(processes_with(mark), [])

    def test_a_reader_that_does_not_read_holds_up_no_ending(self):
        job, mark = self.started(2, "yes", options=["-l", "--grace", "0.2"])
        job.send_signal(signal.SIGTERM)
        self.assertEqual(job.wait(LIMIT_S), 128 + signal.SIGTERM)
        self.assertEqual(processes_with(mark), [])

    def test_input_goes_to_rank_0(self):
        code = "print(rank, repr(sys.stdin.read()))"
        result = subprocess.run([COMMAND, "run", "-n", "3", "-l", *python(code)], env=environment(), input="hello",
                                capture_output=True, text=True, timeout=LIMIT_S, check=False)
        self.expect(result, 0)
        self.assertEqual(sorted(result.stdout.splitlines()), ["[0] 0 'hello'", "[1] 1 ''", "[2] 2 ''"])


class Endings(RunTest):
    def test_the_exit_code_is_that_of_the_rank_that_failed(self):
        for code in [1, 3, 255]:
            result = run("run", "-n", "3", *python(f"sys.exit({code} if rank == 1 else time.sleep(1000))"))
            self.expect(result, code)
            self.assertRegex(result.stderr, rf"rank 1 \(process \d+\) has ended with exit code {code}\n")
            self.assertIn("ending the 2 ranks left", result.stderr)

    def test_a_signal_is_named(self):
        for number, name in [(9, "SIGKILL"), (11, "SIGSEGV"), (15, "SIGTERM")]:
            code = f"os.kill(os.getpid(), {number}) if rank == 0 else time.sleep(1000)"
            result = run("run", "-n", "2", *python(code))
            self.expect(result, 128 + number)
            self.assertRegex(result.stderr, rf"rank 0 \(process \d+\) was ended by signal {number} \({name}\)")

    def test_a_rank_that_dies_in_a_collective_ends_the_job_with_its_code(self):
        result = run("run", "-n", "4", RANKS, "die", "2")
        self.expect(result, 128 + 9)
        self.assertRegex(result.stderr, r"rank 2 \(process \d+\) was ended by signal 9 \(SIGKILL\)")

    def test_a_program_that_is_not_there_or_cannot_be_run(self):
        with tempfile.TemporaryDirectory() as directory:
            script = os.path.join(directory, "script")
            with open(script, "w", encoding="utf-8") as file:
                file.write("#!/nowhere/interpreter\n")
            self.refused("run", "-n", "2", script, code=126, words=[script, "Permission denied"])
            os.chmod(script, 0o755)
            self.refused("run", "-n", "2", script, code=127, words=[script, "interpreter"])
            self.refused("run", "-n", "2", directory, code=126, words=[directory])
        self.refused("run", "-n", "2", "no-such-program", code=127, words=["`no-such-program`", "PATH"])
        self.refused("run", "-n", "2", "./no-such-program", code=127, words=["`./no-such-program`"])

    def test_time_that_is_over(self):
        stubborn = python("signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(1000)")
        result = run("run", "-n", "2", "--timeout", "0.5", "--grace", "0.1", *stubborn)
        self.expect(result, 124)
        self.assertIn("--timeout", result.stderr)

    def test_what_ranks_leave_behind_ends_with_them(self):
        script = "setsid sleep 1000 & setsid sleep 1000 & read -r line; exit 0"
        job, mark = self.started(2, "bash", "-c", script, ready=5, stdin=subprocess.PIPE)
        job.stdin.close()
        job.stdin = None
        self.ended(job, mark, 0)

    def test_ranks_have_the_grace_time_to_end_well(self):
        code = ("signal.signal(signal.SIGTERM, lambda *_: (print('put away', rank), os._exit(0)))\n"
                "print('ready')\nwhile True: time.sleep(1000)")
        job, mark = self.started(2, *python(code), options=["-l", "--grace", "100"])
        for _ in range(2):
            self.assertIn("ready", job.stdout.readline())
        job.send_signal(signal.SIGTERM)
        out, err = self.ended(job, mark, 128 + signal.SIGTERM)
        self.assertEqual(sorted(out.splitlines()), ["[0] put away 0", "[1] put away 1"])
        self.assertIn("interrupted by signal 15 (SIGTERM)", err)


class Killing(RunTest):
    """Whoever is killed, nothing is left. bash starts the sleeps as its children; one has a session of its own."""

    TREE = ["bash", "-c", "setsid sleep 1000 & sleep 1000; exit 0"]
    TREE_SIZE = 3

    def tree(self, ranks, **more):
        return self.started(ranks, *self.TREE, ready=ranks * self.TREE_SIZE, **more)

    @staticmethod
    def supervisor_of(job):
        with open(f"/proc/{job.pid}/task/{job.pid}/children", encoding="utf-8") as file:
            (supervisor,) = map(int, file.read().split())
        return supervisor

    def test_signals_to_the_launcher_end_everything(self):
        for number in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]:
            job, mark = self.tree(3)
            job.send_signal(number)
            self.ended(job, mark, 128 + number)

    def test_a_second_signal_does_not_wait(self):
        stubborn = python("signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready'); time.sleep(1000)")
        job, mark = self.started(2, *stubborn, options=["-l", "--grace", str(10 * LIMIT_S)])
        for _ in range(2):
            self.assertIn("ready", job.stdout.readline())
        job.send_signal(signal.SIGTERM)
        self.assertIn("interrupted", job.stderr.readline())
        job.send_signal(signal.SIGTERM)
        self.ended(job, mark, 128 + signal.SIGTERM)

    def test_killing_the_launcher_leaves_nothing(self):
        for _ in range(3):
            job, mark = self.tree(4)
            job.kill()
            job.wait(LIMIT_S)
            self.assertTrue(eventually(lambda m=mark: not processes_with(m)), "left behind")

    def test_killing_the_launcher_while_it_starts_ranks_leaves_nothing(self):
        for ready in [1, 3, 6]:
            job, mark = self.started(12, *self.TREE, ready=ready)
            job.kill()
            job.wait(LIMIT_S)
            self.assertTrue(eventually(lambda m=mark: not processes_with(m)), "left behind")

    def test_killing_the_supervisor_leaves_nothing(self):
        job, mark = self.tree(3)
        os.kill(self.supervisor_of(job), signal.SIGKILL)
        _, err = self.ended(job, mark, 128 + signal.SIGKILL)
        self.assertIn("supervising process was ended by signal 9 (SIGKILL)", err)

    def test_a_stopped_supervisor_keeps_nobody(self):
        for number in [signal.SIGTERM, signal.SIGKILL]:
            with self.subTest(number):
                job, mark = self.tree(3)
                os.kill(self.supervisor_of(job), signal.SIGSTOP)
                job.send_signal(number)
                if number == signal.SIGTERM:
                    self.ended(job, mark, 128 + number)
                else:
                    job.wait(LIMIT_S)
                    self.assertTrue(eventually(lambda m=mark: not processes_with(m)), "left behind")

    def test_a_stopped_rank_is_ended_too(self):
        job, mark = self.started(2, "sleep", "1000", options=["--grace", str(10 * LIMIT_S)])
        for process in processes_with(mark):
            os.kill(process, signal.SIGSTOP)
        job.send_signal(signal.SIGTERM)
        self.ended(job, mark, 128 + signal.SIGTERM)

    def test_control_c_at_a_terminal(self):
        mark = uuid.uuid4().hex
        code = ("try:\n  print('ready')\n  time.sleep(1000)\n"
                "except KeyboardInterrupt:\n  print('caught', rank)\n")
        child, terminal = pty.fork()
        if child == 0:
            words = [COMMAND, "run", "-n", "2", "-l", "--env", f"{MARK}={mark}", *python(code)]
            os.execve(COMMAND, words, environment())
        text = b""
        while text.count(b"ready") < 2:
            text += os.read(terminal, 4096)
        os.write(terminal, b"\x03")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 128 + signal.SIGINT)
        try:
            while piece := os.read(terminal, 4096):
                text += piece
        except OSError:
            pass  # the terminal's end
        os.close(terminal)
        for rank in range(2):
            self.assertEqual(text.count(f"[{rank}] caught {rank}".encode()), 1, text)
        self.assertEqual(processes_with(mark), [])


class OpenFiles(RunTest):
    @staticmethod
    def limited(soft, hard):
        return ["bash", "-c", f'ulimit -S -n {soft}; ulimit -H -n {hard}; exec "$@"', "limited"]

    def test_a_low_soft_limit_is_raised_and_ranks_have_the_users(self):
        result = self.expect(run("run", "-l", "-n", "32", "bash", "-c", "ulimit -S -n", before=self.limited(64, 512)),
                             0)
        self.assertEqual(sorted(result.stdout.splitlines()), [f"[{rank:2}] 64" for rank in range(32)])
        result = self.expect(run("run", "-l", "-n", "32", RANKS, "sum", before=self.limited(64, 512)), 0)
        self.assertEqual(result.stdout.count("sum 528"), 32)

    def test_a_hard_limit_that_is_too_low_says_what_is_needed(self):
        result = self.expect(run("run", "-l", "-n", "64", RANKS, "sum", before=self.limited(128, 128)), 1)
        self.assertRegex(result.stderr, "64 ranks with --label take 224 open files, and the limit is 128; raise it")

    def test_ranks_whose_limit_is_too_low_say_so(self):
        result = run("run", "-n", "64", RANKS, "sum", before=self.limited(110, 110))
        self.assertNotEqual(result.returncode, 0)
        self.assertRegex(result.stderr, "raise `ulimit -n`: Too many open files")


class Options(RunTest):
    def test_variables_for_the_ranks(self):
        result = self.expect(run("run", "-n", "1", "--env", "A=1", "--env", "B=x=y", "--env", "C=", "bash", "-c",
                                 'echo "$A,$B,${C-unset}"'), 0)
        self.assertEqual(result.stdout, "1,x=y,\n")

    def test_a_rank_a_core(self):
        cores = sorted(os.sched_getaffinity(0))
        result = self.expect(run("run", "-n", "3", "-l", "--bind", "cores",
                                 *python("print(rank, sorted(os.sched_getaffinity(0)))")), 0)
        self.assertEqual(sorted(result.stdout.splitlines()),
                         [f"[{rank}] {rank} [{cores[rank % len(cores)]}]" for rank in range(3)])
        free = self.expect(run("run", "-n", "1", *python("print(sorted(os.sched_getaffinity(0)))")), 0)
        self.assertEqual(free.stdout, f"{cores}\n")

    def test_the_programs_own_options_are_left_alone(self):
        for dashes in [[], ["--"]]:
            result = self.expect(run("run", "-n", "1", *dashes, "echo", "-n", "2", "--label", "--", "--help"), 0)
            self.assertEqual(result.stdout, "2 --label -- --help")

    def test_settings_that_cannot_be_understood_stop_it_before_the_launch(self):
        self.refused("run", "-n", "2", "echo", "started", code=1, words=["`HOCKET_ALREDUCE`"], HOCKET_ALREDUCE="ring")
        self.refused("run", "-n", "2", "--env", "HOCKET_WAIT=snooze", "echo", code=1, words=["HOCKET_WAIT=snooze"])

    def test_bad_lines(self):
        self.refused("run", words=["what should be run", "hocket run -n 4"])
        self.refused("run", "echo", words=["how many ranks"])
        self.refused("run", "-n", "0", "echo", words=["0"])
        self.refused("run", "-n", "two", "echo", words=["two"])
        self.refused("run", "-n", "2", "--bind", "sockets", "echo", words=["sockets"])
        self.refused("run", "-n", "2", "--timeout", "-1", "echo", words=["--timeout"])
        self.refused("run", "-n", "2", "--env", "A", "echo", words=["--env A", "NAME=VALUE"])
        self.refused("run", "-n", "2", "--env", "HOCKET_RUN=0/1", "echo", words=["HOCKET_RUN"])


if __name__ == "__main__":
    main()
