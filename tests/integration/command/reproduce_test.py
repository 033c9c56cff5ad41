# SPDX-License-Identifier: BSD-3-Clause
import html.parser
import json
import os
import tempfile

from hocket_command import CommandTest, main, run

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
RESULTS = os.path.normpath(os.path.join(ROOT, "bench/results"))
PAPERS = os.path.join(ROOT, "src/simulation/papers")
# The numbers that the texts are about: item, claim, and the paper's value.
POINTS = [("nic-barrier/figure-5", "nic-16", 25.72), ("nic-barrier/figure-5", "host-over-nic-16", 3.38),
          ("nic-barrier/figure-6", "nic-8", 14.2), ("nic-barrier/figure-6", "host-over-nic-8", 2.64),
          ("nic-barrier/figure-7", "nic-8", 5.6), ("nic-barrier/figure-7", "tree-over-nic-8", 2.48),
          ("nic-barrier/figure-8", "myrinet-1024", 38.94), ("nic-barrier/figure-8", "quadrics-1024", 22.13),
          ("nic-reduction/figure-2", "factor-int", 1.19), ("nic-reduction/figure-2", "factor-float", 1.06),
          ("nic-reduction/figure-5", "factor-int", 2.7), ("nic-reduction/figure-5", "factor-float", 2.3),
          ("nic-reduction/figure-6", "factor-most", 4.5), ("multicore-alltoall/figure-7", "less-512", 55),
          ("multicast-broadcast/figure-4", "less-at-most", 41), ("multicast-broadcast/figure-5", "off-median", 14),
          ("multicast-broadcast/figure-5", "first-before-last", 79.4),
          ("multicast-broadcast/penalty-rounds", "rounds-at-half", 1.0)]


class Ids(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.ids, self.links, self.charts = set(), set(), 0

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids.add(attrs.get("id"))
        self.links.add(attrs.get("href"))
        self.charts += tag == "svg" and attrs.get("class") == "chart"


class Reproduce(CommandTest):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            page, data = os.path.join(folder, "all.html"), os.path.join(folder, "all.json")
            cls.result = run("reproduce", "all", "--results", RESULTS, "--html", page, "--json", data)
            with open(page, encoding="utf-8") as file:
                cls.page = file.read()
            with open(data, encoding="utf-8") as file:
                cls.json = file.read()
        cls.items = {item["id"]: item for item in json.loads(cls.json)}

    def claim(self, item, claim):
        return next(one for one in self.items[item]["claims"] if one["id"] == claim)

    def test_every_item_of_every_paper_has_its_section(self):
        parser = Ids()
        parser.feed(self.page)
        known = set()
        for name in os.listdir(PAPERS):
            if name.endswith(".json"):
                with open(os.path.join(PAPERS, name), encoding="utf-8") as file:
                    known |= {item["id"] for item in json.load(file)["items"]}
        self.assertEqual(set(self.items), known)
        for one in known:
            anchor = one.replace("/", "-")
            self.assertIn(anchor, parser.ids)
            self.assertIn("#" + anchor, parser.links)
        self.assertGreater(parser.charts, 30)

    def test_what_is_to_be_predicted_has_the_models_word_or_a_reason(self):
        for item in self.items.values():
            for claim in item["claims"]:
                if claim["role"] == "predict":
                    self.assertTrue(claim["model"] or claim["why_no_model"], (item["id"], claim["id"]))
            if any(claim["role"] == "predict" for claim in item["claims"]):
                self.assertTrue(item["verdict"] and item["why"], item["id"])

    def test_the_texts_numbers_have_the_models_figure_and_the_difference(self):
        for item, name, value in POINTS:
            claim = self.claim(item, name)
            self.assertEqual(claim["value"], value)
            self.assertIsInstance(claim["model_value"], float, (item, name))
            self.assertRegex(claim["difference"], r"^[+-]?\d+ %$")

    def test_the_model_is_simulated_and_measurements_are_the_kept_ones(self):
        simulated = json.loads(self.expect(run("simulate", "barrier", "dissemination", "--nodes", "16x1", "--engine",
                                               "nic", "--network", "lanai-9.1", "--json"), 0).stdout)
        claim = self.claim("nic-barrier/figure-5", "nic-16")
        self.assertAlmostEqual(claim["model_value"], simulated["end_us"], places=9)
        with open(os.path.join(RESULTS, "papers/barrier-redirect.json"), encoding="utf-8") as file:
            rows = [row for row in json.load(file) if (row["variant"], row["algorithm"], row["nodes"]) ==
                    ("nic", "dissemination", 16)]
        self.assertEqual(claim["measured_value"], rows[0]["mean_us"])

    def test_the_same_bytes_each_time(self):
        once = self.expect(run("reproduce", "multicast-broadcast", "--results", RESULTS), 0).stdout
        self.assertEqual(once, self.expect(run("reproduce", "multicast-broadcast", "--results", RESULTS), 0).stdout)

    def test_the_page_needs_nothing_else(self):
        self.expect(self.result, 0)
        for unwanted in ("<script", "src=", "@import", "url(", "<link"):
            self.assertNotIn(unwanted, self.page)

    def test_one_figure_as_text(self):
        text = self.expect(run("reproduce", "nic-barrier/figure-5", "--results", RESULTS), 0).stdout
        for words in ("nic-barrier/figure-5", "25.72 us", "26.2 us (+2 %)", "reproduced in part:"):
            self.assertIn(words, text)
        self.assertNotIn("nic-barrier/figure-6", text)

    def test_without_kept_results_the_model_still_speaks(self):
        with tempfile.TemporaryDirectory() as folder:
            data = run("reproduce", "nic-barrier/figure-5", "--results", folder, "--json", "-").stdout
            item = json.loads(data)[0]
            problems = [line["problem"] for line in item["lines"] if line["of"] == "measured"]
            self.assertEqual(len(problems), 4)
            self.assertIn("can't read", problems[0])
            self.assertEqual(item["verdict"], "reproduced in part")

    def test_names(self):
        listed = self.expect(run("reproduce", "--list"), 0).stdout
        for name in self.items:
            self.assertIn(f"  {name} ", listed)
        both = json.loads(run("reproduce", "figure-5", "figure-6", "--results", RESULTS, "--json", "-").stdout)
        self.assertEqual(sum(item["id"].endswith("/figure-5") for item in both), 4)
        self.refused("reproduce", "nic-barier", words=["`nic-barier`", "did you mean `nic-barrier`", "--list"])
        self.refused("reproduce", "--results", "/nowhere", words=["/nowhere"])

    def test_measuring_anew(self):
        with tempfile.TemporaryDirectory() as folder:
            keep = os.path.join(folder, "new")
            result = self.expect(run("reproduce", "intra-cell/figure-2-left", "--measure", "--keep", keep, "--json",
                                     "-"), 0)
            item = json.loads(result.stdout)[0]
            measured = [line for line in item["lines"] if line["of"] == "measured"]
            self.assertEqual([[x for x, _ in line["points"]] for line in measured], [[2, 4, 8, 16]] * 3)
            self.assertEqual(os.listdir(keep), ["intra-cell-figure-2-left.json"])
        if os.geteuid() != 0:
            self.refused("reproduce", "nic-barrier/figure-5", "--measure", words=["root"], code=1)


if __name__ == "__main__":
    main()
