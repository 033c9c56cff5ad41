# SPDX-License-Identifier: BSD-3-Clause
"""Labs come, serve and go: nodes, networks, commands in nodes, and nothing left, whoever is killed."""

import os
import random
import shutil
import signal
import subprocess
import time

from lab_command import COMMAND, LABS, SWITCHES, LabTest, eventually, main_as_root, python, running, traces
from hocket_command import environment

RECEIVE = """
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.bind(("", 5000))
receiver.settimeout(60)
"""
JOIN = """
receiver.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton("239.1.2.3") + bytes(4))
"""


class BuildingTest(LabTest):
    def test_nodes_have_ipv6_addresses_at_once(self):
        if not os.path.exists("/proc/sys/net/ipv6"):
            self.skipTest("this kernel has no IPv6")
        for lab in ("one", "two"):
            self.lab("up", "2", "--name", lab)
            about = self.status(lab)
            subnet = int(about["subnet"].split(".")[2]) // 2
            addresses = [node["ipv6_address"] for node in about["nodes"]]
            self.assertEqual(addresses, [f"fd0a:4d:0:{subnet}::{host}".replace("4d:0:0::", "4d::") for host in (1, 2)])
            # One that another node might still object to can't be bound to.
            code = f"socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).bind(('{addresses[1]}', 0)); print('bound')"
            self.assertEqual(self.in_node("n1", code, "--name", lab), "bound")

    def test_nothing_is_left_of_a_lab(self):
        for switch in SWITCHES:
            self.lab("up", "3", "--switch", switch)
            self.lab("loss", "all", "1%")
            self.lab("delay", "n1", "1ms")
            self.assertTrue(traces() - self.before)
            self.lab("down")
            self.nothing_is_left()

    def test_nodes_have_names_addresses_and_interfaces_of_their_own(self):
        self.lab("up", "3")
        address = self.status()["nodes"][2]["address"]
        self.assertEqual(self.in_node("n2", "print(socket.gethostname(), socket.gethostbyname('n2'))"), f"n2 {address}")
        self.assertEqual(self.in_node("n1", "print(sorted(os.listdir('/sys/class/net')))"), "['eth0', 'lo']")
        # `ip netns exec` would hide what else is mounted there.
        self.assertEqual(self.in_node("n1", "print(sorted(os.listdir('/sys/fs/cgroup')))"),
                         str(sorted(os.listdir("/sys/fs/cgroup"))))

    def test_memory_files_are_seen_in_their_node_only(self):
        self.lab("up", "2")
        self.in_node("n0", "open('/dev/shm/mine', 'w').close()")
        self.assertEqual(self.in_node("n0", "print(os.listdir('/dev/shm'))"), "['mine']")
        self.assertEqual(self.in_node("n1", "print(os.listdir('/dev/shm'))"), "[]")

    def echo(self, lab, sender, receiver):
        listener = self.start("exec", "--name", lab, receiver, "--", *python(RECEIVE + """
print("ready")
data, sender = receiver.recvfrom(100)
receiver.sendto(data + b"!", sender)
"""))
        self.assertEqual(listener.stdout.readline(), "ready\n")
        answer = self.in_node(sender, f"""
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.settimeout(60)
sender.sendto(b"hello", ("{receiver}", 5000))
print(sender.recv(100).decode())
""", "--name", lab)
        self.assertEqual(answer, "hello!")
        self.assertEqual(listener.wait(), 0)

    def test_labs_side_by_side_don_t_meet(self):
        self.lab("up", "2", "--name", "one")
        self.lab("up", "2", "--name", "two", "--switch", "redirect")
        self.assertNotEqual(self.status("one")["subnet"], self.status("two")["subnet"])
        for lab in ("one", "two"):
            self.echo(lab, "n0", "n1")
        other = self.status("two")["nodes"][1]["address"]
        trial = ("sender = socket.socket()\ntry: sender.connect(('" + other + "', 5000))\n"
                 "except OSError as error: print(error.strerror)")
        self.assertEqual(self.in_node("n0", trial, "--name", "one"), "Network is unreachable")
        # A process in one lab doesn't keep the other's nodes.
        sleeper = self.start("exec", "--name", "one", "n0", "--", "sleep", "1000")
        self.assertTrue(eventually(lambda: self.status("one")["processes"]))
        self.refused_lab("down", "two", "--name", "one", words=["lab excludes --name"], code=2)
        self.assertIn("lab two", self.lab("status", "--name", "two").stdout)
        self.lab("down", "--name", "two")
        self.assertEqual(sleeper.poll(), None)
        self.echo("one", "n1", "n0")

    def test_64_nodes_reach_each_other(self):
        for switch in SWITCHES:
            self.lab("up", "64", "--switch", switch)
            self.echo("lab", "n0", "n63")
            self.echo("lab", "n62", "n1")
            self.lab("down")

    def test_all_nodes_know_their_neighbours(self):
        """The kernel keeps a thousand that it has asked for, in all namespaces together; 40 nodes have more."""
        self.lab("up", "40")
        for node in ("n0", "n39"):
            known = self.in_node(node, "print(open('/proc/net/arp').read())").splitlines()[1:]
            self.assertEqual(sum(" 0x6 " in line for line in known), 39, "permanent")

    def test_multicast_reaches_all_nodes(self):
        for switch in SWITCHES:
            self.lab("up", "4", "--switch", switch)
            receivers = [self.start("exec", f"n{node}", "--", *python(
                RECEIVE + JOIN + "print('ready')\nprint(receiver.recv(100).decode())")) for node in range(1, 4)]
            for receiver in receivers:
                self.assertEqual(receiver.stdout.readline(), "ready\n")
            self.in_node("n0", "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'all', ('239.1.2.3', 5000))")
            for receiver in receivers:
                self.assertEqual(receiver.stdout.readline(), "all\n")
            self.lab("down")

    def test_a_command_s_exit_code_is_that_of_exec(self):
        self.lab("up", "2")
        self.lab("exec", "n0", "--", "sh", "-c", "exit 7", code=7)
        self.lab("exec", "n0", "sh", "-c", "exit 8", code=8)
        self.lab("exec", "n1", "--", "no-such-program", code=127)
        self.lab("exec", "all", "--", "sh", "-c", "test $(hostname) != n1 || exit 9", code=9)

    def test_each_node_runs_a_command_until_it_fails_and_what_it_leaves_stays(self):
        self.lab("up", "3")
        self.assertEqual(self.lab("exec", "each", "--", "hostname").stdout.split(), ["n0", "n1", "n2"])
        failed = self.lab("exec", "each", "--", "sh", "-c", "hostname; test $(hostname) != n1 || exit 9", code=9)
        self.assertEqual(failed.stdout.split(), ["n0", "n1"])
        self.assertIn("node n1: exit code 9; not run in the 1 node behind it", failed.stderr)
        self.lab("exec", "each", "--", "no-such-program", code=127)
        self.lab("exec", "each", "--", "sh", "-c", "setsid sleep 1000 >/dev/null 2>&1 &")
        # Each is setsid for a moment.
        self.assertTrue(eventually(
            lambda: len([one for one in self.status()["processes"] if one["program"] == "sleep"]) == 3))

    def test_all_nodes_run_a_command_with_their_names_in_front(self):
        self.lab("up", "11")
        lines = sorted(self.lab("exec", "all", "--", "hostname").stdout.splitlines())
        self.assertEqual(lines, sorted(f"[{'n' + str(node):>3}] n{node}" for node in range(11)))

    def test_what_all_nodes_run_ends_with_the_command_that_started_it(self):
        self.lab("up", "2")
        everywhere = self.start("exec", "all", "--", "sh", "-c", "setsid sleep 1000 & sleep 1000")
        self.assertTrue(eventually(lambda: len(self.status()["processes"]) >= 4))
        everywhere.kill()
        self.assertTrue(eventually(lambda: not self.status()["processes"]))

    def test_down_ends_processes_in_the_nodes(self):
        self.lab("up", "2")
        sleeper = self.start("exec", "n1", "--", "sleep", "1000")
        self.assertTrue(eventually(lambda: [one["program"] for one in self.status()["processes"]] == ["sleep"]))
        self.assertEqual([one["node"] for one in self.status()["processes"]], ["n1"])
        self.lab("down")
        self.assertEqual(sleeper.wait(), -signal.SIGKILL)

    def test_a_lab_is_not_built_twice(self):
        self.lab("up", "2")
        self.refused_lab("up", "3", words=["lab is up already", "hocket lab down"], code=1)
        self.assertEqual(len(self.status()["nodes"]), 2)

    def test_ended_while_it_is_built_it_is_stale_or_whole(self):
        chance = random.Random(20241)
        for _ in range(12):
            builder = subprocess.Popen([COMMAND, "lab", "up", "40"], env=environment(HOCKET_LAB_DIRECTORY=LABS),
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(chance.uniform(0, 0.06))  # anywhere in between; each moment must be right
            builder.kill()
            builder.wait()
            if os.path.exists(os.path.join(LABS, "lab")):
                state = self.status()
                if not state["stale"]:
                    self.assertEqual(len(state["nodes"]), 40)
                self.lab("down")
            elif os.path.exists(LABS):
                self.lab("down", "--all")
            self.nothing_is_left()

    def test_a_stale_lab_is_told_of_and_removed(self):
        for remedy in (["down", "lab"], ["down", "--all"], ["up", "2"]):
            self.lab("up", "3")
            subprocess.run(["umount", os.path.join(LABS, "lab", "n1", "net")], check=True)
            self.assertTrue(self.status()["stale"])
            self.assertIn("stale", self.lab("status").stdout)
            self.lab(*remedy)
            if remedy[0] == "up":
                self.assertEqual(len(self.status()["nodes"]), 2)
                self.lab("down")
            self.nothing_is_left()

    def test_a_lab_of_which_only_the_folder_is_left_is_removed(self):
        self.lab("up", "2")
        subprocess.run(["umount", "-l", os.path.join(LABS, "lab")], check=True)
        self.assertTrue(self.status()["stale"])
        self.refused_lab("exec", "n0", "--", "true", words=["stale", "hocket lab down lab"], code=1)
        self.lab("down")

    def test_nodes_may_have_cores_of_their_own(self):
        usable = sorted(os.sched_getaffinity(0))
        self.lab("up", str(len(usable) + 1), "--cores", "own")
        code = "import os; print(sorted(os.sched_getaffinity(0)))"
        for node in range(len(usable) + 1):
            self.assertEqual(self.in_node(f"n{node}", code), str([usable[node % len(usable)]]))
        self.lab("down")
        self.lab("up", "1", "--cores", "own")
        self.assertEqual(self.in_node("n0", code), str(usable))

    def test_what_is_not_a_lab_is_left_alone(self):
        precious = os.path.join(LABS, "work", "thesis")
        os.makedirs(os.path.dirname(precious))
        with open(precious, "w", encoding="utf-8") as file:
            file.write("finished")
        self.lab("up", "1")
        self.lab("down", "--all")
        self.assertTrue(os.path.exists(precious))
        self.refused_lab("up", "1", "--name", "work", words=["can't remove", "work", "HOCKET_LAB_DIRECTORY"], code=1)
        self.refused_lab("down", "work", words=["can't remove", "work"], code=1)
        self.assertTrue(os.path.exists(precious))
        shutil.rmtree(LABS)

    def test_what_is_wrong_is_said(self):
        self.refused_lab("exec", "n0", "--", "true", words=["there is no lab", "hocket lab up"], code=1)
        self.refused_lab("down", words=["there is no lab"], code=1)
        self.lab("down", "--all")
        self.refused_lab("status", "other", words=["there is no lab `other`"], code=1)
        for nodes in ("0", "257", "-1"):
            self.refused_lab("up", nodes, words=["1 to 256"], code=2)
        self.refused_lab("up", "2", "--name", "../x", words=["../x", "lower-case"], code=2)
        self.lab("up", "2")
        self.refused_lab("exec", "n2", "--", "true", words=["n2", "n0 to n1"], code=2)
        self.refused_lab("exec", "n0", words=["what should be run"], code=2)
        self.lab("up", "2", "--name", "other")
        self.refused_lab("exec", "n0", "--", "true", words=["which lab", "lab, other", "--name"], code=1)

    def test_who_is_not_root_is_told_so(self):
        nobody = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", COMMAND, "lab", "up", "2"],
                                env=environment(HOCKET_LAB_DIRECTORY=LABS), capture_output=True, text=True, check=False)
        if nobody.returncode == 127:
            self.skipTest("the command can't be reached by others: " + nobody.stderr)
        self.assertEqual(nobody.returncode, 1, nobody.stderr)
        self.assertIn("needs root", nobody.stderr)

    def test_a_job_s_first_process_takes_all_with_it(self):
        self.lab("up", "2")
        everywhere = self.start("exec", "all", "--", "sleep", "1000")
        self.assertTrue(eventually(lambda: len(self.status()["processes"]) >= 2))
        sleepers = [one["process"] for one in self.status()["processes"]]
        with open(f"/proc/{everywhere.pid}/task/{everywhere.pid}/children", encoding="utf-8") as file:
            os.kill(int(file.read().split()[0]), signal.SIGKILL)
        self.assertEqual(everywhere.wait(), 128 + signal.SIGKILL)
        self.assertFalse(any(running(sleeper) for sleeper in sleepers))


main_as_root()
