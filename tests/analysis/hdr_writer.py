"""Writes HdrHistogram V2 text, independently of analysis.hdr, for tests and simulated runs."""

from __future__ import annotations

import base64
import struct
import zlib


def slot_of(value: int, half_magnitude: int = 7) -> int:
    """The counts-array index of a value for 2 digits and unit 1, from the format's formula."""
    sub_bucket_count = 2 << half_magnitude
    bucket = max(0, value.bit_length() - (half_magnitude + 1))
    sub = value >> bucket
    assert sub < sub_bucket_count
    return (bucket << half_magnitude) + sub


def zigzag(value: int) -> bytes:
    """LEB128 of the zigzag form; nine bytes at most, the ninth holding eight bits."""
    word = ((value << 1) ^ (value >> 63)) & ((1 << 64) - 1)
    out = bytearray()
    while len(out) < 8 and word >= 0x80:
        out.append(word & 0x7F | 0x80)
        word >>= 7
    out.append(word)
    return bytes(out)


def encode_counts(counts: dict[int, int]) -> bytes:
    """Slot -> count as a payload with runs of empty slots."""
    payload, position = b"", 0
    for slot, count in sorted(counts.items()):
        if slot > position:
            payload += zigzag(-(slot - position)) if slot - position > 1 else zigzag(0)
        payload += zigzag(count)
        position = slot + 1
    return payload


def encode(values: dict[int, int], compressed: bool = True) -> str:
    """Value in us -> count, as the base64 text of a histogram with 2 digits, up to 10 minutes."""
    slots: dict[int, int] = {}
    for value, count in values.items():
        slots[slot_of(value)] = slots.get(slot_of(value), 0) + count
    payload = encode_counts(slots)
    plain = struct.pack(">iiiiqqd", 0x1C849313, len(payload), 0, 2, 1, 600_000_000, 1.0) + payload
    if not compressed:
        return base64.b64encode(plain).decode()
    packed = zlib.compress(plain)
    return base64.b64encode(struct.pack(">ii", 0x1C849314, len(packed)) + packed).decode()
