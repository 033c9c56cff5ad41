# SPDX-License-Identifier: BSD-3-Clause
"""NIC engines in the nodes of a lab: collectives with content, whose results are the schedule's, bit for bit, whatever
the wire does and whoever carries them out."""

from lab_command import LONG_TESTS, main_as_root
from nic_lab import NOBODY, NicLab

EVERYTHING = {"loss": "1%", "duplicate": "5%", "corrupt": "3%"}


class NicContentTest(NicLab):
    def calls(self, ranks, count, *, in_flight=16, seed=1):
        for rank in ranks:
            rank.tell("calls", count, in_flight, seed)
        for rank in ranks:
            self.assertEqual(rank.answer(), "ok")

    def total(self, nodes, counter):
        return sum(self.counters(node)[counter] for node in range(nodes))

    def test_results_are_the_schedules(self):
        for nodes in (2, 5, 8) if LONG_TESTS else (2, 5):
            self.up(nodes)
            ranks = self.ranks(range(nodes))
            self.calls(ranks, 500)
            self.calls(ranks, 100, in_flight=1, seed=2)
            self.assertEqual(self.total(nodes, "unsound") + self.total(nodes, "disagreement"), 0)
            for rank in ranks:
                rank.end()
            self.lab("down")

    def test_results_that_are_looked_at_are_looked_at(self):
        self.up(2)
        ranks = self.ranks(range(2))
        ranks[0].tell("calls", 50, 4, 1)
        ranks[1].tell("calls", 50, 4, 9)
        wrong = [rank.answer() for rank in ranks]
        self.assertTrue(any("another result" in text or "another collective" in text for text in wrong), wrong)

    def test_results_are_the_same_on_any_wire_and_engine(self):
        for kinds in (("up",), ("agent",), ("up", "agent")):
            self.up(4, kinds=kinds)
            for effect, share in EVERYTHING.items():
                self.lab(effect, "all", share)
            ranks = self.ranks(range(4))
            self.calls(ranks, 600)
            self.assertGreater(self.total(4, "resent"), 0)
            self.lab("loss", "all", "20%")
            self.calls(ranks, 50, seed=3)
            for rank in ranks:
                rank.end()
            self.lab("down")

    def test_what_is_unexpected_is_kept_or_rejected_and_not_lost(self):
        for kept in ("0", "1", "40"):
            self.up(3, "--unexpected", kept)
            ranks = self.ranks(range(3))
            for rank in ranks[1:]:
                rank.tell("calls", 100, 16, 1)
            self.assertTrue(self.becomes(
                lambda kept=kept: self.total(3, "kept" if kept == "40" else "rejected") > 0, 10))
            self.calls(ranks[:1], 100)
            for rank in ranks[1:]:
                self.assertEqual(rank.answer(), "ok")
            self.assertEqual(self.total(3, "kept") == 0, kept == "0")
            self.assertEqual(self.total(3, "rejected") == 0, kept == "40")
            for rank in ranks:
                rank.end()
            self.lab("down")

    def test_users_without_rights_have_it_too(self):
        self.up(3, "--user", "nobody")
        ranks = self.ranks(range(3), user=NOBODY)
        self.calls(ranks, 300)
        for rank in ranks:
            rank.end()

    def test_who_leaves_early_leaves_what_others_wait_for(self):
        self.up(3, "--silence-s", "0.5")
        ranks = self.ranks(range(3))
        # Sums up a chain, which need nobody's answer: who has started them goes, also in the middle of the chain.
        for rank in ranks[1:]:
            self.assertEqual(rank.ask("reduce", 7), "ok")
            rank.end()
        self.assertFalse(self.becomes(lambda: ranks[0].ask("health") != "ok", 1.5))
        self.assertEqual(ranks[0].ask("reduce", 7), "ok")
        self.assertEqual(ranks[0].ask("wait"), "ok")
        ranks[0].end()


if __name__ == "__main__":
    main_as_root()
