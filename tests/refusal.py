# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What every refusal has in common: one sentence, an exit status, no file."""

import os

from harness import FAILED, PROGRAM


class Refuser:
    """Runs the program in an empty folder, in which it must leave nothing."""

    def __init__(self, lab):
        self.lab = lab
        self.folder = lab.path("empty")
        self.folder.mkdir()

    def __call__(self, *arguments, says=(), prefix=(), program=None, timeout=60, **options):
        """Fails with one sentence that holds all of the words in `says`."""
        process = self.lab.run(
            *arguments,
            prefix=prefix,
            program=program or PROGRAM,
            timeout=timeout,
            cwd=self.folder,
            **options,
        )
        assert process.popen.returncode == FAILED, process.describe()
        [sentence] = process.lines["stderr"]
        check_sentence(sentence, says)
        assert process.stdout == ""
        self.check_no_file()
        return sentence

    def check_no_file(self):
        assert os.listdir(self.folder) == []


def check_sentence(sentence, says):
    name, colon, text = sentence.partition(": ")
    assert colon and name.startswith("dbprof-bpf"), sentence
    assert 10 < len(text) < 500 and not text.endswith("."), sentence
    for word in says:
        assert str(word) in text, f"{word!r} is not in: {sentence}"
