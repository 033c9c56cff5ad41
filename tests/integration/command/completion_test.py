# SPDX-License-Identifier: BSD-3-Clause
"""What shells make of hocket's command line: bash, and zsh and fish where they are installed."""

import json
import os
import re
import shutil
import subprocess
import tempfile

from hocket_command import COMMAND, LIMIT_S, CommandTest, environment, main, run

# In a terminal of its own: what completion finds goes to a file, and THEND says that it has ended.
ZSH = r"""
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'source ./child.zsh'
zpty -r -m shell out '*READY*'
while read -r line; do
  zpty -w -n shell "$line"$'\t\x14'
  zpty -r -m shell out '*THEND*'
done <lines
zpty -d shell
"""
ZSH_CHILD = r"""
unsetopt prompt_cr prompt_sp beep
fpath=($PWD $fpath)
autoload -Uz compinit && compinit -D -u
compadd() {
  local -a found
  if [[ ${@[1,(i)(-|--)]} != *-(O|A|D)\ * ]]; then
    builtin compadd -A found "$@"
    (( $#found )) && print -rl -- $found >>found
  fi
  builtin compadd "$@"
}
say-end() { print '' >>found; print -r -- '===' >>found; zle kill-whole-line; print TH''END }
zle -N say-end
bindkey '^T' say-end
zle-line-init() { print REA''DY; zle -D zle-line-init }
zle -N zle-line-init
"""
BASH = r"""
source ./hocket
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_hocket
printf '%s\n' "${COMPREPLY[@]}"
"""
FISH = r"""
source ./hocket.fish
while read -l line
    complete -C $line
    echo ===
end <lines
"""


def algorithms_of(collective):
    listed = json.loads(run("algorithms", collective, "--json").stdout)
    return {algorithm["name"] for algorithm in listed}


def cases():
    """What may stand before a cursor, and all that may come."""
    return {
        "hocket b": {"bench"},
        "hocket lab b": {"bench"},
        "hocket lab bench al": {"allreduce", "allgather", "alltoall"},
        "hocket bench all": {"all", "allreduce", "allgather", "alltoall", "allgatherv", "alltoallv"},
        "hocket bench barrier,allr": {"allreduce"},
        "hocket bench --ti": {"--timing", "--time-budget"},
        "hocket bench --timing b": {"both", "back-to-back"},
        "hocket bench --timing=i": {"isolated"},
        "hocket lab bench --type int64,d": {"double"},
        "hocket info --explain allr": {"allreduce"},
        "hocket schedule MPI_Bcast p": {name for name in algorithms_of("broadcast") if name.startswith("p")},
        "hocket lab exec --name ho": {"home"},
        "hocket lab exec ea": {"each"},
        "hocket lab loss ea": set(),
        "hocket tune --from ro": {"rows.json"},
        "hocket completion z": {"zsh"},
        "hocket run -l -n 2 ./prog": {"program"},
        "hocket run --env A=1 ./program ro": {"rows.json"},
        "hocket exec -- ./prog": {"program"},
    }


class Completion(CommandTest):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        os.makedirs(os.path.join(self.folder, "labs", "home"))
        for name in ("rows.json", "program"):
            with open(os.path.join(self.folder, name), "w", encoding="utf-8"):
                pass
        os.chmod(os.path.join(self.folder, "program"), 0o755)
        for shell, name in (("bash", "hocket"), ("zsh", "_hocket"), ("fish", "hocket.fish")):
            self.write(name, self.expect(run("completion", shell), 0).stdout)
        self.cases = cases()
        self.write("lines", "".join(line + "\n" for line in self.cases))

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def shell(self, *line, labs="labs"):
        # No file of the user's: neither is there a home, nor a history.
        settings = environment(HOCKET_LAB_DIRECTORY=os.path.join(self.folder, labs), TERM="dumb", HOME=self.folder,
                               PATH=os.path.dirname(COMMAND) + ":" + os.environ["PATH"])
        result = subprocess.run(line, cwd=self.folder, env=settings, stdin=subprocess.DEVNULL, capture_output=True,
                                text=True, timeout=LIMIT_S, check=False)
        return self.expect(result, 0).stdout

    def check_all(self, answers):
        for (line, expected), answer in zip(self.cases.items(), answers, strict=True):
            # Some shells answer with the whole word, of a list or of an option with its value, or a path.
            found = {re.sub(r"^.*[,=/]", "", word.split("\t")[0]) for word in answer if word.strip()}
            self.assertEqual(found, expected, line)

    def test_bash(self):
        answers = []
        for line in self.cases:
            words = re.sub("(--[a-z]+)=", r"\1 = ", line).split(" ")
            answers.append(self.shell("bash", "--norc", "-c", BASH, "bash", *words).splitlines())
        self.check_all(answers)

    def test_zsh(self):
        if not shutil.which("zsh"):
            self.skipTest("no zsh here")
        self.write("child.zsh", ZSH_CHILD)
        self.shell("zsh", "-f", "-c", ZSH)
        with open(os.path.join(self.folder, "found"), encoding="utf-8") as file:
            self.check_all([part.splitlines() for part in file.read().split("===\n")[:-1]])

    def test_fish(self):
        if not shutil.which("fish"):
            self.skipTest("no fish here")
        self.check_all([part.splitlines() for part in self.shell("fish", "-c", FISH).split("===\n")[:-1]])

    def test_no_lab_is_none(self):
        os.mkdir(os.path.join(self.folder, "none"))
        line = "hocket lab down --name "
        self.assertEqual(self.shell("bash", "--norc", "-c", BASH, "bash", *line.split(" "), labs="none").strip(), "")
        if shutil.which("fish"):
            self.write("lines", line + "\n")
            self.assertEqual(self.shell("fish", "-c", FISH, labs="none").strip(), "===")

    def test_another_shell_is_refused(self):
        self.refused("completion", "tcsh", words=["tcsh", "bash", "zsh", "fish"])


if __name__ == "__main__":
    main()
