# SPDX-License-Identifier: BSD-3-Clause
"""Signal handlers that raise while a call is under way, operations that fail, `with` blocks that are left by an
exception, and threads that come at the same time: no call is lost or made twice, and what a program was raised stays
what it is raised."""

import sys

from hocket_python import PythonTest, main, on_ranks

BEGIN = """
import gc, hocket, numpy as np, os, signal, sys, threading, warnings
warnings.simplefilter('ignore', ResourceWarning)
comm = hocket.world()
rank, size = comm.rank, comm.size
"""

# Rank 0 gets the signal while it waits in the library for rank 1: its second thread can't run before the first one lets
# go of the interpreter's lock there, and rank 1 doesn't come before that thread has sent the signal.
INTERRUPTED = """
class Signal(ValueError):
    pass

def handle(*_):
    raise Signal

signal.signal(signal.SIGUSR1, handle)
sys.setswitchinterval(1000)
meeting = comm.dup()

def interrupted(call, of_peer=None):
    if rank != 0:
        meeting.barrier()
        return (of_peer or call)()
    go = threading.Lock()
    go.acquire()
    def interrupt():
        go.acquire()
        os.kill(os.getpid(), signal.SIGUSR1)
        meeting.barrier()
    thread = threading.Thread(target=interrupt)
    thread.start()
    go.release()
    try:
        return call()
    except Signal:
        return 'interrupted'
    finally:
        thread.join()

def outcome(call):
    try:
        return call()
    except BaseException as error:
        return type(error).__name__
"""


class Signals(PythonTest):
    def prints(self, code, of_rank_0, ranks=2, status=0):
        result = self.expect(on_ranks(ranks, "-c", BEGIN + INTERRUPTED + code, options=["-l"]), status)
        lines = [line[len("[0] "):] for line in result.stdout.splitlines() if line.startswith("[0] ")]
        self.assertEqual(lines, of_rank_0, result.stderr)
        return result

    def test_a_blocking_call_is_made_once(self):
        result = self.prints("ones, target = np.ones(1), np.zeros(1)\n"
                             "for call in (lambda: comm.allreduce(ones, target), lambda: comm.broadcast(target, 1),\n"
                             "             comm.barrier, lambda: comm.allreduce(ones, target, hocket.MAX)):\n"
                             "    print(interrupted(call), target[0])\n"
                             "    comm.barrier()\n",
                             ["interrupted 2.0", "interrupted 2.0", "interrupted 2.0", "interrupted 1.0"])
        self.assertEqual(result.stderr, "")

    def test_a_request_can_be_waited_for_again(self):
        self.prints("request = comm.allreduce_start(np.ones(1)) if rank == 0 else None\n"
                    "def of_peer(): comm.allreduce_start(np.ones(1)).wait()\n"
                    "print(interrupted(request.wait if request else None, of_peer))\n"
                    "if rank == 0: print(request.wait()[0], request.test(), request.wait()[0])\n",
                    ["interrupted", "2.0 True 2.0"])

    def test_a_request_that_can_be_started_again_can_be_waited_for_again(self):
        self.prints("ones, total = np.ones(1), np.zeros(1)\n"
                    "request = comm.allreduce_init(ones, total)\n"
                    "def of_peer(): request.start().wait()\n"
                    "if rank == 0: request.start()\n"
                    "print(interrupted(request.wait, of_peer))\n"
                    "print(request.wait()[0])\n"
                    "ones[0] = 2\n"
                    "print(request.start().wait()[0])\n",
                    ["interrupted", "2.0", "4.0"])

    def test_a_start_that_fails_is_told_after_a_signal(self):
        self.prints("twin = comm.dup()\n"
                    "request = twin.allreduce_init(np.ones(1))\n"
                    "if rank == 0: request.start()\n"
                    "print(interrupted(request.wait, lambda: twin.abort('in a test')))\n"
                    "if rank == 0: print(outcome(request.wait) in ('Broken', 'PeerFailed'), outcome(request.start))\n",
                    ["interrupted", "True Broken"])

    def test_a_request_that_fails_stays_failed(self):
        self.prints("twin = comm.dup()\n"
                    "request = twin.allreduce_start(np.ones(1)) if rank == 0 else None\n"
                    "print(interrupted(request.wait if request else None, lambda: twin.abort('in a test')))\n"
                    "if rank == 0: print({outcome(request.wait), outcome(request.test)} <= {'Broken', 'PeerFailed'})\n",
                    ["interrupted", "True"])

    def test_a_request_that_nobody_got_is_looked_after(self):
        code = ("def start(*arguments):\n"
                "    status = hocket._api.lib.hocket_allreduce_start(*arguments)\n"
                "    os.kill(os.getpid(), signal.SIGUSR1)\n"  # handled before this function returns
                "    return status\n"
                "twin = comm.dup()\n"
                "print(outcome(lambda: twin._start(start, twin._to_combine('a', np.ones(100), None, hocket.SUM))))\n"
                "gc.collect()\n"
                "twin.free()\n"
                "print(twin.is_freed)\n")
        self.prints(code, ["Signal", "True"])

    def test_an_operation_that_is_not_even_entered_fails(self):
        # As a signal's handler does that runs before the function's first line.
        code = ("def trace(frame, event, _):\n"
                "    if event == 'call' and frame.f_code.co_name == 'combine': raise KeyboardInterrupt\n"
                "operation = hocket.Operation(lambda left, right: left + right)\n"
                "twin = comm.dup()\n"
                "if rank == 0: sys.settrace(trace)\n"
                "print(outcome(lambda: twin.reduce(np.ones(1), None, operation)))\n"
                "sys.settrace(None)\n"
                "print(outcome(twin.barrier))\n")
        result = self.prints(code, ["KeyboardInterrupt", "Broken"])
        self.assertNotIn("ignored", result.stderr)

    def test_a_signal_and_an_operation_that_fails(self):
        self.prints("def combine(left, right): raise OverflowError\n"
                    "operation = hocket.Operation(combine)\n"
                    "twin = comm.dup()\n"
                    "comm.split(rank).reduce(np.ones(1), None, operation)\n"  # what the first call has to make is there
                    "def reduce(): return twin.reduce(np.ones(1), None, operation)\n"
                    "print(interrupted(reduce, lambda: outcome(reduce)))\n"
                    "print(outcome(twin.barrier))\n", ["interrupted", "Broken"])

    def test_an_allgather_of_the_programs_own_that_is_not_even_entered_fails(self):
        code = ("def trace(frame, event, _):\n"
                "    if event == 'call' and frame.f_code.co_name == 'gather': raise KeyboardInterrupt\n"
                "if rank == 0:\n"
                "    sys.settrace(trace)\n"
                "    context = hocket.default_context()\n"
                "    print(outcome(lambda: context.communicator(0, 2, lambda mine: 2 * mine)))\n"
                "    sys.settrace(None)\n")
        result = self.prints(code, ["KeyboardInterrupt"])
        self.assertEqual(result.stderr, "")


class Operations(PythonTest):
    def runs(self, code, ranks=2, status=0):
        return self.expect(on_ranks(ranks, "-c", BEGIN + code, options=["-l"]), status)

    def test_all_ranks_learn_of_one_that_fails(self):
        result = self.runs("def combine(left, right):\n"
                           "    if rank != 0: raise OverflowError\n"
                           "    return left + right\n"
                           "comm.force('reduce', 'tree:degree=2')\n"
                           "try: comm.reduce(np.ones(1), None, hocket.Operation(combine))\n"
                           "except OverflowError: print('raised')\n"
                           "except hocket.Error: pass\n"
                           "try: comm.barrier()\n"
                           "except hocket.Error: print('told')\n", ranks=4)
        self.assertEqual(result.stdout.count("told"), 4)
        self.assertGreater(result.stdout.count("raised"), 0)

    def test_one_that_fails_in_a_request_that_was_dropped(self):
        result = self.runs("def combine(left, right): raise OverflowError\n"
                           "comm.reduce_start(np.ones(1), None, hocket.Operation(combine))\n"
                           "try:\n"
                           "    for _ in range(10000): comm.allreduce(np.ones(1))\n"
                           "except hocket.Error: print('told')\n")
        self.assertEqual(result.stdout.count("told"), 2)
        result = self.runs("def combine(left, right): raise OverflowError\n"
                           "twin = comm.dup()\n"
                           "twin.reduce_start(np.ones(1), None, hocket.Operation(combine))\n"
                           "if rank == 0: twin.free()\n"
                           "else:\n"
                           "    try:\n"
                           "        for _ in range(10000): twin.barrier()\n"
                           "    except hocket.PeerFailed as error: print('told')\n")
        self.assertEqual(result.stdout.count("told"), 1)

    def test_one_that_fails_in_a_request_that_can_be_started_again(self):
        result = self.runs("def combine(left, right): raise OverflowError\n"
                           "request = comm.allreduce_init(np.ones(1), None, hocket.Operation(combine))\n"
                           "for _ in range(2):\n"
                           "    try: request.start().wait()\n"
                           "    except (OverflowError, hocket.Error) as error: print(type(error).__name__)\n"
                           "    else: print('returned')\n"
                           "try: comm.barrier()\n"
                           "except hocket.Error: print('told')\n")
        self.assertEqual(result.stdout.count("told"), 2)
        self.assertGreater(result.stdout.count("OverflowError"), 0)

    def test_an_exception_keeps_none_of_the_librarys_memory(self):
        result = self.runs("def combine(left, right):\n"
                           "    def inner(array): raise OverflowError\n"
                           "    inner(left)\n"
                           "try: comm.reduce(np.ones(1), None, hocket.Operation(combine))\n"
                           "except OverflowError as error:\n"
                           "    trace, names = error.__traceback__, []\n"
                           "    while trace:\n"
                           "        if trace.tb_frame.f_code.co_name in ('combine', 'inner'):\n"
                           "            names += [trace.tb_frame.f_code.co_name]\n"
                           "            for value in trace.tb_frame.f_locals.values():\n"
                           "                assert not isinstance(value, np.ndarray), value\n"
                           "        trace = trace.tb_next\n"
                           "    print(*names)\n"
                           "try: comm.barrier()\n"
                           "except hocket.Error: pass\n")
        self.assertEqual(result.stdout, "[0] combine combine inner\n")


class Blocks(PythonTest):
    def test_what_ends_a_with_block_is_what_is_raised(self):
        code = ("requests = []\n"
                "for of_request in (True, False):\n"
                "    twin = comm.dup()\n"
                "    try:\n"
                "        if rank == 0:\n"
                "            request = twin.allreduce_start(np.ones(100000))\n"
                "            with request if of_request else twin: raise KeyError\n"
                "        twin.barrier_start().wait()\n"
                "    except (KeyError, hocket.Error) as error: print(type(error).__name__)\n"
                "    if rank == 0:\n"
                "        try: print('returned', request.wait())\n"
                "        except hocket.Error as error: print(type(error).__name__, twin.is_freed)\n")
        result = self.expect(on_ranks(2, "-c", BEGIN + code, options=["-l"]))
        lines = [line[4:] for line in result.stdout.splitlines() if line.startswith("[0]")]
        self.assertEqual(lines, ["KeyError", "Broken False", "KeyError", "Broken True"])


    def test_a_request_that_can_be_started_again_is_freed_by_its_block(self):
        code = ("ones = np.ones(1)\n"
                "with comm.allreduce_init(ones) as request: request.start()\n"
                "print(request.is_freed, request.wait()[0])\n"
                "twin = comm.dup()\n"
                "try:\n"
                "    with twin.allreduce_init(np.ones(100000)) as request:\n"
                "        if rank == 0:\n"
                "            request.start()\n"
                "            raise KeyError\n"
                "        twin.barrier_start().wait()\n"
                "except (KeyError, hocket.Error) as error: print(type(error).__name__)\n"
                "print(request.is_freed)\n"
                "try:\n"
                "    with comm.barrier_init() as request: raise KeyError\n"
                "except KeyError: print(comm.allreduce(ones)[0])\n")
        result = self.expect(on_ranks(2, "-c", BEGIN + code, options=["-l"]))
        lines = [line[4:] for line in result.stdout.splitlines() if line.startswith("[0]")]
        self.assertEqual(lines, ["True 2.0", "KeyError", "True", "2.0"])


class Threads(PythonTest):
    def test_two_make_one_world(self):
        code = ("import hocket, threading\n"
                "real, both = hocket.context.Context, threading.Barrier(2)\n"
                "class Slow(real):\n"
                "    __slots__ = ()\n"
                "    def world(self):\n"
                "        try: both.wait(0.2)\n"  # in vain: one of them only comes here
                "        except threading.BrokenBarrierError: pass\n"
                "        return super().world()\n"
                "hocket.context.Context = Slow\n"
                "found = []\n"
                "threads = [threading.Thread(target=lambda: found.append(hocket.world())) for _ in range(2)]\n"
                "for thread in threads: thread.start()\n"
                "for thread in threads: thread.join()\n"
                "print(len(found), found[0] is found[1] is hocket.world())\n")
        self.assertEqual(self.expect(on_ranks(1, "-c", "import hocket.context\n" + code)).stdout, "2 True\n")

    def test_two_use_one_operation_for_the_first_time(self):
        code = ("both = threading.Barrier(2)\n"
                "class Slow(hocket.Operation):\n"
                "    __slots__ = ()\n"
                "    def _combiner(self, dtype):\n"
                "        both.wait(10)\n"
                "        return super()._combiner(dtype)\n"
                "operation, found = Slow(lambda left, right: left + right), []\n"
                "def look(): found.append(operation._for('a', 'b', np.dtype(float)))\n"
                "threads = [threading.Thread(target=look) for _ in range(2)]\n"
                "for thread in threads: thread.start()\n"
                "for thread in threads: thread.join()\n"
                "print(found[0] == found[1] == operation._for('a', 'b', np.dtype(float)))\n")
        self.assertEqual(self.expect(on_ranks(1, "-c", BEGIN + code)).stdout, "True\n")

    def test_communicators_end_in_one_order(self):
        # As if threads had made them: on rank 1 the last one first.
        code = ("first, second = comm.dup(), comm.dup()\n"
                "first.dup(), second.dup(), comm.split(0)\n"
                "if rank == 1: hocket.default_context()._communicators.reverse()\n")
        result = self.expect(on_ranks(2, "-c", BEGIN + code))
        self.assertEqual((result.stdout, result.stderr), ("", ""))


if __name__ == "__main__":
    main()
