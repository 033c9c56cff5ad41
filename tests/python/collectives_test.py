# SPDX-License-Identifier: BSD-3-Clause
"""`import hocket` on one to four ranks: every collective against NumPy's answers, and what is refused."""

import ast
import re
import sys

from hocket_python import HERE, LIMIT_S, ROOT, PythonTest, main, on_ranks, run


class Collectives(PythonTest):
    def test_all_on_so_many_ranks(self):
        names = ("reductions", "exchanges", "neighbours", "persistent", "misuse")
        scripts = [HERE / f"{name}_on_ranks.py" for name in names]
        tests = sum(isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
                    for script in scripts for node in ast.parse(script.read_text(encoding="utf-8")).body)
        for ranks in (1, 2, 3, 4):
            with self.subTest(ranks=ranks):
                result = self.expect(on_ranks(ranks, HERE / "all_on_ranks.py", HOCKET_SETUP_TIMEOUT_S=str(LIMIT_S)))
                self.assertEqual((result.stdout, result.stderr), (f"{tests} tests on {ranks} ranks\n", ""))

    def test_every_collective_of_the_headers_is_there(self):
        for file, prefix, at_least, of in (("hocket.h", "", 17, "Communicator"),
                                           ("neighbourhoods.h", "neighbor_", 5, "Neighbourhood")):
            header = (ROOT / "include/hocket" / file).read_text(encoding="utf-8")
            started = re.findall(rf"\bhocket_{prefix}(\w+_start)\(", header)
            self.assertGreaterEqual(len(started), at_least)
            code = f"import hocket, sys; print(*(name for name in sys.argv[1:] if not hasattr(hocket.{of}, name)))"
            names = [name[:-len("_start")] + form for name in started for form in ("", "_start", "_init")]
            self.assertEqual(self.expect(on_ranks(1, "-c", code, *names)).stdout.strip(), "")

    def test_calls_are_counted(self):
        code = ("import hocket, numpy\ncomm = hocket.world()\ncomm.barrier()\nassert not hocket.count_calls()\n"
                "before = hocket.counters()\nfor _ in range(3): comm.allreduce(numpy.ones(2))\n"
                "assert hocket.count_calls(False)\nafter = hocket.counters()\ncomm.barrier()\n"
                "assert after == hocket.counters() and set(after) == set(hocket.counter_descriptions())\n"
                "assert after['time_ns'] > before['time_ns']\n"
                "counted = [str(after[name] - before[name]) for name in ('calls', 'bytes')]\n"
                "import sys\nsys.stdout.write(' '.join(counted) + '\\n')")
        self.assertEqual(self.expect(on_ranks(2, "-c", code)).stdout.split(), ["3", "48"] * 2)

    def test_constants_are_those_of_the_header(self):
        header = (ROOT / "include/hocket/hocket.h").read_text(encoding="utf-8")
        header = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
        statuses = re.findall(r"^  HOCKET_(?:ERR_)?(\w+) = (-?\d+)", header, re.MULTILINE)[:10]
        operations = re.findall(r"^#define HOCKET_(\w+) \(\(hocket_op_t\)", header, re.MULTILINE)
        types = re.search(r"^enum \{(.*?)^\};", header, re.DOTALL | re.MULTILINE).group(1).count("HOCKET_")
        code = ("import hocket, hocket._types as types; hocket.TWO_INT\n"
                "print([(status.name, str(status.value)) for status in hocket.Status])\n"
                "print(list(hocket._OPERATIONS), len(set(types.COMBINED.values())),\n"
                "      hocket._RECORDS == types.RECORDS)\n")
        self.assertEqual(self.expect(run(sys.executable, "-c", code)).stdout,
                         f"{statuses}\n{operations} {types} True\n")


if __name__ == "__main__":
    main()
