# SPDX-License-Identifier: BSD-3-Clause
"""Every message that the product prints has an entry on the pages of troubleshooting, and every entry is printed.

A message is what a source spells with three words or more, and with two among the arguments of what reports. What is no
message stands below, by where it stands: a new sentence is a message until this table says otherwise."""

import re

import messages
from tree import Finding

SOURCES = ("src/", "interposer/", "tools/", "include/")
INDEX = "docs/troubleshooting.md"
PAGES = "docs/troubleshooting/"
FENCE = "```text"

# Functions and types whose arguments are messages even of two words.
REPORTERS = re.compile(
    r"Status|system|system_call|fail|failed|complain|say|wrong|invalid|unfit|refuse|refusal|runtime_error|perror|"
    r"fprintf|fputs|give_up|drop|log_dropped|end_without_memory|socket_failed|bad|bad_word|bad_layout|no_table|ask|"
    r"require|status_of|HOCKET_LOG_\w+")
# Whose arguments are none: help, invariants, pictures, what is read.
NO_MESSAGES = re.compile(
    r"add_option|add_flag|add_subcommand|add_start|add_which_lab|app|footer|description|type_name|HOCKET_ASSERT|"
    r"static_assert|_Pragma|SvgWriter|Setting|flag|forced|published_and_combined|strstr|dlsym|sscanf|section")
# What is initialised by help, citations and names.
NO_TARGETS = re.compile(r"k\w*Footer|summary|reference|kTypes|kFields|place_")
# Results and progress: by file, in all of it ("") or in some functions.
RESULTS = {
    "interposer/core/call_times.cc": {"times_text"},
    "interposer/core/report/page.cc": {""},
    "interposer/core/statistics.cc": {"windows_text", "statistics_text"},
    "src/platform/tracing/trace_text.cc": {""},
    "src/schedule/describe.cc": {""},
    "src/simulation/nic/replay.cc": {"row_name"},
    "src/schedule/dumps/goal.cc": {"dump_goal"},
    "src/schedule/dumps/svg.cc": {"write", "arrowhead", "label", "legend", "mark"},
    "src/schedule/dumps/text.cc": {"dump_text"},
    "src/selection/explain.cc": {""},
    "src/selection/explain_among_neighbours.cc": {""},
    "tools/bench/comparison/local.cc": {"run_rank"},
    "tools/bench/comparison/on_mpi.cc": {"title_of", "evenness_of"},
    "tools/bench/lab/cells.cc": {"topic_of"},
    "tools/bench/lab/table.cc": {""},
    "tools/bench/report.cc": {"head"},
    "tools/bench/suite.cc": {"run_wait"},
    "tools/command/algorithms.cc": {"degrees_of", "properties_of", "heading_of"},
    "tools/command/bench.cc": {"collectives_in_words"},
    "tools/command/info/coverage.cc": {""},
    "tools/command/info/info_machine.cc": {"add_cache", "add_budget"},
    "tools/command/nic.cc": {"bring_up", "add_start"},
    "tools/command/predictions.cc": {"print"},
    "tools/command/replay.cc": {"print", "print_differences", "print_conclusion"},
    "tools/command/schedule.cc": {"prove"},
    "tools/command/simulate.cc": {"print", "simulate_goal"},
    "tools/lab/command/lab.cc": {"make_lab"},
    "tools/lab/jobs/job.cc": {"fill"},
    "tools/mpi_launch/mpi4py_of.cc": {""},
    "tools/nic/agent_engine.cc": {"place"},
    "tools/pages/chart.cc": {"write", "notes"},
    "tools/pages/drawing.cc": {""},
    "tools/pages/page.cc": {"name_of"},
    "tools/pages/page_html.cc": {""},
    "tools/pages/plot.cc": {""},
    "tools/pages/style.cc": {""},
    "tools/probe/interface.cc": {"judgement"},
    "tools/probe/measure.cc": {"run"},
    "tools/probe/report.cc": {""},
    "tools/reproduce/comparison.cc": {""},
    "tools/reproduce/figure.cc": {""},
    "tools/reproduce/measuring.cc": {"command_for"},
    "tools/reproduce/report.cc": {""},
    "tools/tune/compare.cc": {"print_text"},
    "tools/tune/written/network.cc": {"head_of", "source_of_fitted", "source_of_wire", "source_of"},
    "tools/tune/written/table.cc": {"head", "model_lines", "this_machine", "cluster_table_text", ""},
}

# Folders that write pages and scripts.
WRITERS = ("tools/documentation/",)

_PREFIX = re.compile(r"^hocket(?: \w+)*: ")
_EDGES = f" {messages.VARIES},;:.()"


def _plain(text):
    """Without what stands before every message of a command, and without what is on either end of a part of one."""
    return _PREFIX.sub("", text).strip(_EDGES)


def _is_result(path, sentence, used):
    if path.startswith(WRITERS):
        return True
    kept = {"", sentence.function} & RESULTS.get(path, set())
    used.update((path, function) for function in kept)
    return bool(kept)


def _weight(path, sentence, used):
    """2: a message; 1: may be a part of one; 0: neither."""
    text = sentence.text()
    words = messages.count_words(_plain(text))
    callee = sentence.callees[-1] if sentence.callees else ""
    if REPORTERS.fullmatch(callee) and words >= 2:
        return 2
    if NO_MESSAGES.fullmatch(callee) or NO_TARGETS.fullmatch(sentence.target):
        return 0
    if words >= 3:
        return 0 if _is_result(path, sentence, used) else 2
    return 1 if _plain(text) and (words == 2 or messages.VARIES in text) else 0


def printed(tree, used):
    """{text: (path, line)} of messages, and the texts of parts; of each text the first place."""
    found, parts = {}, set()
    for path in tree.paths:
        if not path.startswith(SOURCES) or not path.endswith((".cc", ".h", ".hpp", ".def")):
            continue
        line_at = messages.line_of(tree.text(path))
        for sentence in messages.sentences(tree.text(path)):
            weight = _weight(path, sentence, used)
            text = _plain(sentence.text())
            if weight == 2:
                found.setdefault(text, (path, line_at(sentence.position)))
            elif weight == 1:
                parts.add(text)
    return found, parts - found.keys()


def pages(tree):
    return [path for path in tree.paths if path == INDEX or (path.startswith(PAGES) and path.endswith(".md"))]


def entries(tree, path):
    """(line, message) of what stands in lists, and the lines of lists that nothing explains. Of a message of several
    lines all but the first are indented."""
    found, unexplained = [], []
    fence, closed = None, 0
    for number, line in enumerate([*tree.lines(path), "#"], 1):
        if closed and fence is None and line.strip():
            if line.startswith(("#", "```")):
                unexplained.append(closed)
            closed = 0
        if line.startswith("```"):
            closed = number if fence == FENCE else 0
            fence = line if fence is None else None
        elif fence == FENCE and line.startswith("    ") and found:
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}")
        elif fence == FENCE and line.strip():
            found.append((number, line.strip()))
    return found, unexplained


def _pattern(text):
    """What finds the message where it stands in an entry, with a group for each piece that the program spells."""
    begin = r"(?<!\w)" if text[0].isalnum() else ""
    end = r"(?!\w)" if text[-1].isalnum() else ""
    return re.compile(begin + ".*?".join(f"({re.escape(piece)})" for piece in text.split(messages.VARIES)) + end)


class _Spelt:
    """Which letters of an entry some message spells."""

    def __init__(self, text):
        self.text = text
        self.covered = set()

    def cover(self, match):
        for group in range(1, match.re.groups + 1):
            self.covered.update(range(*match.span(group)))

    def foreign_word(self):
        for word in re.finditer(r"\w+", self.text):
            if not self.covered.issuperset(range(*word.span())):
                return word.group(0)
        return None


def _unused_results(tree, used):
    for path, functions in RESULTS.items():
        for function in sorted(functions):
            if tree.exists(path) and (path, function) not in used:
                where = f"{path}: {function}" if function else path
                yield Finding("messages", path, 1, f"{where} has no results: take it out of RESULTS")


def _of_pages(tree):
    """What is wrong with the pages by themselves, and (page, line, entry) of each entry."""
    wrong, listed, seen = [], [], {}
    for page in pages(tree):
        found, unexplained = entries(tree, page)
        wrong += [Finding("messages", page, line, "nothing explains this list") for line in unexplained]
        for line, text in found:
            plain = _plain(text)
            if plain in seen:
                wrong.append(Finding("messages", page, line, f"`{text}` is on {seen[plain]} already"))
            else:
                seen[plain] = page
                listed.append((page, line, _Spelt(plain)))
    return wrong, listed


def _cover(text, listed):
    """Whether the text stands in an entry, where its letters are marked."""
    longest = max(text.split(messages.VARIES), key=len)
    pattern, is_listed = None, False
    for _, _, entry in listed:
        if longest in entry.text:
            pattern = pattern or _pattern(text)
            for match in pattern.finditer(entry.text):
                entry.cover(match)
                is_listed = True
    return is_listed


def check_messages(tree):
    if not tree.exists(INDEX):
        return
    used = set()
    spoken, parts = printed(tree, used)
    yield from _unused_results(tree, used)
    wrong, listed = _of_pages(tree)
    yield from wrong
    for text, (path, line) in spoken.items():
        if not _cover(text, listed):
            yield Finding("messages", path, line, f"`{text}` has no entry on {INDEX} or a page of {PAGES}")
    for text in parts:
        _cover(text, listed)
    for page, line, entry in listed:
        if foreign := entry.foreign_word():
            yield Finding("messages", page, line, f"`{entry.text}`: no source spells `{foreign}` so")
