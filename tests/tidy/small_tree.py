# SPDX-License-Identifier: BSD-3-Clause
"""A small tree that keeps every rule, for tests that change it and look at what is found."""

import pathlib
import tempfile
import unittest
import unittest.mock

import rules_size
import tidy

SPDX = "// SPDX-License-Identifier: BSD-3-Clause\n"
HEADER = SPDX + "// Thread safety: a value.\n"
# A tree that keeps every rule.
GOOD = {
    "CMakeLists.txt": "project(small VERSION 2.5.1 LANGUAGES C)\n",
    "CHANGELOG.md": "# Changes\n\n## 2.5.1 (unreleased)\n\n## 2.5.0 (2026-01-31)\n",
    "dev": "#!/usr/bin/env bash\n# SPDX-License-Identifier: BSD-3-Clause\necho build\n",
    "scripts/build.sh": "#!/usr/bin/env bash\n# SPDX-License-Identifier: BSD-3-Clause\n",
    "include/hocket/hocket.h":
        "/* SPDX-License-Identifier: BSD-3-Clause */\n/* Thread safety: any thread. */\n"
        "#define HOCKET_VERSION_MAJOR 2\n#define HOCKET_VERSION_MINOR 5\n#define HOCKET_VERSION_PATCH 1\n\n"
        "/* --- heading --- */\n\nHOCKET_API int hocket_a(void);\n\n"
        "/* Says b. */\nHOCKET_API int hocket_b(void);\nHOCKET_API int hocket_c(void);\n"
        "HOCKET_API int hocket_barrier(void);\nHOCKET_API int hocket_barrier_start(void);\n",
    "src/base/status.h": HEADER + "enum class Code { kOk };\n",
    "src/base/environment_settings.cc": SPDX + 'const char* names[] = {"HOCKET_WAIT"};\n',
    "src/base/collectives.def":
        "HOCKET_COLLECTIVE(Barrier, barrier, BARRIER, MPI_Barrier)\nHOCKET_MPI_COLLECTIVE(Alltoallw, Alltoallw)\n",
    "src/schedule/plan.h": SPDX + '#include <vector>\n#include "base/status.h"\n',
    "src/algorithms/algorithms.def": "HOCKET_ALGORITHM(barrier_tree)\n",
    "src/algorithms/barrier_tree.cc": SPDX + '#include "schedule/plan.h"\n',
    "src/engines/executor/transport.h": SPDX + '#include "schedule/plan.h"\n',
    "src/engines/shared_memory/lane.cc": SPDX + '#include "engines/executor/transport.h"\n',
    "src/c_api/c_api.cc": SPDX + '#include "hocket/hocket.h"\nauto wait = getenv("HOCKET_WAIT");\n',
    "interposer/core/statistics.cc":
        SPDX + 'case Outcome::kCarriedOut:\n  return "carried out";\ncase Outcome::kFreed:\n  return "freed";\n'
        'return "?";\n',
    "docs/interposer.md": "| function | |\n|---|---|\n| a |  |\n\n| reason | |\n|---|---|\n| freed | at its end |\n",
    "docs/environment.md": "| `HOCKET_WAIT` | how to wait |\n| `HOCKET_BARRIER` | how to wait for all |\n",
    "README.md": "See docs/environment.md, docs/interposer.md.\n",
}


class TestCase(unittest.TestCase):
    def setUp(self):
        # The real ones are full in no tree here.
        full = unittest.mock.patch.object(rules_size, "FULL_FOLDERS", {})
        full.start()
        self.addCleanup(full.stop)
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        for path, text in GOOD.items():
            self.write(path, text)

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def found(self, build=None):
        return [(finding.rule, finding.path) for finding in tidy.findings(self.root, build)[1]]

    def expect(self, rule, path, build=None):
        self.assertEqual(self.found(build), [(rule, path)])
