#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The rules can fail: each is shown a small tree that keeps it and one that breaks it."""

import json
import unittest
import unittest.mock

import counts
import rules_classes
import rules_glossary
import rules_size
import small_tree
import tidy
from small_tree import GOOD, HEADER, SPDX


class Rules(small_tree.TestCase):
    def test_good_tree_has_no_findings(self):
        self.assertEqual(self.found(), [])

    def test_lower_layer_must_not_include_higher(self):
        self.write("src/base/status.cc", SPDX + '#include "schedule/plan.h"\n')
        self.expect("includes", "src/base/status.cc")

    def test_engines_must_not_include_each_other(self):
        self.write("src/engines/wire/wire.h", SPDX + '#include "base/status.h"\n')
        self.write("src/engines/shared_memory/lane.cc",
                   SPDX + '#include "engines/executor/transport.h"\n#include "engines/wire/wire.h"\n')
        self.expect("includes", "src/engines/shared_memory/lane.cc")

    def test_engines_must_not_include_algorithms(self):
        self.write("src/algorithms/algorithm.h", SPDX)
        self.write("src/engines/executor/executor.cc",
                   SPDX + '#include "algorithms/algorithm.h"\n#include "engines/executor/transport.h"\n')
        self.expect("includes", "src/engines/executor/executor.cc")

    def test_selection_must_not_include_engines(self):
        self.write("src/selection/choice.cc", SPDX + '#include "engines/executor/transport.h"\n')
        self.expect("includes", "src/selection/choice.cc")

    def test_rooms_of_a_place_have_an_order(self):
        self.write("src/platform/descriptor.h", SPDX)
        self.write("src/platform/memory/region.h", SPDX + '#include "platform/descriptor.h"\n')
        self.write("src/platform/bootstrap/meeting.cc", SPDX + '#include "platform/memory/region.h"\n')
        self.assertEqual(self.found(), [])
        self.write("src/platform/waiting/parking.cc", SPDX + '#include "platform/memory/region.h"\n')
        self.expect("includes", "src/platform/waiting/parking.cc")

    def test_a_room_in_a_room_is_one_of_its_own(self):
        self.write("tools/command/command.h", SPDX)
        self.write("tools/lab/lab.h", SPDX)
        self.write("tools/lab/command/status.cc", SPDX + '#include "command/command.h"\n#include "lab/lab.h"\n')
        self.assertEqual(self.found(), [])
        self.write("tools/lab/lab.cc", SPDX + '#include "command/command.h"\n')
        self.expect("includes", "tools/lab/lab.cc")

    def test_what_lies_beside_rooms_knows_none(self):
        self.write("src/platform/memory/region.h", SPDX)
        self.write("src/platform/descriptor.cc", SPDX + '#include "platform/memory/region.h"\n')
        self.expect("includes", "src/platform/descriptor.cc")

    def test_the_public_headers_have_the_collectives_of_the_table(self):
        self.write("src/base/collectives.def", SPDX + "HOCKET_COLLECTIVE(Scan, scan, SCAN, MPI_Scan)\n")
        declarations = [f"HOCKET_API int hocket_{name}(void);\n" for name in ("scan", "scan_start")]
        calls = "int a() { return hocket_scan() + hocket_scan_start(); }\n"
        for missing in (None, 0, 1):
            here = [line for number, line in enumerate(declarations) if number != missing]
            self.write("include/hocket/hocket.h", HEADER + "".join(here))
            self.write("include/hocket/hocket.hpp", SPDX + calls)
            found = [finding for finding in self.found() if finding[0] == "collectives"]
            self.assertEqual(len(found), 0 if missing is None else 1)
        self.write("include/hocket/hocket.h", HEADER + "".join(declarations))
        self.write("include/hocket/hocket.hpp", SPDX + calls.replace("hocket_scan_start()", "1"))
        self.assertIn(("collectives", "src/base/collectives.def"), self.found())

    def test_what_can_be_started_can_be_planned(self):
        self.write("src/base/collectives.def", SPDX + "HOCKET_COLLECTIVE(Scan, scan, SCAN, MPI_Scan)\n")
        started = "".join(f"HOCKET_API int hocket_{name}(void);\n" for name in ("scan", "scan_start"))
        planned = "HOCKET_API int hocket_scan_init(void);\n"
        calls = "int b() { return hocket_scan_init(); }\n"
        self.write("include/hocket/hocket.h", HEADER + started)
        self.write("include/hocket/hocket.hpp", SPDX + "int a() { return hocket_scan() + hocket_scan_start(); }\n")
        for declared, called, findings in ((planned, calls, 0), (planned, "", 1), ("", calls, 1)):
            self.write("include/hocket/persistent.h", HEADER + declared)
            self.write("include/hocket/persistent.hpp", SPDX + called)
            found = [path for rule, path in self.found() if rule == "collectives"]
            self.assertEqual(found, ["include/hocket/hocket.h"] * findings)

    def test_interposer_sees_the_public_header_base_and_one_more(self):
        self.write("src/c_api/internal/call.h", SPDX)
        self.write("src/c_api/handles.h", SPDX)
        self.write("src/c_api/objects.cc", SPDX + '#include "c_api/handles.h"\n')
        self.write("interposer/shim.cc",
                   SPDX + '#include "base/status.h"\n#include "c_api/internal/call.h"\n'
                   '#include "hocket/hocket.h"\n')
        self.assertEqual(self.found(), [])
        self.write("interposer/shim.cc", SPDX + '#include "c_api/handles.h"\n#include "c_api/internal/call.h"\n')
        self.expect("includes", "interposer/shim.cc")
        self.write("interposer/shim.cc", SPDX + '#include "c_api/internal/call.h"\n#include "schedule/plan.h"\n')
        self.expect("includes", "interposer/shim.cc")

    def test_variants_of_a_header_are_found_in_their_folders(self):
        self.write("interposer/mpich/native.h", SPDX)
        self.write("interposer/openmpi/native.h", SPDX)
        self.assertEqual(self.found(),
                         [("dead-file", "interposer/mpich/native.h"), ("dead-file", "interposer/openmpi/native.h")])
        self.write("interposer/shim/handles.cc", SPDX + '#include "native.h"\n')
        self.assertEqual(self.found(), [])

    def test_angle_brackets_do_not_hide_a_direction(self):
        self.write("interposer/shim.cc", SPDX + "#include <schedule/plan.h>\n")
        self.expect("includes", "interposer/shim.cc")

    def test_algorithms_know_no_clock(self):
        self.write("src/algorithms/barrier_tree.cc", SPDX + "#include <chrono>\n")
        self.expect("includes", "src/algorithms/barrier_tree.cc")

    def test_quoted_include_of_no_file(self):
        self.write("src/base/status.cc", SPDX + '#include "stdio.h"\n')
        self.expect("includes", "src/base/status.cc")

    def test_header_that_nobody_includes(self):
        self.write("src/base/lonely.h", SPDX)
        self.expect("dead-file", "src/base/lonely.h")

    def test_fortran_includes_count(self):
        self.write("tests/body.inc", SPDX)
        self.expect("dead-file", "tests/body.inc")
        self.write("tests/program.f90", "! SPDX-License-Identifier: BSD-3-Clause\ninclude 'body.inc'\n")
        self.assertEqual(self.found(), [])

    def test_source_that_nothing_builds(self):
        built = [path for path in GOOD if path.endswith(".cc")]
        commands = [{"directory": str(self.root), "file": path} for path in built]
        self.write("build/compile_commands.json", json.dumps(commands))
        self.assertEqual(self.found(self.root / "build"), [])
        together = "".join(f'#include "{self.root / path}"\n' for path in built)
        self.write("build/Unity/unity_0_cxx.cxx", together)
        commands = [{"directory": str(self.root), "file": "build/Unity/unity_0_cxx.cxx"}]
        self.write("build/compile_commands.json", json.dumps(commands))
        self.assertEqual(self.found(self.root / "build"), [])
        self.write("src/base/status.cc", SPDX)
        self.expect("dead-file", "src/base/status.cc", self.root / "build")

    def test_page_that_nothing_mentions(self):
        self.write("docs/forgotten.md", "words\n")
        self.expect("dead-file", "docs/forgotten.md")

    def test_script_that_nothing_mentions(self):
        self.write("scripts/forgotten.sh", "#!/bin/bash\n# SPDX-License-Identifier: BSD-3-Clause\n")
        self.expect("dead-file", "scripts/forgotten.sh")

    def test_scripts_that_cmake_takes_by_pattern_are_mentioned(self):
        self.write("tests/command/run_test.py", "# SPDX-License-Identifier: BSD-3-Clause\n")
        self.write("tests/command/CMakeLists.txt", "file(GLOB tests CONFIGURE_DEPENDS *_check.py)\n")
        self.expect("dead-file", "tests/command/run_test.py")
        for taken in ("file(GLOB tests CONFIGURE_DEPENDS *_test.py)\n", "add_test(run ${here}/${part}_test.py)\n"):
            self.write("tests/command/CMakeLists.txt", taken)
            self.assertEqual(self.found(), [])

    def test_long_line(self):
        self.write("src/base/status.h", SPDX + "//" + "x" * 119 + "\n")
        self.expect("line-length", "src/base/status.h")

    def test_long_line_of_a_page(self):
        long = "x" * 121
        self.write("docs/interposer.md", GOOD["docs/interposer.md"] + f"\n```\n{long}\n```\n    {long}\n| {long} |\n")
        self.assertEqual(self.found(), [])
        self.write("docs/interposer.md", GOOD["docs/interposer.md"] + f"\n{long}\n")
        self.expect("line-length", "docs/interposer.md")

    def test_long_file(self):
        self.write("src/base/status.h", HEADER + "int a;\n" * 400)
        self.expect("file-size", "src/base/status.h")

    def test_full_folder(self):
        for number in range(30):
            self.write(f"examples/many/{number}.py", "# SPDX-License-Identifier: BSD-3-Clause\n")
            self.write(f"tests/many/{number}.py", "# SPDX-License-Identifier: BSD-3-Clause\n")
        self.write("README.md", GOOD["README.md"] + " ".join(str(number) for number in range(31)))
        self.assertEqual(self.found(), [])
        self.write("tests/many/30.py", "# SPDX-License-Identifier: BSD-3-Clause\n")
        self.assertEqual(self.found(), [])
        self.write("examples/many/30.py", "# SPDX-License-Identifier: BSD-3-Clause\n")
        self.expect("folder-size", "examples/many")
        with unittest.mock.patch.object(rules_size, "FULL_FOLDERS", {"examples/many": "a reason"}):
            self.assertEqual(self.found(), [])
        with unittest.mock.patch.object(rules_size, "FULL_FOLDERS", {"examples/many": "a reason", "scripts": "none"}):
            self.expect("folder-size", "scripts")

    def test_long_function(self):
        self.write("src/base/status.cc", SPDX + "namespace a {\nint f(int b) {\n" + "  b++;\n" * 69 + "}\n}\n")
        self.expect("function-size", "src/base/status.cc")
        self.write("src/base/status.cc", SPDX + "namespace a {\nint f(int b) {\n" + "  b++;\n" * 68 + "}\n}\n")
        self.assertEqual(self.found(), [])

    def test_class_with_many_members(self):
        some = "".join(f"  std::function<void(int)> a{number};\n" for number in range(18))
        twenty = some + "  int a[2] = {}, b{0};\n"
        aside = "  static int c;\n  using D = int;\n  struct E {\n    int f;\n  };\n  A(const A&) = delete;\n"
        for more, is_large in (("", False), ("  int (*z)(int) = nullptr;\n", True), ("  int y : 3;\n", True)):
            self.write("src/base/status.cc", SPDX + f"class A : public B {{\n{twenty}{aside}{more}}};\n")
            self.assertEqual(self.found(), [("class-size", "src/base/status.cc")] if is_large else [])
        for function, is_large in (("", False), ("  int g() const { return 1; }\n", False), ("  void g() {}\n", True),
                                   (" private:\n", True)):
            self.write("src/base/status.cc", SPDX + f"struct A {{\n{twenty}  int x;\n{function}}};\n")
            self.assertEqual(self.found(), [("class-size", "src/base/status.cc")] if is_large else [])

    def test_class_with_many_functions(self):
        some = "".join(f"  int f{number}(int a = 1) {{ return a; }}\n" for number in range(23)) + "  ~A() = default;\n"
        for more, is_large in (("  bool operator==(A a);\n  A() : a_{1} {}\n", False), ("  A();\n" * 3, True)):
            self.write("src/base/status.cc", SPDX + f"class A {{\n{some}{more}  int a_;\n}};\n")
            self.assertEqual(self.found(), [("class-size", "src/base/status.cc")] if is_large else [])

    def test_listed_class_that_is_no_longer_large(self):
        for listed in (rules_classes.MANY_MEMBERS, rules_classes.MANY_FUNCTIONS):
            with unittest.mock.patch.dict(listed, {"src/base/status.h:Code": "to be divided"}):
                self.expect("class-size", "src/base/status.h")

    def test_long_python_and_shell_functions(self):
        self.write("src/tool.py", "# SPDX-License-Identifier: BSD-3-Clause\ndef f():\n" + "    pass\n" * 71)
        self.write("README.md", "docs/interposer.md docs/environment.md tool\n")
        self.expect("function-size", "src/tool.py")
        self.write("src/tool.py", "# SPDX-License-Identifier: BSD-3-Clause\n")
        self.write("scripts/build.sh", "# SPDX-License-Identifier: BSD-3-Clause\nf() {\n" + "  true\n" * 70 + "}\n")
        self.expect("function-size", "scripts/build.sh")

    def test_algorithm_file_that_is_not_registered(self):
        self.write("src/algorithms/barrier_pieces.cc", SPDX)
        self.expect("algorithms", "src/algorithms/barrier_pieces.cc")

    def test_registered_algorithm_without_a_file(self):
        self.write("src/algorithms/algorithms.def", "HOCKET_ALGORITHM(barrier_tree)\nHOCKET_ALGORITHM(barrier_x)\n")
        self.expect("algorithms", "src/algorithms/algorithms.def")

    def test_algorithm_registered_twice(self):
        self.write("src/algorithms/algorithms.def", "HOCKET_ALGORITHM(barrier_tree)\n" * 2)
        self.expect("algorithms", "src/algorithms/algorithms.def")

    def test_source_without_a_licence_line(self):
        self.write("src/base/status.h", "// words first\n" + SPDX)
        self.expect("licence", "src/base/status.h")

    def test_public_function_without_a_comment(self):
        self.write("include/hocket/hocket.h", GOOD["include/hocket/hocket.h"] + "\nHOCKET_API int hocket_d(void);\n")
        self.expect("public-header", "include/hocket/hocket.h")

    def test_environment_name_that_is_no_setting(self):
        self.write("src/c_api/c_api.cc", SPDX + '#include "hocket/hocket.h"\nauto a = getenv("HOCKET_WIAT");\n')
        self.expect("environment", "src/c_api/c_api.cc")

    def test_setting_missing_from_its_page(self):
        self.write("docs/environment.md", "`HOCKET_BARRIER`\n")
        self.expect("environment", "docs/environment.md")

    def test_reason_of_the_statistics_without_a_row(self):
        self.write("interposer/core/statistics.cc", GOOD["interposer/core/statistics.cc"] +
                   'case Outcome::kFailed:\n  return "failed";\n')
        self.expect("reasons", "docs/interposer.md")
        self.write("docs/interposer.md", GOOD["docs/interposer.md"] + "| failed | with an error |\n")
        self.assertEqual(self.found(), [])

    def test_row_of_no_reason(self):
        self.write("docs/interposer.md", GOOD["docs/interposer.md"] + "| forgotten | long ago |\n")
        self.expect("reasons", "docs/interposer.md")

    def test_reason_that_is_not_explained(self):
        self.write("docs/interposer.md", "| reason | |\n|---|---|\n| freed | |\n\n| table | |\n| of others | |\n")
        self.expect("reasons", "docs/interposer.md")

    def write_status(self, header, source):
        self.write("src/base/status.h", HEADER + f"namespace a {{\n{header}\n}}\n")
        self.write("src/base/status.cc", SPDX + '#include "base/status.h"\n' + source)

    def test_function_that_nothing_uses(self):
        itself = "void a::lonely() { lonely(); }\n"
        for declared, defined in (
            ("void lonely();", itself), ("class A {\n public:\n  int lonely() const { return lonely_; }\n};", ""),
            ("template <typename T>\nstd::vector<T> lonely(T a = {}) {\n  return lonely(a);\n}", itself)):
            self.write_status(declared, "// Of lonely().\nint lonely_;\n" + defined)
            self.expect("dead-declaration", "src/base/status.h")
            self.write_status(declared, "void a::lonely() {}\nvoid a::other() { b->lonely(a::lonely); }\n")
            self.assertEqual(self.found(), [])

    def test_names_that_are_no_uses(self):
        member = "struct A {\n  int size() const { return 1; }\n};\n"
        self.write_status(member, "int f() {\n  int size(3);\n  return size;\n}\n")
        self.expect("dead-declaration", "src/base/status.h")
        self.write_status(member, "")
        self.write("src/base/blind.cc", SPDX + "int f() { return b.size(); }\n")
        self.expect("dead-declaration", "src/base/status.h")
        # A function of another class that hands on to it, and a template that comes to see it.
        self.write_status(member, "int B::size() const { return a_.size(); }\n")
        self.assertEqual(self.found(), [])
        self.write("src/base/walk.h", HEADER + "template <typename T>\nint walk(T& a) {\n  return a.size();\n}\n")
        self.write_status(member, '#include "base/walk.h"\nint b = walk(c);\n')
        self.assertEqual(self.found(), [])

    def test_function_that_nothing_defines(self):
        header = "class A {\n public:\n  void run();\n  virtual void walk() = 0;\n};\n"
        self.write_status(header, "void B::run() {}\nvoid f(A& a) {\n  a.run();\n}\n")
        self.expect("dead-declaration", "src/base/status.h")
        self.write_status(header, "void A::run() {}\nvoid f(A& a) {\n  a.run();\n}\n")
        self.assertEqual(self.found(), [])

    def test_comment_about_what_is_not_there(self):
        for gone in ("old_name", "OldName", "kOldName", "gone()", "HOCKET_GONE", "base/gone.h", "gone.py", "src/old/"):
            self.write("src/base/status.h", SPDX + f"// A word.\n/* As\n   {gone} has it. */\n")
            self.expect("comment-name", "src/base/status.h")
        for there in ("barrier_tree", "Outcome", "kFreed", "getenv()", "HOCKET_WAIT", "schedule/plan.h", "src/engines/",
                      "select(2)", "struct sched_attr", "net.core.rmem_max", "log_k", "MPI_Bcast", "and/or",
                      "base/<name>.h", "scripts/NAME.sh"):
            self.write("src/base/status.h", SPDX + f"// As {there} has it.\n")
            self.assertEqual(self.found(), [])

    def test_header_that_says_no_word_about_threads(self):
        stated = "// Thread safety: any thread.\n"
        for text, is_found in (("enum class Code { kOk };\n", True), ("#pragma once\n" + stated + "int a;\n", True),
                               ("#define HOCKET_A 1\n#include <vector>\n", False), ("\n// A word.\n", False),
                               ("// A word.\n//\n" + stated + "int a;\n", False),
                               ("\n/* A word.\n * Thread safety: pure functions. */\nint a;\n", False)):
            self.write("src/base/status.h", SPDX + text)
            self.assertEqual(self.found(), [("thread-safety", "src/base/status.h")] if is_found else [])

    def test_comments_of_scripts_are_read(self):
        self.write("dev", GOOD["dev"] + "echo '# in_text ' # old_name\n")
        self.expect("comment-name", "dev")
        self.write("dev", GOOD["dev"] + "echo build  # not in_text\n")
        self.write("scripts/build.sh", GOOD["scripts/build.sh"] + "echo in_text\n")
        self.assertEqual(self.found(), [])

    def test_word_that_the_house_does_not_use(self):
        words = {"spin count": ("turns", rules_glossary.CODE), "todo": ("a mend", rules_glossary.BOTH),
                 "dst": ("destination", rules_glossary.DOCS)}
        with unittest.mock.patch.dict(rules_glossary.GLOSSARY, words, clear=True):
            self.write("src/base/status.cc", SPDX + "int dst, count_of_spins, todos, spin;\nint count;\n")
            self.write("README.md", GOOD["README.md"] + "The spin count of todos.\n")
            self.assertEqual(self.found(), [])
            for written in ("int spin_count;", "int spinCount(SpinCount a);", "int kSpinCount;",
                            'puts("spin count: ");', "// spin-count", "#define SPIN_COUNT 1", "// TODO: more"):
                self.write("src/base/status.cc", SPDX + written + "\n")
                self.assertEqual(set(self.found()), {("glossary", "src/base/status.cc")})
            self.write("src/base/status.cc", SPDX)
            for written in ("`dst`", "To do: todo."):
                self.write("README.md", GOOD["README.md"] + written + "\n")
                self.expect("glossary", "README.md")

    def test_counts(self):
        self.write("src/base/status.cc", SPDX + "int f() {\n  return 1;\n}\nint g() {\n}\nclass A {\n  int a, b;\n"
                   "  int c() const { return a; }\n  int d() const;\n  A();\n};\n" + "int h;\n" * 20)
        for path, text in (("src/base/a.cc", "int kExscan;"), ("src/algorithms/b.cc", "int exscan;"),
                           ("src/base/c.cc", "int d;  // exscan"), ("tests/e.cc", "int exscan;"),
                           ("interposer/f.cc", "int MPI_Exscan(int NIC_DONE, int Win_test);"),
                           ("bpf/g.h", "int nic_a;"), ("tools/h.cc", 'puts("reorder");')):
            self.write(path, SPDX + text + "\n")
        found = dict(counts.counts(tidy.Tree(self.root)))
        self.assertEqual(found["longest file"], "src/base/status.cc 32 lines")
        self.assertEqual(found["lines of 3 functions"], "median 2, p99 3, most 3")
        self.assertEqual(found["largest classes"], "A 2 data members, A 3 functions")
        self.assertTrue(found["largest folders"].startswith("src/base 6 sources, "))
        self.assertEqual([found[what] for what in found if what.startswith("files")], ["2", "1", "1", "1"])

    def test_path_of_a_machine(self):
        self.write("README.md", "docs/interposer.md docs/environment.md: see /" + "home/somebody/hocket\n")
        self.expect("machine-path", "README.md")


class FunctionFinder(unittest.TestCase):
    def names(self, text):
        return [(name, lines) for name, _, lines in rules_size.cxx_functions(text)]

    def test_finds_members_lambdas_and_operators_as_their_outermost_function(self):
        self.assertEqual(self.names("struct A {\n  int f() const { return 1; }\n};\n"), [("f", 1)])
        self.assertEqual(self.names("int A::g(int x) {\n  auto h = [&](int y) {\n    return y;\n  };\n}\n"),
                         [("A::g", 5)])
        self.assertEqual(self.names("template <typename T>\nauto k(T t)\n    -> int {\n}\n"), [("k", 4)])

    def test_is_not_misled_by_braces_in_comments_literals_and_macros(self):
        self.assertEqual(self.names('int f() {\n  // }\n  puts("}");\n  char c = \'}\';\n  int i = 1\'000;\n}\n'),
                         [("f", 6)])
        self.assertEqual(self.names("#define M(a) \\\n  do { \\\n\nint f() {\n}\n"), [("f", 2)])

    def test_initialisers_and_types_are_no_functions(self):
        self.assertEqual(self.names("constexpr int a[] = {1, 2};\nenum class E { kA };\nclass B : public C {};\n"), [])


if __name__ == "__main__":
    unittest.main()
