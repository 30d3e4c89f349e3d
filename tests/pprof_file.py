# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Reads pprof's profiles with nothing but the format's numbers, and checks that they hold together."""

import gzip
from collections import Counter
from dataclasses import dataclass

TYPES = ["wall", "cpu", "off-cpu"]


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def fields(data):
    """(number, value) of each field of a message: a number, or the bytes of what is inside."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        assert key & 7 in (0, 2), f"wire type {key & 7}"
        value, at = varint(data, at)
        if key & 7 == 2:
            assert at + value <= len(data), "a field that is cut off"
            value, at = data[at : at + value], at + value
        yield key >> 3, value


def one(message, number, default=0):
    """The last value of a field, as proto3 has it."""
    found = [value for key, value in fields(message) if key == number]
    return found[-1] if found else default


def many(message, number):
    return [value for key, value in fields(message) if key == number]


def numbers(message, number):
    """A repeated number, packed or not."""
    found = []
    for value in many(message, number):
        at = 0 if isinstance(value, bytes) else None
        if at is None:
            found.append(value)
        while at is not None and at < len(value):
            item, at = varint(value, at)
            found.append(item)
    return found


@dataclass
class Sample:
    stack: tuple  # of names, the outermost first
    nodes: tuple  # of system names
    values: dict  # by type, nanoseconds
    labels: dict


class Profile:
    """Decoded, with all references followed; each that leads nowhere is a failure."""

    def __init__(self, path):
        self.message = gzip.decompress(path.read_bytes())
        self.strings = [text.decode() for text in many(self.message, 6)]
        assert self.strings[0] == "", "the first string is the empty one"
        assert len(set(self.strings)) == len(self.strings), "each string once"
        self.types = [
            (self.strings[one(kind, 1)], self.strings[one(kind, 2)])
            for kind in many(self.message, 1)
        ]
        self.functions = self.by_id(5)
        self.locations = self.by_id(4)
        self.mappings = self.by_id(3)
        self.samples = [self.sample(message) for message in many(self.message, 2)]
        self.time = one(self.message, 9)
        self.duration = one(self.message, 10)
        self.default_type = self.strings[one(self.message, 14)]
        self.comments = [self.strings[place] for place in numbers(self.message, 13)]

    def by_id(self, number):
        messages = many(self.message, number)
        found = {one(message, 1): message for message in messages}
        assert 0 not in found and len(found) == len(messages), "ids are unique and not 0"
        return found

    def function(self, location):
        location = self.locations[location]
        assert one(location, 2) in self.mappings
        [line] = many(location, 4)
        return self.functions[one(line, 1)]

    def sample(self, message):
        functions = [self.function(location) for location in reversed(numbers(message, 1))]
        values = numbers(message, 2)
        assert len(values) == len(self.types) and all(value < 2**63 for value in values)
        labels = [(self.strings[one(x, 1)], self.strings[one(x, 2)]) for x in many(message, 3)]
        assert len(dict(labels)) == len(labels)
        return Sample(
            tuple(self.strings[one(function, 2)] for function in functions),
            tuple(self.strings[one(function, 3)] for function in functions),
            {name: value for (name, _), value in zip(self.types, values)},
            dict(labels),
        )

    def place(self, name):
        """(file, line) of the function of that name."""
        found = {
            (self.strings[one(function, 4)], one(function, 5))
            for function in self.functions.values()
            if self.strings[one(function, 2)] == name
        }
        [place] = found
        return place

    def totals(self, kind, key):
        """Sums of a type by what `key` makes of a sample."""
        sums = Counter()
        for sample in self.samples:
            sums[key(sample)] += sample.values[kind]
        return sums
