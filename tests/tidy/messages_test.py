# SPDX-License-Identifier: BSD-3-Clause
"""What counts as a message, and that no message and no entry of the pages goes without the other."""

import unittest
import unittest.mock

import messages
import rules_messages
from small_tree import SPDX, TestCase

INDEX = "docs/troubleshooting.md"
PAGE = "docs/troubleshooting/ranks.md"
SOURCE = "src/base/status.cc"


def page(*lines, after="\nIt is late.\n"):
    return "# Ranks\n\n```text\n" + "".join(f"{line}\n" for line in lines) + "```\n" + after


class Sentences(unittest.TestCase):
    def texts(self, code):
        return [sentence.text() for sentence in messages.sentences(code)]

    def test_pieces_are_joined_as_the_program_joins_them(self):
        self.assertEqual(self.texts('return {Code::kSystem, "rank " + std::to_string(a + b) + " has " "ended"};'),
                         ["rank … has ended"])
        self.assertEqual(self.texts('text = std::string("a file") + ": " + name(one) + two;'), ["a file: …"])
        self.assertEqual(self.texts('out << "of " << count << " ranks";'), ["…of … ranks"])

    def test_what_is_chosen_between_is_a_text_of_its_own(self):
        self.assertEqual(self.texts('return a == b ? "is late" : "is at " + where;'), ["is late", "is at …"])
        self.assertEqual(self.texts('f("it is " + (late ? "late" : "here"), 3);'), ["late", "here", "it is …"])

    def test_formats_say_what_varies(self):
        self.assertEqual(self.texts(r'std::printf("%5.1f %% of %" PRIu64 " ranks\n", a, b);'), ["… % of … ranks"])
        self.assertEqual(self.texts('fail("100 % of it");'), ["100 % of it"])

    def test_comments_and_includes_spell_nothing(self):
        self.assertEqual(self.texts('#include "base/log.h"\n// "a rank is late"\n/* "b" */ const char c = \'"\';'), [])

    def test_raw_literals_and_escapes(self):
        self.assertEqual(self.texts('a = R"(one\n  two)"; b = "say \\"no\\"\\n";'), ["one two", 'say "no"'])

    def test_where_a_text_stands_is_known(self):
        [sentence] = messages.sentences('Status late(int a) {\n  if (a) return Status(kLate, "it is late");\n}\n')
        self.assertEqual((sentence.callees, sentence.function), (("Status",), "late"))
        [sentence] = messages.sentences('constexpr const char* kRunFooter = "it is late";')
        self.assertEqual(sentence.target, "kRunFooter")
        late, _ = messages.sentences('f(when == Time::kLate ? "it is late" : "it is early");')
        self.assertEqual(late.target, "")


class Pages(TestCase):
    def setUp(self):
        super().setUp()
        self.set_results({})
        self.write(INDEX, "# Troubleshooting\n")
        self.write(SOURCE, SPDX + 'Status a() { return {kLate, "rank " + name + " has not come"}; }\n')
        self.write(PAGE, page("rank … has not come"))
        self.write("README.md", "See docs/environment.md, docs/interposer.md, docs/troubleshooting.md, "
                   "docs/troubleshooting/ranks.md.\n")
        self.write("interposer/core/statistics.cc", SPDX)
        self.write("docs/interposer.md", "")

    def set_results(self, results):
        patch = unittest.mock.patch.object(rules_messages, "RESULTS", results)
        patch.start()
        self.addCleanup(patch.stop)

    def test_a_message_and_its_entry(self):
        self.assertEqual(self.found(), [])
        self.write(INDEX, page("rank … has not come"))
        self.write(PAGE, "# Ranks\n")
        self.assertEqual(self.found(), [])

    def test_a_message_needs_an_entry(self):
        self.write(PAGE, "# Ranks\n\nrank … has not come\n")
        self.expect("messages", SOURCE)

    def test_an_entry_may_say_more_than_one_message_does(self):
        self.write("src/base/more.cc", SPDX + 'auto why = "it is on another node";\n')
        self.write(PAGE, page("rank … has not come: it is on another node"))
        self.assertEqual(self.found(), [])
        self.write("src/base/more.cc", SPDX + 'auto where = "node " + name;\nauto why = "another node";\n')
        self.write(PAGE, page("rank … has not come: another node, node …"))
        self.assertEqual(self.found(), [])

    def test_an_entry_must_be_printed(self):
        self.write(PAGE, page("rank … has not come", "rank … has come"))
        self.expect("messages", PAGE)

    def test_each_word_of_an_entry_must_be_printed(self):
        self.write(PAGE, page("rank … has not come yet"))
        self.expect("messages", PAGE)

    def test_an_entry_stands_once(self):
        self.write(INDEX, page("rank … has not come"))
        self.expect("messages", PAGE)

    def test_a_list_is_explained(self):
        for after in ("", "\n## Next\n", "\n```\nmore\n```\n"):
            self.write(PAGE, page("rank … has not come", after=after))
            self.expect("messages", PAGE)

    def test_two_words_are_a_message_where_they_are_reported(self):
        self.write("src/base/more.cc", SPDX + 'const char* name() { return "no memory"; }\n')
        self.assertEqual(self.found(), [])
        self.write("src/base/more.cc", SPDX + 'Status b() { return Status(kNoMemory, "no memory"); }\n')
        self.expect("messages", "src/base/more.cc")

    def test_what_is_no_message(self):
        self.write("src/base/more.cc", SPDX + 'void b(App& app) { app.add_option("--late", c, "how late it is"); }\n'
                   'constexpr const char* kFooter = "it may be late";\n'
                   'void d() { HOCKET_ASSERT(e, "nobody is late here"); }\n')
        self.assertEqual(self.found(), [])

    def test_results_are_listed_by_function(self):
        self.write("src/base/more.cc", SPDX + 'void b() { std::printf("all ranks have come"); }\n')
        self.expect("messages", "src/base/more.cc")
        self.set_results({"src/base/more.cc": {"b"}})
        self.assertEqual(self.found(), [])
        self.set_results({"src/base/more.cc": {"b", "c"}})
        self.expect("messages", "src/base/more.cc")

    def test_what_is_reported_is_no_result(self):
        self.set_results({"src/base/more.cc": {""}})
        self.write("src/base/more.cc", SPDX + 'void b() { std::printf("all ranks have come"); fail("it is late"); }\n')
        self.expect("messages", "src/base/more.cc")


if __name__ == "__main__":
    unittest.main()
