"""Load and service profiles: shipped ones, and one clear line for each fault."""

from pathlib import Path

import pytest
from harness.errors import UsageError
from harness.load_profile import Stage, Think, read_load_profile
from harness.places import Places, known_names
from harness.service_profile import combine_service_profiles

SHIPPED = Places()


def write(folder: Path, text: str, name: str = "p") -> Path:
    profiles = folder / "profiles" / "load"
    profiles.mkdir(parents=True, exist_ok=True)
    (profiles / f"{name}.toml").write_text(text, encoding="utf-8")
    return profiles


STAGE = "[[stages]]\nshare = 1.0\nrate = [1.0, 1.0]\n"
REQUEST = '[[requests]]\nname = "r"\npath = "/x"\n'


def test_defaults_of_a_short_profile(tmp_path: Path) -> None:
    profile = read_load_profile("p", write(tmp_path, STAGE + REQUEST))
    assert (profile.shape, profile.mix, profile.think) == ("rate", "per-request", Think("none", ()))
    assert profile.stages == (Stage(1.0, 1.0, 1.0),)
    request = profile.requests[0]
    assert (request.method, request.weight, request.status, request.body) == ("GET", 1, 200, None)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("x = ", "not a TOML file"),
        (REQUEST, "key stages: found nothing"),
        (STAGE, "key requests: found nothing"),
        ("mixed = 1\n" + STAGE + REQUEST, "unknown key mixed, accepted: mix, think"),
        ('mix = "both"\n' + STAGE + REQUEST, "key mix: found 'both', accepted: per-user"),
        (STAGE.replace("1.0\nrate", "0.9\nrate") + REQUEST, "add up to 0.9, accepted: 1"),
        ("[[stages]]\nshare = 1.0\n" + REQUEST, "either rate or users"),
        (STAGE + "users = [1, 1]\n" + REQUEST, "either rate or users"),
        (STAGE.replace("1.0\nr", "0.5\nr") + "[[stages]]\nshare=0.5\nusers=[1,1]\n" + REQUEST,
         "all stages must have rate, or all users"),
        ("[[stages]]\nshare = 1.0\nrate = [0, 0]\n" + REQUEST, "no stage has any load"),
        ("[[stages]]\nshare = 1.0\nrate = [1.0]\n" + REQUEST, "two numbers from 0 to 2"),
        ("[[stages]]\nshare = 1.0\nusers = [0, 1.5]\n" + REQUEST, "two numbers from 0 to 1"),
        ("[[stages]]\nshare = 1.0\nrate = [1, true]\n" + REQUEST, "two numbers"),
        ('think = {kind = "constant", seconds = 1}\n' + STAGE + REQUEST, "no think time"),
        ('think = {kind = "uniform", seconds = [3, 1]}\n' + STAGE + REQUEST, "lower bound first"),
        ('think = {kind = "none", seconds = 1}\n' + STAGE + REQUEST, "unknown key seconds"),
        (STAGE + REQUEST + REQUEST, "two requests are named r"),
        (STAGE + REQUEST.replace("/x", "x"), "key path: found 'x', accepted: a path"),
        (STAGE + REQUEST + "weight = 0\n", "key weight: found 0"),
        (STAGE + REQUEST + 'method = "YELL"\n', "key method: found 'YELL'"),
        (STAGE + REQUEST + 'body = "none.json"\n', "key body: found 'none.json', accepted: a file"),
        (STAGE + REQUEST + "expect = {status = 99}\n", "key status: found 99"),
    ],
)
def test_a_broken_load_profile_gives_one_line(tmp_path: Path, text: str, part: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_load_profile("p", write(tmp_path, text))
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_load_profile_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unknown load profile q, known: p"):
        read_load_profile("q", write(tmp_path, STAGE + REQUEST))


def test_the_shipped_shapes_are_the_ancestors(tmp_path: Path) -> None:
    spikes = [name for name in known_names(SHIPPED.load_profiles) if name.endswith("spike")]
    assert len(spikes) == 3
    for name in spikes:
        text = (SHIPPED.load_profiles / f"{name}.toml").read_text(encoding="utf-8")
        folder = write(tmp_path, text, name)
        (tmp_path / "movies.json").write_text("[]")
        profile = read_load_profile(name, folder)
        assert (profile.shape, profile.mix) == ("users", "per-user")
        assert profile.think == Think("uniform", (1.0, 3.0))
        if "stepped" in name:
            rises = [(s.share, s.start, s.end) for s in profile.stages[:-1]]
            assert rises == [
                step
                for i in range(4)
                for step in ((0.06, i / 4, (i + 1) / 4), (0.14, (i + 1) / 4, (i + 1) / 4))
            ]
            assert profile.stages[-1] == Stage(0.2, 1.0, 0.0)
        else:
            assert profile.stages == (Stage(0.8, 0.0, 1.0), Stage(0.2, 1.0, 0.0))
        methods = [request.method for request in profile.requests]
        assert methods == (["GET"] * 3 + ["POST"] if "post" in name else ["GET"])


def test_service_profiles_combine_and_the_later_wins(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('[service]\ncache = true\npool-threads = 7\n'
                                     '[environment]\nX = "1"\n')
    (tmp_path / "b.toml").write_text('[service]\ncache = "off"\n')
    both = combine_service_profiles(("a", "b"), tmp_path)
    assert both.options == {"cache": "off", "pool-threads": "7"}
    assert both.environment == {"X": "1"}
    assert combine_service_profiles(("b", "a"), tmp_path).options["cache"] == "on"


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ('[helper]\ncommand = "x"\n', r"\[helper\] is not supported"),
        ("[service]\nport = 1\n", "key port is set by the harness itself"),
        ("[service]\ncache = 1.5\n", "key cache: found 1.5"),
        ("[environment]\nX = 1\n", "key X: found 1, accepted: a text"),
        ("[more]\n", "unknown key more"),
    ],
)
def test_a_broken_service_profile_gives_one_line(tmp_path: Path, text: str, part: str) -> None:
    (tmp_path / "a.toml").write_text(text)
    with pytest.raises(UsageError, match=part):
        combine_service_profiles(("a",), tmp_path)


def test_an_unknown_service_profile_lists_the_known_ones(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("")
    with pytest.raises(UsageError, match="unknown service profile z, known: a"):
        combine_service_profiles(("z",), tmp_path)
