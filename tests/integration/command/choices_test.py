# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import tempfile
import xml.etree.ElementTree

from hocket_command import CommandTest, main, run

PRESETS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../src/selection/presets")


class Explain(CommandTest):
    def explain(self, *arguments, code=0, **settings):
        return self.expect(run("info", "--explain", *arguments, **settings), code).stdout

    def test_multicast_is_for_several_nodes(self):
        forced = {"HOCKET_BROADCAST": "multicast", "HOCKET_MULTICAST": "on"}
        self.assertRegex(self.explain("broadcast", "2", "--nodes", "16x1", **forced), r"runs +multicast")
        within = self.explain("broadcast", "2", "--ranks", "16", **forced)
        self.assertNotRegex(within, r"runs +multicast")
        self.assertIn("HOCKET_BROADCAST is not meant for this communicator, so the table chooses: it goes between",
                      within)
        off = self.explain("broadcast", "2", "--nodes", "16x1", code=1, **{**forced, "HOCKET_MULTICAST": "off"})
        self.assertRegex(off, "not +multicast: HOCKET_MULTICAST=off")

    def test_names_the_algorithm_and_the_line_of_the_table(self):
        text = self.explain("allreduce", "8B", "--ranks", "8")
        self.assertIn("allreduce of 8 bytes on 8 ranks", text)
        self.assertRegex(text, r"because +shipped table, line \d+: allreduce")

    def test_times_measured_with_another_call_are_told_apart_from_this_one(self):
        text = self.explain("broadcast", "64M", "--ranks", "9", "--oversubscribed", "yes")
        self.assertRegex(text, r"measured +at \w+ bytes, 8 ranks: \S+ us; the runner-up")
        self.assertRegex(text, r"predicted for 64M bytes, 9 ranks: \d+ us; ")

    def test_of_more_ranks_than_are_priced_all_are_simulated_where_nothing_was_measured(self):
        text = self.explain("allreduce", "4K", "--nodes", "16x8", "--oversubscribed", "no")
        self.assertRegex(text, r"predicted as if on 64 ranks: [\d.]+ us; ")
        self.assertRegex(text, r"simulated on all 128 ranks, nothing was measured there: [\d.]+ us; ")
        self.assertNotIn("left out", text)
        for few in ("64", "8"):
            self.assertNotIn("simulated", self.explain("allreduce", "4K", "--ranks", few))
        many = self.explain("barrier", "--nodes", "100000x1")
        self.assertNotIn("simulated", many)
        self.assertRegex(many, r"left out  (\d+) of \1 candidates, which would take too long on 100000 ranks; ")
        with tempfile.NamedTemporaryFile("w", suffix=".table") as table:
            table.write("hocket-table 1\nallreduce nodes=2.. ring us=3 next=leader next_us=4 # at 4K, 16x8 ranks\n")
            table.flush()
            own = {"HOCKET_TABLE": table.name}
            self.assertNotIn("simulated", self.explain("allreduce", "4K", "--nodes", "16x8", **own))
            self.assertIn("simulated", self.explain("allreduce", "8K", "--nodes", "16x8", **own))

    def test_crowding_can_be_assumed(self):
        self.assertIn("more ranks than cores", self.explain("barrier", "--ranks", "1", "--oversubscribed", "yes"))
        self.assertIn("a core for every rank", self.explain("barrier", "--ranks", "1000", "--oversubscribed", "no"))

    def test_of_ranks_with_a_core_each_it_assumes_what_communicators_do(self):
        with tempfile.NamedTemporaryFile("w", suffix=".table") as table:
            table.write("hocket-table 1\nmodel cores=2 alpha_us=0.1\n")
            table.flush()
            question = ["broadcast", "8K", "--ranks", "4000", "--oversubscribed"]
            assumed = "assumed where the table says nothing"
            self.assertIn(assumed, self.explain(*question, "no", HOCKET_TABLE=table.name))
            self.assertNotIn(assumed, self.explain(*question, "yes", HOCKET_TABLE=table.name))

    def test_forced_by_the_environment(self):
        text = self.explain("allreduce", "8", "--ranks", "4", HOCKET_ALLREDUCE="ring")
        self.assertRegex(text, r"runs +ring")
        self.assertIn("HOCKET_ALLREDUCE", text)

    def test_forced_but_impossible_is_an_error_with_the_reason(self):
        text = self.explain("allreduce", "8", "--ranks", "4", "--op", "non-commutative", code=1,
                            HOCKET_ALLREDUCE="ring")
        self.assertIn("does not commute", text)

    def test_a_table_of_ones_own(self):
        with tempfile.NamedTemporaryFile("w", suffix=".table") as table:
            table.write("hocket-table 1\n"
                        "barrier ranks=3 dissemination us=2.5 next=signal next_us=5  # on the test bench\n")
            table.flush()
            text = self.explain("barrier", "--ranks", "3", HOCKET_TABLE=table.name)
        self.assertIn("dissemination", text)
        self.assertIn("2.5 us; the runner-up signal 5 us (2 times as long)", text)
        self.assertIn("on the test bench", text)

    def test_wires_are_those_of_mpis_and_of_the_tables_rules(self):
        question = ["allgather", "1K", "--nodes", "4x2"]
        for wire in ("openmpi", "mpich", "intel", "nic"):
            self.explain(*question, "--wire", wire)
        self.refused("info", "--explain", *question, "--wire", "mpihc", words=["--wire mpihc", "did you mean `mpich`?"])
        with tempfile.NamedTemporaryFile("w", suffix=".table") as table:
            table.write("hocket-table 1\nallgather nodes=2.. wire=pigeons linear\n")
            table.flush()
            text = self.explain(*question, "--wire", "pigeons", HOCKET_TABLE=table.name)
            self.assertRegex(text, r"runs +linear")
            self.refused("info", "--explain", *question, "--wire", "doves", words=["pigeons"], HOCKET_TABLE=table.name)

    def test_a_broken_table_is_an_error_with_its_line(self):
        with tempfile.NamedTemporaryFile("w", suffix=".table") as table:
            table.write("hocket-table 1\n\nbarrier quick\n")
            table.flush()
            self.refused("info", "--explain", "barrier", code=1, words=[f"{table.name}:3:", "`quick`"],
                         HOCKET_TABLE=table.name)

    def test_a_foreign_table_is_refused(self):
        self.refused("info", "--explain", "barrier", code=1, words=["not a tuning table"], HOCKET_TABLE="/etc/passwd")
        self.refused("info", "--explain", "barrier", code=1, words=["/nowhere/at/all"], HOCKET_TABLE="/nowhere/at/all")

    def test_every_collective_can_be_asked_about(self):
        algorithms = json.loads(run("algorithms", "--json").stdout)
        for collective in sorted({row["collective"] for row in algorithms}) + ["allgatherv", "reduce_scatter"]:
            self.assertIn("runs ", self.explain(collective, "4K", "--ranks", "5"))

    def test_among_neighbours_it_is_a_matter_of_the_grid(self):
        full = ["neighbor_alltoall", "64", "--grid", "4x4x4", "--stencil", "full", "--oversubscribed", "no"]
        within = self.explain(*full)
        self.assertIn("on 64 ranks, with up to 26 destinations and 26 sources", within)
        self.assertRegex(within, "not +nodes: all ranks are on one node")
        self.assertRegex(self.explain(*full, "--nodes", "64x1"), "runs +dimensions")
        self.assertRegex(self.explain("neighbor_alltoall", "64", "--grid", "2d", "--ranks", "6"), "possible .* joined")
        forced = {"HOCKET_NEIGHBOR_ALLTOALL": "dimensions"}
        self.assertRegex(self.explain(*full, **forced), r"(?s)because +it is forced.*by HOCKET_NEIGHBOR_ALLTOALL")
        self.assertRegex(self.explain(*full, code=1, HOCKET_NEIGHBOR_ALLTOALL="nodes"), "runs +nothing")
        self.assertIn("of any length", self.explain("MPI_Neighbor_alltoallv", "--grid", "3x3"))
        self.refused("info", "--explain", "alltoall", "8", "--grid", "2x2", words=["--grid", "neighbor_alltoall"])
        self.refused("info", "--explain", "neighbor_alltoall", "8", "--grid", "3x3", "--nodes", "2x4",
                     words=["9 points", "8 ranks"])
        self.refused("info", "--explain", "neighbor_alltoall", "8", "--grid", "10x10x100x100x1x1", "--stencil", "full",
                     words=["728 neighbours"])

    def test_where_ranks_see_different_lengths_no_bytes_are_asked_for(self):
        self.assertIn("of any length", self.explain("alltoallv", "--ranks", "4"))

    def test_bad_questions(self):
        self.refused("info", "--explain", "alreduce", "8", words=["alreduce", "allreduce"])
        self.refused("info", "--explain", "alltoall", words=["how many bytes"])
        self.refused("info", "--explain", "allreduce", "many", words=["many"])
        self.refused("info", "--explain", "allreduce", words=["how many bytes"])
        self.refused("info", "--explain", "allreduce", "8", "--ranks", "0", words=["ranks"])


class Algorithms(CommandTest):
    def test_lists_those_of_a_collective(self):
        text = self.expect(run("algorithms", "barrier"), 0).stdout
        self.assertIn("dissemination", text)
        self.assertNotIn("pieces", text)

    def test_json_rows_have_names_and_references(self):
        rows = json.loads(self.expect(run("algorithms", "--json"), 0).stdout)
        self.assertGreater(len(rows), 20)
        for row in rows:
            self.assertTrue(row["name"] and row["collective"] and row["summary"] and row["reference"], row)

    def test_those_among_neighbours_are_listed_too(self):
        self.assertIn("\nneighbor_alltoall\n  linear ", self.expect(run("algorithms"), 0).stdout)
        text = self.expect(run("algorithms", "MPI_Neighbor_alltoallv"), 0).stdout
        self.assertIn("neighbor_alltoallv, by algorithms of neighbor_alltoall\n", text)
        self.assertIn("  joined ", text)
        rows = json.loads(self.expect(run("algorithms", "neighbor_allgather", "--json"), 0).stdout)
        self.assertEqual([row["name"] for row in rows], ["linear", "direct", "dimensions", "nodes"])
        self.refused("algorithms", "neighbor_allgather", "--nodes", "2x2",
                     words=["depends on the neighbours", "hocket info --explain neighbor_allgather"])

    def test_a_vector_version_has_those_of_the_one_with_equal_blocks(self):
        equal, vector = (json.loads(self.expect(run("algorithms", name, "--json"), 0).stdout)
                         for name in ["allgather", "allgatherv"])
        self.assertEqual([row["name"] for row in equal], [row["name"] for row in vector])

    def test_what_refuses_blocks_of_different_lengths_is_listed_as_such(self):
        for name in ("gatherv", "scatterv", "allgatherv", "alltoallv", "reduce_scatter"):
            rows = json.loads(self.expect(run("algorithms", name, "--json"), 0).stdout)
            text = self.expect(run("algorithms", name), 0).stdout
            self.assertIn(f"{name}, by algorithms of ", text)
            self.assertEqual(text.count("not here: "), sum(row["why_not"] != "" for row in rows))
            for row in rows:
                variable = {f"HOCKET_{name.upper()}": row["name"]}
                explained = run("info", "--explain", name, "8", "--ranks", "8", **variable)
                # A composition is for communicators of several nodes: elsewhere the variable is passed over.
                self.expect(explained, 1 if row["why_not"] and not row["parts"] else 0)
                self.assertIn(row["why_not"], explained.stdout)

    def test_the_model_predicts_what_each_takes_on_nodes_that_are_thought_of(self):
        asked = ["algorithms", "alltoall", "--nodes", "4x8", "--predict", "8,512,64K", "--model",
                 os.path.join(PRESETS, "infinipath.table")]
        choice = {"HOCKET_TABLE": os.path.join(PRESETS, "mvapich-psm.table")}
        text = self.expect(run(*asked, **choice), 0).stdout
        self.assertRegex(text, r"\n  bytes +8 +512 +64K")
        self.assertRegex(text, r"\n  pairwise +[\d.]+. +[\d.]+. +[\d.]+[*<]\n")
        self.assertNotIn("direct", text, "what needs shared memory on all ranks")
        found = json.loads(self.expect(run(*asked, "--json", **choice), 0).stdout)
        self.assertEqual((found["nodes"], found["ranks"], found["ranks_priced"], found["crowded"]), (4, 32, 32, False))
        rows = found["predictions"]
        for size, chosen in ((8, "bruck"), (512, "linear"), (65536, "pairwise")):
            here = [row for row in rows if row["bytes"] == size]
            self.assertEqual([row["variant"].split(":")[0] for row in here if row["chosen"]], [chosen])
            ahead = [row for row in here if row["ahead"]]
            self.assertEqual(len(ahead), 1)
            self.assertEqual(ahead[0]["us"], min(row["us"] for row in here))
        scheme = next(row for row in rows if row["variant"] == "send_aggregation" and row["bytes"] == 512)
        self.assertEqual(scheme["parts"]["across"], "linear")

    def test_predictions_are_of_the_variants_that_are_named_and_the_choice(self):
        asked = ["algorithms", "alltoall", "--nodes", "2x2", "--predict", "64", "--json", "--variants",
                 "leader;send_aggregation:across=bruck/4"]
        rows = json.loads(self.expect(run(*asked, HOCKET_TABLE=os.path.join(PRESETS, "mvapich-psm.table")), 0).stdout)
        self.assertEqual([row["variant"] for row in rows["predictions"]],
                         ["leader", "send_aggregation:across=bruck/4", "bruck"])

    def test_what_is_not_predicted_saves_nothing(self):
        with tempfile.NamedTemporaryFile("w", suffix=".table") as table:
            table.write("hocket-table 1\nbroadcast nodes=2 parents:0.0.1.1\n")
            table.flush()
            text = self.expect(run("algorithms", "broadcast", "--nodes", "2x2", "--predict", "8,64",
                                   HOCKET_TABLE=table.name), 0).stdout
            self.assertRegex(text, r"\n  the least saves +- +- *\n")

    def test_named_models_are_priced_as_they_stand(self):
        asked = ["algorithms", "allreduce", "--nodes", "4x8", "--predict", "4K", "--json", "--variants", "leader"]
        with tempfile.NamedTemporaryFile("w", suffix=".table") as table:
            table.write("hocket-table 1\nallreduce nodes=.. leader\nmodel cores=8 alpha_us=0.1\n")
            table.flush()

            def price(*model):
                found = self.expect(run(*asked, *model, HOCKET_TABLE=table.name), 0).stdout
                return json.loads(found)["predictions"][0]["us"]

            self.assertLess(price("--model", table.name), price(), "ranks with a core each are in each other's way")

    def test_what_cannot_be_predicted_is_refused(self):
        self.refused("algorithms", "--predict", "8", "--nodes", "2x2", words=["needs a collective"])
        self.refused("algorithms", "alltoall", "--predict", "8", words=["--nodes"])
        self.refused("algorithms", "alltoall", "--nodes", "2x2", "--predict", "0", words=["1 byte"])
        self.refused("algorithms", "gatherv", "--nodes", "2x2", "--predict", "8", words=["gatherv"])
        self.refused("algorithms", "alltoall", "--nodes", "2x2", "--model", "x", words=["--predict"])
        self.refused("algorithms", "alltoall", "--nodes", "2x2", "--predict", "8", "--model", "/nowhere",
                     words=["/nowhere"])
        self.refused("algorithms", "alltoall", "--nodes", "2x2", "--predict", "8", "--model",
                     os.path.join(PRESETS, "mvapich-psm.table"), words=["no `model` line"])
        for variant, word in (("leder", "leader"), ("mpi", "MPI's own"), ("direct", "direct")):
            self.refused("algorithms", "alltoall", "--nodes", "2x2", "--predict", "8", "--variants", variant,
                         words=["--variants", word])

    def test_unknown_collective(self):
        self.refused("algorithms", "scam", words=["scam", "barrier", "reduce_scatter_block", "alltoallv"])

    def test_collectives_have_mpis_names_as_well(self):
        expected = self.expect(run("algorithms", "broadcast"), 0).stdout
        for name in ("bcast", "Bcast", "MPI_Bcast", "mpi_broadcast"):
            self.assertEqual(self.expect(run("algorithms", name), 0).stdout, expected)
        self.assertEqual(self.expect(run("algorithms", "MPI_Reduce_scatter_block"), 0).stdout,
                         self.expect(run("algorithms", "reduce-scatter-block"), 0).stdout)
        self.assertIn("broadcast of 8 bytes", self.expect(run("info", "--explain", "bcast", "8"), 0).stdout)
        proved = run("schedule", "MPI_Barrier", "dissemination", "--verify")
        self.assertIn("proved", self.expect(proved, 0).stdout)

    def test_the_nearest_name_is_told_where_one_is_unknown(self):
        for wrong, right in (("broadcats", "broadcast"), ("MPI_Bcst", "broadcast"), ("alreduce", "allreduce"),
                             ("MPI_Alltoallw", "alltoall")):
            for command in (["algorithms", wrong], ["info", "--explain", wrong, "8"], ["schedule", wrong, "tree"],
                            ["bench", wrong, "--ranks", "2"], ["tune", "--collectives", wrong],
                            ["lab", "bench", wrong]):
                self.refused(*command, words=[f"`{wrong}`", f"did you mean `{right}`?", "there are barrier"])
        self.assertNotIn("did you mean", run("algorithms", "frobnicate").stderr)


class Schedule(CommandTest):
    def test_text_has_a_part_for_every_rank(self):
        text = self.expect(run("schedule", "allreduce", "ring", "--ranks", "3"), 0).stdout
        for rank in range(3):
            self.assertIn(f"rank {rank} of 3", text)

    def test_svg_is_well_formed(self):
        result = run("schedule", "reduce", "tree", "--ranks", "7", "--degree", "2", "--format", "svg")
        text = self.expect(result, 0).stdout
        self.assertTrue(xml.etree.ElementTree.fromstring(text).tag.endswith("svg"))

    def test_goal_names_the_ranks(self):
        text = self.expect(run("schedule", "barrier", "dissemination", "--ranks", "5", "--format", "goal"), 0).stdout
        self.assertIn("num_ranks 5", text)

    def test_every_algorithm_can_be_proved_from_here(self):
        for row in json.loads(run("algorithms", "--json").stdout):
            where = ["--nodes", "2x3"] if row["name"] == "nodes" else ["--ranks", "6"]
            result = run("schedule", row["collective"], row["name"], *where, "--count", "13", "--verify")
            self.assertIn("proved", self.expect(result, 0).stdout)

    def test_every_algorithm_that_runs_over_nodes_can_be_proved_on_uneven_ones(self):
        rows = [row for row in json.loads(run("algorithms", "--json").stdout) if row["over_nodes"]]
        self.assertTrue(any(row["parts"] for row in rows))
        for row in rows:
            nodes = "1,1,1,1,1,1,1,1" if row["multicasts"] else "3,1,4"
            question = ["schedule", row["collective"], row["name"], "--nodes", nodes]
            # Prefixes within nodes are those of neighbours.
            if row["parts"] and row["collective"] in ("scan", "exscan"):
                self.refused(*question, "--order", "random:7", words=["not neighbours"], code=2)
            else:
                question += ["--order", "random:7"]
            self.assertIn("proved for 8 ranks", self.expect(run(*question, "--verify"), 0).stdout)

    def test_grids_and_stencils_can_be_proved(self):
        question = ["schedule", "neighbor_alltoall", "dimensions", "--verify"]
        text = self.expect(run(*question, "--grid", "3x4x2", "--stencil", "full", "--periodic", "yes,no,yes"), 0).stdout
        self.assertIn("proved for 24 ranks", text)
        self.refused(*question, "--grid", "100x100", words=["4096"])
        self.refused(*question, "--in-place", words=["in place"])
        self.refused("schedule", "barrier", "tree", "--grid", "2x2", words=["--grid", "barrier"])

    def test_parts_are_named_with_the_algorithm(self):
        question = ["schedule", "alltoall", "send_aggregation:lanes=2,across=bruck/4", "--nodes", "4x4"]
        self.assertIn("rank 15 of 16", self.expect(run(*question, "--order", "cyclic"), 0).stdout)
        self.refused("schedule", "alltoall", "leader:across=direct", "--nodes", "2x2",
                     words=["across=direct", "2 nodes"])
        self.refused("schedule", "alltoall", "leader:middle=bruck", "--nodes", "2x2",
                     words=["node=", "across=", "spread="])
        self.refused("schedule", "allreduce", "direct", "--nodes", "2x2", words=["memory", "2 nodes"])

    def test_bad_nodes(self):
        for nodes in ("4", "4x", "x2", "3,,4", "0x2", "2x0", "-1x2", "4x2x2"):
            self.refused("schedule", "alltoall", "linear", "--nodes", nodes, words=["--nodes"])
        self.refused("schedule", "alltoall", "linear", "--nodes", "2x2", "--order", "odd",
                     words=["block", "random:SEED"])
        self.refused("schedule", "alltoall", "linear", "--order", "cyclic", words=["--nodes"])
        self.refused("schedule", "alltoall", "linear", "--nodes", "2x2", "--ranks", "5", words=["5", "4"])

    def test_a_choice_for_a_cluster_names_nodes_and_parts(self):
        text = self.expect(run("info", "--explain", "alltoall", "8", "--nodes", "8x8", "--crowded", "no"), 0).stdout
        self.assertIn("on 8 nodes of 8 ranks", text)
        self.assertIn("  part      across: alltoall of ", text)
        self.assertIn("  wire      alpha ", text)
        self.assertIn("not there: ", self.expect(run("algorithms", "allreduce", "--nodes", "3,1,4"), 0).stdout)

    def test_a_call_in_place_has_a_schedule_of_its_own(self):
        question = ["schedule", "allreduce", "direct", "--ranks", "3"]
        apart = self.expect(run(*question), 0).stdout
        in_place = self.expect(run(*question, "--in-place"), 0).stdout
        self.assertNotIn("copy", apart)
        self.assertIn("copy", in_place)
        self.assertIn("proved", self.expect(run(*question, "--in-place", "--verify"), 0).stdout)

    def test_nothing_is_explained_in_a_wrong_environment(self):
        question = ["info", "--explain", "allreduce", "8"]
        for variable, value in (("HOCKET_WAIT", "typo"), ("HOCKET_SLICE_US", "-3"), ("HOCKET_ALREDUCE", "ring")):
            self.refused(*question, code=1, words=[variable], **{variable: value})
        self.refused(*question, "--json", words=["--json", "--explain"])

    def test_bad_questions(self):
        for collective, algorithm in (("alltoall", "linear"), ("alltoallv", "linear"), ("reduce_scatter", "ring")):
            self.refused("schedule", collective, algorithm, "--in-place", words=[collective, "copies"])
        self.refused("schedule", "reduce", "tree", "--ranks", "4", "--root", "4", words=["root 4"])
        self.refused("schedule", "reduce", "oak", words=["oak", "tree"])
        self.refused("schedule", "reduct", "tree", words=["reduct", "exscan", "reduce_scatter_block"])
        self.refused("schedule", "allreduce", "ring", "--degree", "3", words=["no degree"])
        self.refused("schedule", "barrier", "signal", "--segments", "2", words=["segments"])
        self.refused("schedule", "allreduce", "ring", "--keep-order", words=["does not commute"])
        self.refused("schedule", "barrier", "tree", "--ranks", "65", "--format", "svg", code=1, words=["64"])


if __name__ == "__main__":
    assert os.path.exists("/etc/passwd")
    main()
