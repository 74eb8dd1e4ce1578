"""Text to tokens, as Retort's engine makes them of the same GGUF file.

A prompt is a sequence of pieces. Each is tokenized on its own: `t` is text of ours, in which spellings of special tokens
are those tokens, `u` is text of people, in which nothing is special.
"""

from __future__ import annotations

import re

from tokenizers import Tokenizer as Library
from tokenizers import models, pre_tokenizers

from . import TrainingError
from .base import File

# GGUF's types of tokens.
UNKNOWN, CONTROL, USER_DEFINED, UNUSED = 2, 3, 4, 5


class Tokenizer:
    """Byte-level BPE with the rules of GPT-2 or SmolLM."""

    def __init__(self, file: File):
        kind, rule = file.need("tokenizer.ggml.model"), file.get("tokenizer.ggml.pre", "default")
        if kind != "gpt2" or rule not in ("smollm", "gpt-2", "default", ""):
            raise TrainingError(
                f"{file.path.name} has the tokenizer \"{kind}\" with the rule \"{rule}\"; byte-level BPE with the rule "
                "\"smollm\" or \"gpt-2\" is known here"
            )
        tokens = file.need("tokenizer.ggml.tokens")
        types = [int(kind) for kind in file.need("tokenizer.ggml.token_type")]
        merges = [tuple(merge.split(" ", 1)) for merge in file.need("tokenizer.ggml.merges")]
        specials = {
            token: id
            for id, (token, kind) in enumerate(zip(tokens, types))
            if kind in (UNKNOWN, CONTROL, USER_DEFINED) and token
        }
        # Of special tokens the encoder knows nothing.
        vocabulary = {
            token: id
            for id, (token, kind) in enumerate(zip(tokens, types))
            if kind not in (UNKNOWN, CONTROL, USER_DEFINED, UNUSED)
        }
        self.encoder = Library(models.BPE(vocab=vocabulary, merges=merges))
        byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
        self.encoder.pre_tokenizer = (
            pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), byte_level])
            if rule == "smollm"
            else byte_level
        )
        self.specials = specials
        # The earliest spelling, and of those that begin at one place the longest.
        longest_first = sorted(specials, key=len, reverse=True)
        self.special = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")
        add_begin = file.get("tokenizer.ggml.add_bos_token", False)
        self.begin = file.get("tokenizer.ggml.bos_token_id") if add_begin else None

    def user(self, text: str) -> list[int]:
        """Tokens of text in which nothing is special."""
        return self.encoder.encode(text, add_special_tokens=False).ids if text else []

    def template(self, text: str) -> list[int]:
        """Tokens of text in which special tokens are special."""
        ids, at = [], 0
        for found in self.special.finditer(text):
            ids += self.user(text[at : found.start()])
            ids.append(self.specials[found.group()])
            at = found.end()
        return ids + self.user(text[at:])

    def pieces(self, pieces: list) -> list[int]:
        """Tokens of pieces that go on from other text."""
        ids = []
        for kind, text in pieces:
            if kind not in ("t", "u"):
                raise TrainingError(f"a piece of text is of kind \"{kind}\"; \"t\" and \"u\" are known")
            ids += self.template(text) if kind == "t" else self.user(text)
        return ids

    def prompt(self, pieces: list) -> list[int]:
        """Tokens of a whole prompt, with the begin token where the model was trained with one."""
        ids = self.pieces(pieces)
        if self.begin is not None and ids[:1] != [self.begin]:
            ids.insert(0, self.begin)
        return ids
