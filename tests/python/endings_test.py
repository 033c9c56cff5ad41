# SPDX-License-Identifier: BSD-3-Clause
"""How programs end that use hocket from Python: well, by an exception, too early, with calls under way, by kill -9, in
the child of a fork. Nobody hangs, and nothing is left behind."""

import pathlib
import re
import sys
import uuid

from hocket_python import PythonTest, main, on_ranks, run

BEGIN = """
import hocket, numpy as np, os, signal, sys, time, warnings
comm = hocket.world()
rank, size = comm.rank, comm.size
comm.barrier()
"""


def has_in_environment(process, mark):
    try:
        return mark.encode() in (process / "environ").read_bytes().split(b"\0")
    except OSError:  # it has ended, or is nobody's to look at
        return False


class Endings(PythonTest):
    def ends(self, code, ranks=2, status=0, before="", **settings):
        mark = f"OF_TEST={uuid.uuid4()}"
        settings[mark[:7]] = mark[8:]
        result = self.expect(on_ranks(ranks, "-c", before + BEGIN + code, options=["-l"], **settings), status)
        left = [each for each in pathlib.Path("/proc").glob("[0-9]*") if has_in_environment(each, mark)]
        self.assertEqual(left, [])
        return result

    def test_ranks_that_are_done_wait_for_those_that_are_not(self):
        # What others leave that print an exception and go on: this program doesn't end by one.
        result = self.ends("sys.last_type = KeyError\n"
                           "if rank == 1: time.sleep(0.5)\n"  # longer than others take to look for peers that have died
                           "total = comm.reduce(np.full(1, float(rank)))\n"
                           "if rank == 0: print(total[0])\n", ranks=3)
        self.assertEqual((result.stdout, result.stderr), ("[0] 3.0\n", ""))

    def test_peers_of_a_rank_that_ends_by_an_exception_get_an_error(self):
        # While it still lives: rank 1 doesn't end before rank 0 has said that it got the error.
        before = ("import atexit, signal\n"
                  "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})\n"
                  "def end():\n"
                  "    if rank == 1: print('told', signal.sigtimedwait({signal.SIGUSR1}, 20) is not None, flush=True)\n"
                  "atexit.register(end)\n")
        result = self.ends("process = comm.allgather(np.full(1, os.getpid()))[1, 0]\n"
                           "if rank == 1: raise KeyError('its reason')\n"
                           "try: comm.barrier()\n"
                           "except hocket.Error as error:\n"
                           "    os.kill(process, signal.SIGUSR1)\n"
                           "    print(type(error).__name__, error, flush=True)\n"
                           "os._exit(0)\n", status=1, before=before)
        self.assertIn("KeyError: 'its reason'", result.stderr)
        self.assertRegex(result.stdout, r"\[0\] (PeerFailed|Broken) .*rank 1")
        self.assertIn("[1] told True", result.stdout)

    def test_a_call_that_differs_is_told_even_at_the_end(self):
        result = self.ends("if rank == 0: comm.broadcast(np.ones(4), 0)\n"  # doesn't wait for others
                           "print('in the file', end='')\n"
                           "atexit.register(print, ' and after', flush=True)\n", status=120,
                           before="import atexit\natexit.register(print, 'to the very end', flush=True)\n")
        self.assertRegex(result.stderr, r"(?m)^\[\d\] hocket: rank . of 2, at its program's end: .*broadcast.* calls "
                                        r"allgather\(39 bytes\) \(its program has ended\)")
        self.assertNotIn("ignored", result.stderr)
        self.assertRegex(result.stdout, r"(?m)^\[\d\] in the file and after\n(\[.\] .*\n)*\[\d\] to the very end")

    def test_requests_that_nobody_waited_for_are_no_failure(self):
        result = self.ends("request = comm.allreduce_start(np.ones(1))\n"
                           "if rank == 1: time.sleep(0.1)\n")
        self.assertEqual(result.stderr, "")

    def test_a_rank_that_leaves_early_is_named_to_those_that_wait(self):
        for call in ("comm.barrier()", "comm.allreduce(np.ones(3))", "comm.barrier_start().wait()"):
            result = self.ends("signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
                               "comm.barrier()\n"
                               "if rank == 1: sys.exit(3)\n"
                               f"try: {call}\n"
                               "except hocket.Error as error: print(type(error).__name__, error, flush=True)\n"
                               "os._exit(0)\n", status=120)
            self.assertRegex(result.stderr, r"\[1\] hocket: rank 1 of 2, at its program's end: ")
            self.assertRegex(result.stdout, r"\[0\] (Mismatch|Broken) .*rank 1 .*its program has ended")

    def test_a_killed_rank_is_an_error_on_the_others(self):
        result = self.ends("signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
                           "comm.barrier()\n"
                           "if rank == 1: os.kill(os.getpid(), signal.SIGKILL)\n"
                           "try: comm.barrier()\n"
                           "except hocket.PeerFailed as error: print(error.status.name, error, flush=True)\n"
                           "os._exit(0)\n", status=137)
        self.assertRegex(result.stdout, r"\[0\] PEER_FAILED .*rank 1")

    def test_a_dropped_request_is_told_and_ended(self):
        result = self.ends("warnings.simplefilter('always')\n"
                           "comm.allreduce_start(np.ones(1000))\n"
                           "comm.barrier()\n"
                           "print(comm.allreduce_start(np.ones(1)).wait())\n")
        self.assertEqual(result.stdout.count("[2.]"), 2)
        self.assertEqual(result.stderr.count("ResourceWarning: a hocket request was dropped"), 2)

    def test_a_dropped_request_that_can_be_started_again_is_told_if_it_is_under_way(self):
        result = self.ends("warnings.simplefilter('always')\n"
                           "comm.barrier_init()\n"
                           "comm.allreduce_init(np.ones(1000)).start()\n"
                           "comm.barrier()\n"
                           "print(comm.allreduce_init(np.ones(1)).start().wait())\n"
                           "comm._retire_dropped()\n"
                           "print(len(comm._dropped), 'left')\n")
        self.assertEqual((result.stdout.count("[2.]"), result.stdout.count("0 left")), (2, 2))
        self.assertEqual(result.stderr.count("ResourceWarning: a hocket request was dropped"), 2)

    def test_requests_that_are_there_at_the_end_are_no_failure(self):
        result = self.ends("running, idle = comm.allreduce_init(np.ones(1)).start(), comm.barrier_init()\n"
                           "twin = comm.dup()\n"
                           "kept = twin.barrier_init()\n"
                           "kept.start().wait()\n"
                           "if rank == 1: twin.free(), time.sleep(0.1)\n"
                           "else: twin.free()\n")
        self.assertEqual(result.stderr, "")

    def test_an_exception_in_an_operation_is_raised_where_it_was_needed(self):
        code = ("def combine(left, right): raise OverflowError('of the operation')\n"
                "operation = hocket.Operation(combine)\n"
                "alone = comm.split(rank)\n"
                "try: {}\n"
                "except OverflowError as error: print('OverflowError', error)\n"
                "except hocket.Error as error: print('Error', type(error).__name__)\n"
                "else: print('returned')\n"
                "try: comm.barrier()\n"
                "except hocket.Broken: print('broken')\n"
                "try: alone.allreduce(np.ones(1), None, operation)\n"
                "except hocket.Error as error: print('again', error)\n"
                "except OverflowError: print('only now')\n")
        for call in ("comm.allreduce(np.ones(3), None, operation)",
                     "comm.allreduce_start(np.ones(3), None, operation).wait()"):
            result = self.ends(code.format(call))
            self.assertIn("OverflowError of the operation", result.stdout)
            self.assertEqual(result.stdout.count("broken"), 2)
            raised = [line[:3] for line in result.stdout.splitlines() if "OverflowError of" in line]
            for rank in raised:
                self.assertRegex(result.stdout, rf"(?m)^{re.escape(rank)} again .*has failed before")

    def test_wrong_results_of_an_operation_are_refused(self):
        for returned, words in (("left.sum()", r"array of shape \(3,\) is needed"), ("None", "returned None"),
                                ("left.astype('f8')", "same_kind")):
            result = self.ends(f"operation = hocket.Operation(lambda left, right: {returned})\n"
                               "try: comm.allreduce(np.ones(3, 'f4').astype('i4'), None, operation)\n"
                               "except (ValueError, TypeError) as error: print(error)\n"
                               "except hocket.Error: pass\n")
            self.assertRegex(result.stdout, words)

    def test_an_exception_in_a_with_block_gives_the_communicator_up(self):
        result = self.ends("try:\n"
                           "    with comm.dup() as twin:\n"
                           "        if rank == 0: raise KeyError('here')\n"
                           "        twin.barrier()\n"
                           "except (KeyError, hocket.Error) as error: print(type(error).__name__)\n"
                           "comm.barrier()\n")
        self.assertRegex(" ".join(sorted(result.stdout.splitlines())),
                         r"^\[0\] KeyError \[1\] (Broken|PeerFailed)$")

    def test_the_child_of_a_fork_is_refused_and_does_no_harm(self):
        result = self.ends("array = hocket.zeros(5)\n"
                           "child = os.fork()\n"
                           "if child == 0:\n"
                           "    try: comm.barrier()\n"
                           "    except hocket.InvalidArgument as error: print('refused', flush=True)\n"
                           "    del array\n"
                           "    sys.exit(0)\n"
                           "assert os.waitpid(child, 0)[1] == 0\n"
                           "print(comm.allreduce(array + 1)[0])\n")
        self.assertEqual((result.stdout.count("refused"), result.stdout.count("2.0")), (2, 2))

    def test_threads_use_communicators_of_their_own(self):
        result = self.ends("import threading\n"
                           "twins = [comm.dup() for _ in range(3)]\n"
                           "sums = {}\n"
                           "def work(number):\n"
                           "    for _ in range(50):\n"
                           "        sums[number] = int(twins[number].allreduce(np.full(10, number))[0])\n"
                           "threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]\n"
                           "for thread in threads: thread.start()\n"
                           "for thread in threads: thread.join()\n"
                           "print(sorted(sums.items()))\n")
        self.assertEqual(result.stdout.count("[(0, 0), (1, 2), (2, 4)]"), 2)

    def test_wrong_settings_are_told(self):
        result = run(sys.executable, "-c", "import hocket; hocket.world()", HOCKET_WAIT="often")
        self.expect(result, 1)
        self.assertRegex(result.stderr, r"InvalidArgument: .*HOCKET_WAIT.*often")


if __name__ == "__main__":
    main()
