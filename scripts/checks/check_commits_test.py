# SPDX-License-Identifier: Apache-2.0
"""Makes commits of good and bad shape, and watches the check of commits tell them apart."""

import check_commits
import pytest

LINES = "".join(f"line {i}\n" for i in range(501))


@pytest.fixture
def tree(tmp_path):
    """A repository with one commit, and a function that adds another to it."""

    def git(*arguments):
        return check_commits.git(tmp_path, "-c", "user.name=a", "-c", "user.email=a@b", *arguments)

    def commit(message, files):
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text) if text else (tmp_path / path).unlink()
        git("add", "-A")
        git("commit", "-q", "--allow-empty", "-m", message)

    git("init", "-q")
    commit("first", {"src/long.cc": LINES + "int x;\n"})
    commit.root, commit.base = tmp_path, git("rev-parse", "HEAD").strip()
    return commit


def check(tree, capsys):
    code = check_commits.main([tree.base], tree.root)
    *faults, last = capsys.readouterr().out.splitlines()
    assert (code, bool(faults)) in ((0, False), (1, True)), last
    return faults


@pytest.mark.parametrize(
    "files",
    [
        {"a.cc": LINES.removesuffix("line 500\n")},
        {"a.cc": LINES.replace("line 500", "\n\n")},
        {"data/text.txt": LINES},
        {"src/ascendcl/report/error_table.inc": LINES},
        {"docs/site/locale/zh_CN/LC_MESSAGES/docs/errors.po": LINES},
        {"docs/site/locale/zh_CN/LC_MESSAGES/build/docs/pages/runtime_acl_rt.po": LINES},
        {"src/opapi/supporting/order/operators.toml": LINES},
        {"src/long.cc": "", "src/moved.cc": LINES + "int y;\n"},  # a move, and a line
        {"src/long.cc": "int x;\n", "src/one.cc": LINES[:3000], "src/two.cc": LINES[3000:]},
    ],
)
def test_good_commits(tree, capsys, files):
    tree("embedding: cut hot rows in fixed chunks\n\nOne row held most.", files)
    tree("tests, scripts: say more\n\nWhy.", {"b.cc": "int x;\n"})
    assert check(tree, capsys) == []


@pytest.mark.parametrize(
    ("message", "files", "says"),
    [
        ("embedding: " + "x" * 50 + "\n\nWhy.", {}, "the subject has 61 characters"),
        ("cut hot rows\n\nWhy.", {}, "the subject is not `scope: what it does`"),
        ("embedding: cut hot rows.\n\nWhy.", {}, "the subject is not `scope: what it does`"),
        ("embedding: cut hot rows", {}, "no body says why"),
        ("embedding: cut\n\nWhy.", {"a.cc": LINES}, "501 new lines are more than one idea"),
        ("embedding: cut\n\nWhy.", {"data.cc": LINES}, "501 new lines"),
    ],
)
def test_each_fault_is_named(tree, capsys, message, files, says):
    tree("embedding: good\n\nWhy.", {"b.cc": "int x;\n"})
    tree(message, files)
    (fault,) = check(tree, capsys)
    assert says in fault and message.partition("\n")[0] in fault


def without_argument(tree, root, capsys, base=None):
    code = check_commits.main([], root, base or tree.base)
    return code, capsys.readouterr().out


def test_commits_before_the_rules_are_left_alone(tree, capsys):
    tree("embedding: good\n\nWhy.", {"b.cc": "int x;\n"})
    assert without_argument(tree, tree.root, capsys) == (0, "commits: 1 ok\n")
    tree("no form at all", {"c.cc": "int x;\n"})
    code, said = without_argument(tree, tree.root, capsys)
    assert code == 1 and said.endswith("commits: 2 faults\n")


def test_without_history_it_is_left_out(tree, capsys, tmp_path_factory):
    tree("no form at all", {"c.cc": "int x;\n"})
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    check_commits.git(
        tree.root, "clone", "-q", "--depth=1", f"file://{tree.root}", elsewhere / "clone"
    )
    (tree.root / "tarball").mkdir()  # in a repository of somebody else's
    for root in (elsewhere / "clone", elsewhere, tree.root / "tarball"):
        code, said = without_argument(tree, root, capsys)
        expected = f"commits: LEFT OUT, there is no history since {tree.base[:12]} here\n"
        assert (code, said) == (0, expected)
    assert without_argument(tree, tree.root, capsys, "1" * 40)[0] == 0
