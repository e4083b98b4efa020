"""HdrHistogram's layout and its V2 encoding, written from the format's description.

Layout: counts sit in an array; the first half-bucket has unit width, each further half-bucket
doubles the width. With 2 significant digits 256 sub-buckets resolve any value to better than 1 %.
Encoding V2: a 40-byte big-endian header, then counts as zigzag LEB128 words of at most 9 bytes,
where a negative word -n stands for n empty slots. The compressed form wraps it in zlib.
Source: the HdrHistogram project's V2 encoding (cookies 0x1c849303/4 with 0x10 for word size 1).
"""

from __future__ import annotations

import base64
import binascii
import math
import struct
import zlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]

V2_COOKIE = 0x1C849303 | 0x10
V2_COMPRESSED_COOKIE = 0x1C849304 | 0x10
HEADER = struct.Struct(">iiiiqqd")
MAX_SLOTS = 1 << 20  # far above any real layout; keeps a broken file from eating the memory
MAX_INFLATED_BYTES = 64 << 20


class HistogramError(ValueError):
    """The text is not a histogram of the V2 encoding."""


@dataclass(frozen=True)
class Layout:
    """Which values a slot of the counts array stands for."""

    unit_magnitude: int
    half_magnitude: int  # log2 of half the sub-bucket count

    @staticmethod
    def of(lowest: int, digits: int) -> "Layout":
        if not 0 <= digits <= 5 or lowest < 1:
            raise HistogramError(f"layout with lowest {lowest} and {digits} digits")
        single_unit = 2 * 10**digits
        magnitude = max(1, (single_unit - 1).bit_length())
        return Layout(unit_magnitude=lowest.bit_length() - 1, half_magnitude=magnitude - 1)

    def lower(self, slots: Counts) -> Counts:
        """Smallest value of each slot."""
        half = 1 << self.half_magnitude
        bucket = (slots >> self.half_magnitude) - 1
        sub = (slots & (half - 1)) + half
        first = bucket < 0
        sub = np.where(first, sub - half, sub)
        bucket = np.where(first, 0, bucket)
        result: Counts = np.left_shift(sub, bucket + self.unit_magnitude)
        return result

    def upper(self, slots: Counts) -> Counts:
        """Largest value that falls into each slot, inclusive."""
        result: Counts = self.lower(slots + 1) - 1
        return result


@dataclass(frozen=True)
class Histogram:
    """Sparse counts: `slots` ascending and distinct, `counts` positive, same length."""

    layout: Layout
    slots: Counts
    counts: Counts

    @property
    def total(self) -> int:
        return int(self.counts.sum())

    def quantile(self, fraction: float, above: int = 0) -> int | None:
        """Upper edge of the slot that holds the quantile, as HdrHistogram reports it.

        None when the histogram is empty or fewer than `above` values lie above the quantile.
        """
        total = self.total
        if total == 0:
            return None
        rank = max(1, math.ceil(fraction * total - 1e-9))
        if total - rank < above:
            return None
        position = int(np.searchsorted(np.cumsum(self.counts), rank))
        return int(self.layout.upper(self.slots[position : position + 1])[0])


def merge(histograms: list[Histogram]) -> Histogram | None:
    """Counts added up slot by slot; None for an empty list. Layouts must agree."""
    if not histograms:
        return None
    layout = histograms[0].layout
    if any(item.layout != layout for item in histograms):
        raise HistogramError("histograms of different layouts cannot be merged")
    slots = np.concatenate([item.slots for item in histograms])
    counts = np.concatenate([item.counts for item in histograms])
    distinct, inverse = np.unique(slots, return_inverse=True)
    summed = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(summed, inverse, counts)
    return Histogram(layout, distinct, summed)


def _words(payload: bytes) -> list[int]:
    """Zigzag LEB128 with 64-bit words in at most 9 bytes: the ninth byte carries 8 bits."""
    words: list[int] = []
    value = shift = 0
    for byte in payload:
        if shift == 56:
            value |= byte << shift
        else:
            value |= (byte & 0x7F) << shift
            if byte & 0x80:
                shift += 7
                continue
        words.append((value >> 1) ^ -(value & 1))
        value = shift = 0
    if shift:
        raise HistogramError("the last count is cut off")
    return words


def _decode_plain(data: bytes) -> Histogram:
    if len(data) < HEADER.size:
        raise HistogramError("shorter than its header")
    cookie, length, offset, digits, lowest, _highest, _ratio = HEADER.unpack_from(data)
    if cookie != V2_COOKIE:
        raise HistogramError(f"cookie {cookie:#x} is not V2")
    payload = data[HEADER.size : HEADER.size + length]
    if length < 0 or len(payload) != length:
        raise HistogramError("shorter than its payload length")
    slots: list[int] = []
    counts: list[int] = []
    position = 0
    for word in _words(payload):
        if word < 0:
            position -= word
        else:
            if word:
                slots.append(position - offset)
                counts.append(word)
            position += 1
        if position > MAX_SLOTS:
            raise HistogramError("more slots than any layout has")
    if slots and slots[0] < 0:
        raise HistogramError("a count before the first slot")
    layout = Layout.of(lowest, digits)
    return Histogram(layout, np.array(slots, dtype=np.int64), np.array(counts, dtype=np.int64))


def decode(text: str) -> Histogram:
    """A histogram from its base64 form, compressed or plain. Raises HistogramError."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise HistogramError(f"not base64: {error}") from error
    if len(data) >= 8 and int.from_bytes(data[:4], "big") == V2_COMPRESSED_COOKIE:
        length = int.from_bytes(data[4:8], "big")
        inflater = zlib.decompressobj()
        try:
            plain = inflater.decompress(data[8 : 8 + length], MAX_INFLATED_BYTES)
        except zlib.error as error:
            raise HistogramError(f"not zlib: {error}") from error
        if not inflater.eof:
            raise HistogramError("the compressed part is cut off or too large")
        return _decode_plain(plain)
    return _decode_plain(data)
