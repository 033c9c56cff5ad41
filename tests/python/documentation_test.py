# SPDX-License-Identifier: BSD-3-Clause
"""docs/python.md, and what is Python on docs/neighbours.md: each example runs and prints what the page says."""

import re
import sys

from hocket_python import ROOT, PythonTest, main, on_ranks, run

PAGE = ROOT / "docs" / "python.md"


class Page(PythonTest):
    def test_examples_print_what_is_said(self):
        text = PAGE.read_text(encoding="utf-8")
        blocks = re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        self.assertEqual([kind for kind, _ in blocks], ["python", "text"] * (len(blocks) // 2))
        self.assertGreater(len(blocks), 10)
        examples = [(code, printed) for (_, code), (_, printed) in zip(blocks[::2], blocks[1::2])]
        of_ranks = [(code, printed) for code, printed in examples if "hocket.world()" in code]
        # In one job: it is the interpreter's start that takes time.
        program = "import sys\nfor code in sys.argv[1:]:\n    exec(code, {'__name__': '__main__'})\n    print('--')\n"
        result = self.expect(on_ranks(4, "-c", program, *(code for code, _ in of_ranks), options=["-l"]))
        lines = [line[len("[0] "):] for line in result.stdout.splitlines() if line.startswith("[0] ")]
        self.assertEqual("\n".join(lines) + "\n", "".join(f"{printed}--\n" for _, printed in of_ranks))
        self.assertEqual(result.stderr, "")
        for code, printed in examples:
            if (code, printed) not in of_ranks:
                result = self.expect(run(sys.executable, "-c", code))
                self.assertEqual((result.stdout, result.stderr), (printed, ""))

    def test_halo_exchanges_print_what_is_said(self):
        text = (ROOT / "docs" / "neighbours.md").read_text(encoding="utf-8")
        (code, printed), = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        result = self.expect(on_ranks(4, "-c", code))
        self.assertEqual((result.stdout, result.stderr), (printed, ""))

    def test_it_names_every_collective(self):
        text = PAGE.read_text(encoding="utf-8")
        for file, prefix in (("hocket.h", ""), ("neighbourhoods.h", "neighbor_")):
            header = (ROOT / "include/hocket" / file).read_text(encoding="utf-8")
            for name in re.findall(rf"\bhocket_{prefix}(\w+)_start\(", header):
                self.assertIn(f"`{name}`", text if not prefix else text[text.index("## Neighbours"):])


if __name__ == "__main__":
    main()
