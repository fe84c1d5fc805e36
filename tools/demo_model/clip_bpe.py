"""CLIP's tokenizer (no weights, one chunk) and the shortened token table of the checkpoint."""

import functools
import gzip
import pathlib
import re

import numpy as np

import captions

VOCABULARY = (
    pathlib.Path(__file__).resolve().parents[2] / "data" / "clip" / "bpe_simple_vocab_16e6.txt.gz"
)
START, END, LENGTH = 49406, 49407, 77
# Letters run together, digits stand alone, other signs run together.
PIECES = re.compile(r"'s|'t|'re|'ve|'m|'ll|'d|[^\W\d_]+|\d|(?:[^\s\w]|_)+")


def byte_characters():
    """A character for every byte, in CLIP's order.

    Printable bytes stand for themselves, the others follow from U+0100 on.
    """
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in printable]
    return {**{b: chr(b) for b in printable}, **{b: chr(256 + i) for i, b in enumerate(others)}}


@functools.cache
def tables():
    with gzip.open(VOCABULARY, "rt", encoding="utf-8") as file:
        merges = [tuple(line.split()) for line in file.read().split("\n")[1:48895]]
    characters = list(byte_characters().values())
    words = characters + [c + "</w>" for c in characters] + [a + b for a, b in merges]
    assert len(words) == START
    return {w: i for i, w in enumerate(words)}, {pair: i for i, pair in enumerate(merges)}


@functools.cache
def word_ids(word):
    """CLIP ids of one piece of text without blanks."""
    ids, ranks = tables()
    letters = byte_characters()
    parts = [letters[b] for b in word.encode()]
    parts[-1] += "</w>"
    while len(parts) > 1:
        rank, i = min(
            (ranks.get((parts[i], parts[i + 1]), len(ranks)), i) for i in range(len(parts) - 1)
        )
        if rank == len(ranks):
            break
        parts[i : i + 2] = [parts[i] + parts[i + 1]]
    return tuple(ids[p] for p in parts)


def text_ids(text):
    return [i for piece in PIECES.findall(text.lower()) for i in word_ids(piece)]


class TokenTable:
    """The rows that training meets, the only ones stored.

    Row i belongs to CLIP id ids[i]; the row marked -1 stands for every other id (it is the first:
    ids are sorted).
    """

    def __init__(self, ids=None):
        if ids is None:
            known = {i for word in captions.all_words() for i in text_ids(word)}
            ids = [-1, *sorted(known), START, END]
        self.ids = np.array(ids, np.int32)
        self.row_of = {int(i): row for row, i in enumerate(self.ids)}

    def rows(self, text, rng=None, unknown=0.0):
        """77 table rows for the text.

        With a generator, the share `unknown` of the texts gets a few unknown words put in.
        """
        rows = [self.row_of.get(i, 0) for i in text_ids(text)]
        if rng is not None and rng.random() < unknown:
            count = int(rng.integers(1, 7))
            # Mostly before or behind ("masterpiece, 8k"), sometimes between.
            where = rng.random()
            at = (
                0 if where < 0.4 else len(rows) if where < 0.8 else int(rng.integers(len(rows) + 1))
            )
            words = [0] * count
            if rng.random() < 0.5:
                words.insert(count if at == 0 else 0, self.row_of[text_ids(",")[0]])
            rows[at:at] = words
        rows = [self.row_of[START], *rows[: LENGTH - 2]]
        return rows + [self.row_of[END]] * (LENGTH - len(rows))


if __name__ == "__main__":
    for w in captions.all_words():
        if len(word_ids(w)) > 1 and w.isalpha():
            print(w, word_ids(w))
    print(len(TokenTable().ids), "rows", text_ids("a photo of a cat"))
