# SPDX-License-Identifier: BSD-3-Clause
"""A page of docs/stories/: what its reader types, step by step, and where results stand in it.

    ## 1. Install            a step: everything up to the next heading of that level
    ```sh                    typed in order, in one shell and one folder
    ```sh compare            a command a line, named by the comment behind it, one of them `hocket`: run in turns
    ```sh finally            cleans up: also run if a step before has failed
    ```text                  behind one of these: what it printed
    <!-- numbers --> ... <!-- end -->     the step's commands beside each other
    <!-- times --> ... <!-- end -->       how long each step takes
"""

import dataclasses
import re
import statistics
import sys

LINE_LIMIT = 100
_FENCE = re.compile(r"^```(\S*)[ ]?(.*)$")
_REGION = re.compile(r"^<!-- (numbers|times) -->$")
_RESULT = re.compile(r"^(.+) seconds ([0-9.]+)$", re.MULTILINE)


@dataclasses.dataclass
class Block:
    step: str
    text: str
    side: str = ""
    output: tuple = ()  # the lines between which its output stands: first, and behind the last
    seconds: list = dataclasses.field(default_factory=list)
    own_seconds: list = dataclasses.field(default_factory=list)  # by the program's own clock
    results: set = dataclasses.field(default_factory=set)
    printed: str = ""
    given_up: bool = False

    def record(self, seconds, printed):
        self.seconds.append(seconds)
        self.printed = printed
        for found in _RESULT.finditer(printed) if self.is_side else ():
            self.results.add(found.group(1))
            self.own_seconds.append(float(found.group(2)))

    @property
    def is_side(self):
        return self.side not in ("", "finally")


def number(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def spread(values):
    return f"{number(statistics.median(values))} ({number(min(values))} to {number(max(values))})" if values else ""


class Page:
    def __init__(self, path):
        self.path, self.title = path, path.stem
        self.lines = path.read_text(encoding="utf-8").splitlines()
        self.blocks, self.regions = [], []  # regions: (kind, step, first line, line behind the last)
        self._parse()

    def _mistake(self, line, sentence):
        sys.exit(f"stories: {self.path}:{line + 1}: {sentence}")

    def _end_of(self, begin, last):
        for line in range(begin + 1, len(self.lines)):
            if self.lines[line] == last:
                return line
        return self._mistake(begin, f"there is no '{last}' behind it")

    def _parse(self):
        step, line = "", 0
        while line < len(self.lines):
            text = self.lines[line]
            fence, region = _FENCE.match(text), _REGION.match(text)
            if text.startswith("## "):
                step = text[3:]
            elif region:
                end = self._end_of(line, "<!-- end -->")
                self.regions.append((region.group(1), step, line + 1, end))
                line = end
            elif fence:
                end = self._end_of(line, "```")
                self._take(fence.group(1), fence.group(2), step, line, end)
                line = end
            line += 1
        for step in self.steps():
            if self.sides(step) and "hocket" not in {block.side for block in self.sides(step)}:
                self._mistake(0, f"'{step}' compares sides, and none is called 'hocket'")
        if not self.blocks:
            self._mistake(0, "nothing to type: no ```sh block")
        if len(self.lines) > LINE_LIMIT:
            self._mistake(LINE_LIMIT, f"{len(self.lines)} lines, {LINE_LIMIT} at most")

    def _take(self, language, kind, step, begin, end):
        if language == "sh":
            if not step:
                self._mistake(begin, "a ```sh block before the first step (## ...)")
            if kind not in ("", "compare", "finally"):
                self._mistake(begin, f"a ```sh block is not '{kind}', but compare, finally or nothing")
            if kind != "compare":
                self.blocks.append(Block(step, "\n".join(self.lines[begin + 1:end]) + "\n", kind))
                return
            for line in range(begin + 1, end):
                command, _, side = self.lines[line].rpartition("  # ")
                if not command:
                    self._mistake(line, "a command to compare has no name behind it ('  # NAME')")
                self.blocks.append(Block(step, command + "\n", side))
        elif language == "text":
            if not self.blocks or self.blocks[-1].output:
                self._mistake(begin, "a ```text block that belongs to no ```sh block before it")
            self.blocks[-1].output = (begin + 1, end)

    def steps(self):
        return list(dict.fromkeys(block.step for block in self.blocks))

    def sides(self, step):
        return [block for block in self.blocks if block.step == step and block.is_side]

    def numbers(self, step):
        """The table of a step's sides. The last column has how many times as long as the side `hocket` they take."""
        ours = next(block for block in self.sides(step) if block.side == "hocket")
        yield "| | whole command, s | by the program's own clock, s | over hocket's: whole, own |"
        yield "|---|---|---|---|"
        for block in self.sides(step):
            if block.given_up:
                yield f"| {block.side} | more than {number(block.seconds[-1])} | | |"
                continue
            ratios = ""
            if block is not ours and not ours.given_up:
                pairs = [(block.seconds, ours.seconds), (block.own_seconds, ours.own_seconds)]
                ratios = ", ".join(number(statistics.median(its) / statistics.median(our)) for its, our in pairs if its)
            yield f"| {block.side} | {spread(block.seconds)} | {spread(block.own_seconds)} | {ratios} |"

    def times(self, machine):
        steps = {step: sum(statistics.median(block.seconds) for block in self.blocks if block.step == step)
                 for step in self.steps()}
        rounds = max(len(block.seconds) for block in self.blocks)
        yield "| " + " | ".join(["step", *steps, "all"]) + " |"
        yield "|---" * (len(steps) + 2) + "|"
        yield "| " + " | ".join(["seconds", *map(number, steps.values()), number(sum(steps.values()))]) + " |"
        yield ""
        yield f"{machine}; runs of what is compared, in turns: {rounds}; medians (lowest and highest)."

    def filled(self, machine):
        """The page's text with what was measured and printed."""
        news = []
        for kind, step, begin, end in self.regions:
            news.append((begin, end, list(self.numbers(step) if kind == "numbers" else self.times(machine))))
        for block in self.blocks:
            if block.output:
                news.append((*block.output, [line.rstrip() for line in block.printed.rstrip().splitlines()]))
        lines = list(self.lines)
        for begin, end, text in sorted(news, reverse=True):
            lines[begin:end] = text
        return "\n".join(lines) + "\n"
