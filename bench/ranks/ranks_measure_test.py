# SPDX-License-Identifier: Apache-2.0
"""The tables of measured collectives, from times that are known."""

import pytest
import ranks_measure
import ranks_model
from ranks_measure import parse, report

NETWORK = ranks_model.NETWORKS["tcp-1G"]
SIZE = 1 << 20


def model(collective: str, ranks: int, size: int) -> float:
    return ranks_model.simulate(collective, ranks, size, NETWORK)[0].seconds


def test_a_table_has_the_model_s_times_beside():
    def row(ranks: int, times: float) -> dict:
        least = ranks_model.least_bytes("AllReduce", ranks, SIZE)
        return {
            "AllReduce 8": (times * model("AllReduce", ranks, 8), 700.0),
            f"AllReduce {SIZE}": (4 * times * model("AllReduce", ranks, SIZE), 1.25 * least),
        }

    said = list(report({2: row(2, 1.0), 4: row(4, 0.5)}, NETWORK))
    assert said[:2] == ["| collective | bytes | 2 | 4 |", "|---|---:|---:|---:|"]
    two = ranks_model.shown(model("AllReduce", 2, 8))
    assert said[2].startswith(f"| `AllReduce` | 8 | {two} ({two}) | ")
    assert said[3].startswith("| `AllReduce` | 1 Mi | ")
    # Geometric means of 1 and 4, of a half and 2.
    assert said[5:7] == [
        "2 ranks: 2.00 times the model's (1.00 to 4.00)",
        "4 ranks: 1.00 times the model's (0.50 to 2.00)",
    ]
    assert said[7] == "2 ranks, bytes on the wire for one of the least: AllReduce 1.25"
    assert len(said) == 9


def test_one_rank_has_neither_a_model_nor_a_wire():
    said = list(report({1: {"AllReduce 8": (3e-6, 0.0)}}, NETWORK))
    assert said[2:] == ["| `AllReduce` | 8 | 3 us |", ""]


def test_a_rank_reads_its_link(monkeypatch):
    table = """Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs
    lo:     111       1    0    0    0     0          0         0      222       1    0
  eth0:    1234       5    0    0    0     0          0         0     5678       6    0
"""
    monkeypatch.setattr(ranks_measure.Path, "read_text", lambda _: table)
    assert ranks_measure.on_the_wire() == (5678, 1234)
    monkeypatch.setattr(ranks_measure.Path, "read_text", lambda _: table.replace("eth0", "eth1"))
    assert ranks_measure.on_the_wire() == (0, 0)


def test_every_network_has_a_model():
    assert set(ranks_measure.LINKS) <= set(ranks_model.NETWORKS)
    for name, link in ranks_measure.LINKS.items():
        rate = link.rate if link else None
        bandwidth = {None: float("inf"), "1gbit": 125e6, "10gbit": 1.25e9}[rate]
        assert ranks_model.NETWORKS[name].bandwidth == bandwidth
        assert (ranks_model.NETWORKS[name].latency == 1e-3) == bool(link and link.delay_ms)


def test_what_is_asked_for_by_default():
    chosen = parse([])
    assert chosen.ranks == [1, 2, 4, 8] and chosen.bytes == [8, 64 << 10, 1 << 20, 16 << 20]
    assert chosen.networks == list(ranks_measure.LINKS)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--networks", "local,modem"], "is modem, expected local, tcp"),
        (["--collectives", "Gather"], "is Gather, expected AllReduce"),
        (["--bytes", "much"], "invalid numbers value: 'much'"),
    ],
)
def test_refuses(arguments, says, capsys):
    with pytest.raises(SystemExit):
        parse(arguments)
    assert says in capsys.readouterr().err
