"""A cross-encoder small enough to be written by hand: ONNX is protobuf, of which this writes the few fields needed.

Its logit for a pair is the sum of the weights of the words; the pair counts, so a word of the query counts too.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path

INT64, FLOAT = 7, 1
WEIGHTS = {"[UNK]": 0.0, "[CLS]": 0.0, "[SEP]": 0.0, "Ann": 0.5, "peanuts": 0.5, "stock": -2.0, "market": -2.0}


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def field(number: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def node(kind: str, inputs: list[str], output: str, **attributes: int) -> bytes:
    given = b"".join(field(1, name) for name in inputs) + field(2, output) + field(4, kind)
    return given + b"".join(
        field(5, field(1, name) + field(3, value) + field(20, 2)) for name, value in attributes.items()
    )


def tensor(name: str, kind: int, dims: list[int], raw: bytes) -> bytes:
    return b"".join(field(1, size) for size in dims) + field(2, kind) + field(8, name) + field(9, raw)


def value(name: str, kind: int, dims: list[str]) -> bytes:
    shape = b"".join(field(1, field(2, size)) for size in dims)
    return field(1, name) + field(2, field(1, field(1, kind) + field(2, shape)))


def model(outputs: int = 1, weights: Mapping[str, float] = WEIGHTS) -> bytes:
    """Logits `(pairs, outputs)`: the first output is minus what the last one is."""
    table = [weight * (1 if column == outputs - 1 else -1) for weight in weights.values() for column in range(outputs)]
    nodes = [
        node("Gather", ["table", "input_ids"], "each"),
        node("Cast", ["attention_mask"], "mask", to=FLOAT),
        node("Unsqueeze", ["mask", "last"], "column"),
        node("Mul", ["each", "column"], "counted"),
        node("ReduceSum", ["counted", "words"], "logits", keepdims=0),
    ]
    initializers = [
        tensor("table", FLOAT, [len(weights), outputs], struct.pack(f"<{len(table)}f", *table)),
        tensor("last", INT64, [1], struct.pack("<q", 2)),
        tensor("words", INT64, [1], struct.pack("<q", 1)),
    ]
    graph = b"".join(field(1, one) for one in nodes) + field(2, "tiny")
    graph += b"".join(field(5, one) for one in initializers)
    graph += b"".join(field(11, value(name, INT64, ["b", "l"])) for name in ("input_ids", "attention_mask"))
    graph += field(12, value("logits", FLOAT, ["b", "o"]))
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 13))


def write_folder(folder: Path, *, outputs: int = 1, weights: Mapping[str, float] = WEIGHTS) -> Path:
    """`tokenizer.json` and `model.onnx`."""
    from tokenizers import Tokenizer  # noqa: PLC0415 - an extra that not every environment has
    from tokenizers.models import WordLevel  # noqa: PLC0415 - as above
    from tokenizers.pre_tokenizers import Whitespace  # noqa: PLC0415 - as above
    from tokenizers.processors import TemplateProcessing  # noqa: PLC0415 - as above

    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer(WordLevel({word: place for place, word in enumerate(weights)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "model.onnx").write_bytes(model(outputs, weights))
    return folder
