"""The decoder against vectors assembled by hand from the format's description."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.hdr import HistogramError, Layout, decode, merge
from tests.analysis.hdr_writer import encode, slot_of

LAYOUT = Layout.of(1, 2)


def plain(payload: bytes, digits: int = 2, cookie: int = 0x1C849313, offset: int = 0) -> bytes:
    return struct.pack(">iiiiqqd", cookie, len(payload), offset, digits, 1, 600_000_000,
                       1.0) + payload


def text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def test_two_digits_have_256_sub_buckets() -> None:
    assert LAYOUT == Layout(unit_magnitude=0, half_magnitude=7)
    assert Layout.of(1, 3).half_magnitude == 10
    assert Layout.of(1000, 2).unit_magnitude == 9


@pytest.mark.parametrize(("slot", "lower", "upper"), [
    (0, 0, 0), (1, 1, 1), (255, 255, 255),
    (256, 256, 257), (257, 258, 259), (383, 510, 511),
    (384, 512, 515), (511, 1020, 1023), (512, 1024, 1031)])
def test_edges_of_slots(slot: int, lower: int, upper: int) -> None:
    index = np.array([slot])
    assert LAYOUT.lower(index)[0] == lower
    assert LAYOUT.upper(index)[0] == upper


def test_hand_made_payload() -> None:
    # one count of 3 in slot 0, a run of 4 empty slots, a count of 200 in slot 5.
    # zigzag(3) = 6; zigzag(-4) = 7; zigzag(200) = 400 = 0b11_0010000 -> 0x90 0x03
    histogram = decode(text(plain(b"\x06\x07\x90\x03")))
    assert histogram.slots.tolist() == [0, 5]
    assert histogram.counts.tolist() == [3, 200]
    assert histogram.total == 203


def test_single_zero_word_is_one_empty_slot() -> None:
    assert decode(text(plain(b"\x00\x02"))).slots.tolist() == [1]


def test_nine_byte_word_keeps_its_last_eight_bits() -> None:
    # 2^62 - 1 needs 63 zigzag bits: eight bytes of 7 bits and a ninth with the upper 8 bits.
    value = 2**62 - 1
    word = value << 1
    data = bytes([word >> 7 * i & 0x7F | 0x80 for i in range(8)] + [word >> 56])
    assert len(data) == 9
    assert decode(text(plain(data))).counts.tolist() == [value]


def test_compressed_form_is_the_plain_one_in_zlib() -> None:
    packed = zlib.compress(plain(b"\x06\x07\x90\x03"))
    data = struct.pack(">ii", 0x1C849314, len(packed)) + packed
    assert decode(text(data)).counts.tolist() == [3, 200]


@pytest.mark.parametrize("bad", [
    "not base64!", "", text(b"\x1c"), text(plain(b"\x06", cookie=0x1C849303)),
    text(plain(b"\x06")[:-1]), text(plain(b"\x86")), text(plain(b"\x06", digits=9)),
    text(plain(b"\x06", offset=5)),
    text(struct.pack(">ii", 0x1C849314, 5) + b"wrong"),
    text(struct.pack(">ii", 0x1C849314, 9) + zlib.compress(plain(b"\x06"))[:9])])
def test_damaged_text_is_refused(bad: str) -> None:
    with pytest.raises(HistogramError):
        decode(bad)


def test_run_of_empty_slots_is_bounded() -> None:
    with pytest.raises(HistogramError, match="more slots"):
        decode(text(plain(b"\xff\xff\xff\xff\x7f\x02")))


def test_percentiles_of_a_known_distribution() -> None:
    # 1..1000 us once each: the p-th percentile is 1000 p, reported as its slot's upper edge.
    histogram = decode(encode({value: 1 for value in range(1, 1001)}))
    assert histogram.quantile(0.5) == 501      # 500 lies in the slot 500..501
    assert histogram.quantile(0.9) == 903      # 900 lies in 900..903
    assert histogram.quantile(0.99) == 991     # 990 lies in 988..991
    assert histogram.quantile(1.0) == 1003     # 1000 lies in 1000..1003
    assert histogram.quantile(0.99, above=10) == 991
    assert histogram.quantile(0.99, above=11) is None


def test_quantile_of_nothing() -> None:
    assert decode(encode({})).quantile(0.5) is None


def test_merge_adds_counts() -> None:
    merged = merge([decode(encode({5: 2, 9: 1})), decode(encode({9: 4}))])
    assert merged is not None
    assert merged.slots.tolist() == [5, 9] and merged.counts.tolist() == [2, 5]
    assert merge([]) is None
    with pytest.raises(HistogramError):
        merge([decode(encode({5: 2})), decode(text(plain(b"\x06", digits=3)))])


values = st.dictionaries(st.integers(0, 600_000_000), st.integers(1, 2**40), max_size=60)


@given(values, st.booleans())
def test_every_count_comes_back_in_the_slot_of_its_value(counts: dict[int, int],
                                                         compressed: bool) -> None:
    histogram = decode(encode(counts, compressed))
    assert histogram.total == sum(counts.values())
    assert set(histogram.slots.tolist()) == {slot_of(value) for value in counts}


@given(st.integers(0, 600_000_000))
def test_a_slot_holds_its_value_within_one_percent(value: int) -> None:
    slot = np.array([slot_of(value)])
    lower, upper = int(LAYOUT.lower(slot)[0]), int(LAYOUT.upper(slot)[0])
    assert lower <= value <= upper
    assert upper - lower <= 0.01 * max(value, 1)
