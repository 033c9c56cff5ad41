# SPDX-License-Identifier: BSD-3-Clause
"""What happens to packets: loss, duplicates, flipped bits, cuts, delay, reordering; on both kinds of switch."""

import os
import signal

from lab_command import LABS, LabTest, eventually, main_as_root, pin_array, python, running, traces

PACKETS = 400
# Waits as long as it takes for as many as are expected, and a little for any that are not.
RECEIVE = """
expected = %d
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.setsockopt(socket.SOL_SOCKET, 33, 1 << 24)  # SO_RCVBUFFORCE: nothing is lost for want of room
receiver.bind(("", 5000))
print("ready")
sys.stdin.readline()
numbers = []
while True:
    receiver.settimeout(60 if len(numbers) < expected else 0.15)
    try: data = receiver.recv(2000)
    except TimeoutError: break
    numbers.append(struct.unpack("!I", data[:4])[0])
    if data[4:] != bytes(200): print("damaged", data)
print(*numbers)
"""
SEND = """
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for number in range(%d):
    sender.sendto(struct.pack("!I", number) + bytes(200), ("%s", 5000))
"""
ROUND_TRIP = """
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.settimeout(60)
begin = time.monotonic()
sender.sendto(b"there", ("%s", 5000))
sender.recv(100)
print(time.monotonic() - begin)
"""
OFFLOADS = """
import array, fcntl
def is_on(question):
    value = array.array("I", [question, 0])
    fcntl.ioctl(socket.socket(), 0x8946, struct.pack("16sQ16x", b"eth0", value.buffer_info()[0]))
    return value[1]
print([is_on(question) for question in (0x16, 0x1e, 0x23)])  # checksums, TSO, GSO
"""
ALL = list(range(PACKETS))
TWICE = sorted(2 * ALL)


class Impairments:
    """For each kind of switch."""

    switch = ""

    def setUp(self):
        super().setUp()
        self.lab("up", "3", "--switch", self.switch)

    def numbers(self, expected, sender="n0", receiver="n1", family="AF_INET"):
        """Those that arrive, in their order, of what is sent without a pause. `expected`: how many at least."""
        nodes = {node["name"]: node["ipv6_address"] for node in self.status()["nodes"]}
        target = nodes[receiver] if family == "AF_INET6" else receiver
        code = (RECEIVE % expected).replace("AF_INET", family)
        listener = self.start("exec", receiver, "--", *python(code), stdin=-1)
        self.assertEqual(listener.stdout.readline(), "ready\n")
        self.in_node(sender, (SEND % (PACKETS, target)).replace("AF_INET", family))
        output = listener.communicate("all sent\n")[0]
        self.assertNotIn("damaged", output)
        return [int(word) for word in output.split()]

    def all_arrive(self, **way):
        self.assertEqual(self.numbers(PACKETS, **way), ALL)

    def none_arrives(self, **way):
        self.assertEqual(self.numbers(0, **way), [])

    def hits(self, node, direction, effect):
        for link in self.status()["links"]:
            if link["node"] == node and link["direction"] == direction:
                return link["effects"].get(effect, {}).get("packets", 0)
        return 0

    def test_nothing_happens_unless_asked_for(self):
        self.all_arrive()
        self.assertEqual(self.status()["links"], [])

    def test_a_lab_of_another_build_is_told_of(self):
        self.lab("loss", "all", "1%")
        name = self.status()["name"]
        self.assertTrue(pin_array(f"{LABS}/{name}/bpf/settings", 8, 512))
        self.assertIn("another build of hocket", self.status()["links_unknown"])
        self.assertIn("make it anew", self.lab("loss", "all", "2%", code=1).stderr)

    def test_all_are_lost_or_none(self):
        self.lab("loss", "all", "100%")
        self.none_arrives()
        self.assertEqual(self.hits("n1", "to", "loss"), PACKETS)
        self.assertIn("BPF program", [kind for kind, _ in traces() - self.before])
        self.lab("loss", "0")
        self.all_arrive()

    def test_packets_that_are_held_are_damaged_as_others_are(self):
        self.lab("delay", "n1", "1ms")
        self.lab("corrupt", "n1", "100%")
        self.none_arrives()
        self.assertEqual(self.hits("n1", "to", "corrupt"), PACKETS)
        self.assertEqual(self.hits("n1", "to", "delay"), PACKETS)

    def test_the_same_seed_loses_the_same_packets(self):
        lost = []
        for seed in ("7", "7", "8"):
            self.lab("loss", "all", "10%", "--seed", seed)
            lost.append(set(ALL) - set(self.numbers(0)))
        self.assertEqual(lost[0], lost[1])
        self.assertNotEqual(lost[0], lost[2])
        self.assertTrue(0 < len(lost[0]) < PACKETS / 2, lost[0])

    def test_packets_of_ipv6_meet_what_others_do(self):
        self.assertEqual(self.numbers(PACKETS, family="AF_INET6"), ALL)
        arrived = []
        for family in ("AF_INET", "AF_INET6"):
            self.lab("loss", "all", "10%", "--seed", "7")
            arrived.append(self.numbers(0, family=family))
        self.assertEqual(arrived[0], arrived[1])
        self.assertLess(len(arrived[1]), PACKETS)
        self.lab("reset")
        self.lab("delay", "n1", "1ms")
        self.lab("duplicate", "all", "100%")
        self.assertEqual(sorted(self.numbers(2 * PACKETS, family="AF_INET6")), TWICE)
        self.lab("duplicate", "all", "0")
        self.lab("corrupt", "all", "100%")
        self.assertEqual(self.numbers(0, family="AF_INET6"), [])
        self.assertEqual(self.hits("n1", "to", "corrupt"), PACKETS)

    def test_a_node_s_loss_concerns_its_own_packets_both_ways(self):
        self.lab("loss", "n2", "100%")
        self.none_arrives(sender="n0", receiver="n2")
        self.none_arrives(sender="n2", receiver="n0")
        self.all_arrive(sender="n0", receiver="n1")
        self.assertEqual(self.hits("n2", "to", "loss"), PACKETS)
        self.assertEqual(self.hits("n2", "from", "loss"), PACKETS)

    def test_duplicates_arrive_twice(self):
        self.lab("duplicate", "all", "100%")
        self.assertEqual(sorted(self.numbers(2 * PACKETS)), TWICE)
        self.lab("duplicate", "all", "0")
        self.lab("duplicate", "n0", "100%")  # on the link from the sender
        self.assertEqual(sorted(self.numbers(2 * PACKETS)), TWICE)
        self.assertEqual(self.hits("n0", "from", "duplicate"), PACKETS)

    def test_changed_bits_are_found_by_the_receiver(self):
        self.lab("corrupt", "all", "100%")
        self.none_arrives()
        self.assertEqual(self.hits("n1", "to", "corrupt"), PACKETS)
        self.lab("corrupt", "all", "20%")
        self.assertEqual(len(self.numbers(0)), 2 * PACKETS - self.hits("n1", "to", "corrupt"))

    def test_packets_are_a_wire_s_while_anything_is_in_force(self):
        usual = self.in_node("n0", OFFLOADS)
        self.assertEqual(usual, "[1, 1, 1]")
        self.lab("loss", "n1", "1%")
        self.assertEqual(self.in_node("n0", OFFLOADS), "[0, 0, 0]")
        self.lab("loss", "n1", "0")
        self.assertEqual(self.in_node("n0", OFFLOADS), usual)

    def test_a_node_is_cut_off_and_healed(self):
        self.lab("cut", "n1")
        self.none_arrives(sender="n0", receiver="n1")
        self.none_arrives(sender="n1", receiver="n2")
        self.all_arrive(sender="n2", receiver="n0")
        self.lab("heal", "n1")
        # Who has asked in vain for n1's address asks anew after a second, and has no room for all packets until then.
        self.assertTrue(eventually(lambda: self.numbers(0) == ALL))

    def round_trip_s(self):
        listener = self.start("exec", "n1", "--", *python("""
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.bind(("", 5000))
print("ready")
data, sender = receiver.recvfrom(100)
receiver.sendto(data, sender)
"""))
        self.assertEqual(listener.stdout.readline(), "ready\n")
        return float(self.in_node("n0", ROUND_TRIP % "n1"))

    def test_delayed_packets_take_at_least_so_long(self):
        self.lab("delay", "all", "30ms")
        self.assertGreaterEqual(self.round_trip_s(), 0.06)
        self.all_arrive()
        self.lab("delay", "all", "0")
        self.lab("delay", "n0", "40ms", "--jitter", "5ms")  # there on one link, back on the other
        self.assertGreaterEqual(self.round_trip_s(), 0.08)
        self.all_arrive()  # in order

    def test_reordered_packets_are_overtaken_and_not_lost(self):
        self.lab("reorder", "all", "10%", "--by", "50ms")
        came = self.numbers(PACKETS)
        self.assertEqual(sorted(came), ALL)
        self.assertNotEqual(came, ALL)
        self.lab("reorder", "all", "0")
        self.all_arrive()

    def test_several_at_once(self):
        self.lab("delay", "all", "5ms")
        self.lab("duplicate", "all", "50%")
        self.lab("loss", "n0", "20%")
        came = self.numbers(PACKETS // 2)
        lost = self.hits("n0", "from", "loss")
        twice = self.hits("n1", "to", "duplicate")
        self.assertEqual(len(set(came)), PACKETS - lost)
        self.assertEqual(len(came), PACKETS - lost + twice)
        self.assertEqual(self.hits("n0", "from", "delay"), PACKETS - lost)

    def test_reset_ends_all_and_the_relay(self):
        self.lab("loss", "all", "100%")
        self.lab("delay", "n1", "1ms")
        relay = self.status()["relay"]
        self.lab("reset")
        self.assertTrue(eventually(lambda: not running(relay)))
        self.assertEqual(self.status()["links"], [])
        self.all_arrive()

    def test_a_killed_relay_is_missed_and_replaced(self):
        self.lab("delay", "all", "1ms")
        os.kill(self.status()["relay"], signal.SIGKILL)
        self.assertTrue(eventually(lambda: self.status()["relay_is_missing"]))
        self.assertIn("the relay is gone", self.lab("status").stdout)
        self.lab("delay", "all", "1ms")
        self.assertFalse(self.status()["relay_is_missing"])
        self.all_arrive()

    def test_status_says_what_is_in_force(self):
        self.lab("loss", "n0", "2.5%", "--seed", "9")
        self.lab("delay", "n0", "1ms", "--jitter", "200us")
        link = next(link for link in self.status()["links"] if link["direction"] == "to")
        self.assertEqual((link["node"], link["seed"]), ("n0", 9))
        self.assertAlmostEqual(link["effects"]["loss"]["percent"], 2.5, places=6)
        self.assertEqual(link["effects"]["delay"]["ns"], 1_000_000)
        self.assertEqual(link["effects"]["jitter"]["ns"], 200_000)
        self.assertIn("loss 2.5 %", self.lab("status").stdout)

    def test_what_is_wrong_is_said(self):
        for share in ("101%", "-1%", "much", "1%%"):
            self.refused_lab("loss", "all", share, words=[share, "percent from 0 to 100"], code=2)
        for time in ("1", "1 ms", "-1ms", "2h"):
            self.refused_lab("delay", "all", time, words=[time, "ns, us, ms or s"], code=2)
        self.refused_lab("loss", "n3", "1%", words=["n3", "n0 to n2"], code=2)
        self.refused_lab("cut", words=["node"], code=2)
        self.assertEqual(self.status()["links"], [])
        self.lab("down")
        self.refused_lab("loss", "all", "1%", words=["there is no lab"], code=1)


class WithABridge(Impairments, LabTest):
    switch = "bridge"


class WithTheRedirectSwitch(Impairments, LabTest):
    switch = "redirect"


main_as_root()
