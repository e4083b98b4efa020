"""The checks find what they are for, and nothing in a clean tree."""

import pytest

CLEAN = {
    "services/api/call.hpp": '#include <string>\n\n#include "services/api/message.hpp"\n',
    "services/models/blocking.hpp": '#include "services/waiting/fiber_waiting.hpp"\n',
    "services/servers/server.cpp": '#include <restinio/core.hpp>\n',
    "loadgen/main.cpp": '#include "loadgen/engine/worker.hpp"\n',
    "harness/run.py": "from analysis.registry import METRICS\n",
    "tests/services/api/call_test.cpp": '#include "services/models/blocking.hpp"\n',
}


@pytest.mark.parametrize("script", ["check_layers.py", "check_words.py"])
def test_clean_tree_passes(tree, check, script):
    result = check(script, tree(CLEAN))
    assert (result.returncode, result.stdout) == (0, "")


@pytest.mark.parametrize(
    ("path", "line", "said"),
    [
        ("services/movies/a.cpp", '#include "services/models/m.hpp"', "services/movies must not"),
        ("services/api/a.hpp", '#include "services/waiting/w.hpp"', "services/api must not use"),
        ("services/waiting/a.hpp", '#include "services/api/call.hpp"', "services/waiting must not"),
        ("services/upstream/a.hpp", '#include "services/movies/m.hpp"', "upstream must not"),
        ("services/api/a.cpp", "#include <boost/asio/ip/tcp.hpp>", "must not include <boost/asio"),
        ("services/models/a.cpp", "#include <restinio/core.hpp>", "must not include <restinio"),
        ("services/models/a.cpp", '#include "callbacks.hpp"', "not written from the top folder"),
        ("loadgen/plan/a.cpp", '#include "loadgen/engine/e.hpp"', "loadgen/plan must not use"),
        ("loadgen/engine/a.cpp", '#include "services/api/call.hpp"', "must not use services/api"),
        ("host-tuning/a.hpp", '#  include "loadgen/plan/p.hpp"', "host-tuning must not use"),
        ("analysis/a.py", "import harness.run", "analysis must not import harness"),
        ("analysis/a.py", "def f():\n    from harness import run", "must not import harness"),
        ("harness/a.py", "from tests.helpers import x", "harness must not import tests"),
    ],
)
def test_arrow_that_points_up_is_found(tree, check, path, line, said):
    result = check("check_layers.py", tree({**CLEAN, path: f"\n{line}\n"}))
    assert result.returncode == 1
    assert result.stdout.startswith(f"{path}:")
    assert said in result.stdout


@pytest.mark.parametrize(("lines", "code"), [(600, 0), (601, 1)])
def test_long_file_is_found(tree, check, lines, code):
    result = check("check_layers.py", tree({"services/api/long.cpp": "\n" * lines}))
    assert result.returncode == code


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("see /" + "home/somebody/heddle", "a path of one machine"),
        ('path = "/' + 'work/heddle/build"', "a path of one machine"),
        ("deb http://deb." + "example.org/debian", "the host of a package archive"),
        ("<<<<<<" + "< HEAD", "a merge marker"),
        ("======" + "=", "a merge marker"),
        (">>>>>>" + "> topic", "a merge marker"),
        ("# TO" + "DO: later", "something left open"),
        ("  GTEST" + "_SKIP();", "a test that is switched off"),
        ("@pytest.mark." + "skipif(True)", "a test that is switched off"),
    ],
)
def test_forbidden_words_are_found(tree, check, text, said):
    result = check("check_words.py", tree({**CLEAN, "ci/tool.py": f"first\n{text}\n"}))
    assert result.returncode == 1
    assert result.stdout.startswith(f"ci/tool.py:2: {said}")


@pytest.mark.parametrize(
    "text",
    ["build/" + "work/x", "https://example.org/" + "home/page", "~/" + "work/x", "../work/y"],
)
def test_relative_paths_and_addresses_pass(tree, check, text):
    assert check("check_words.py", tree({"README.md": text + "\n"})).returncode == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1\n", ""),
        ("x = '" + "a" * 94 + "'\n", ""),
        ("x = '" + "a" * 95 + "'\n", ":1: 101 columns"),
        ("def f(:\n", ":1: does not compile"),
        ("x = 1 \n", ":1: blanks at the end"),
        ("if x:\n\ty()\n", ":2: a tab"),
        ("x = 1", "not exactly one newline"),
        ("x = 1\n\n", "not exactly one newline"),
    ],
)
def test_python_format(tree, check, text, said):
    result = check("check_python_format.py", tree({"a.py": text}) / "a.py")
    assert result.returncode == (1 if said else 0)
    assert said in result.stdout


def test_counting(tree, check):
    folder = tree(
        {
            "a.xml": '<testsuites><testsuite><testcase name="a"/><testcase name="b"><failure/>'
            '</testcase><testcase name="c" status="notrun"/></testsuite></testsuites>',
            "b.xml": '<testsuite><testcase><error/></testcase><testcase><skipped/></testcase>'
            "<testcase/></testsuite>",
            "cut.xml": "<testsuites><testsuite>",
        }
    )
    names = [folder / name for name in ("a.xml", "b.xml", "cut.xml", "absent.xml")]
    assert check("count_tests.py", *names).stdout.split() == ["2", "4", "2"]
