import metricdp as mdp
from metricdp.design import trade_off
from metricdp.plots import data_of, draw, trade_off_figure


def test_losses_and_bounds_over_the_multiples():
    table = trade_off(mdp.Space.line(3, mdp.ln(2) * mdp.metrics.absolute()), multiples=[1, 2])
    figure = trade_off_figure(table, "m", title="A town")
    best, below = data_of(figure)[0]["lines"]
    assert best["x"] == [1.0, 2.0]
    assert tuple(best["y"]) == table.losses
    assert tuple(below["y"]) == table.bounds
    assert figure.axes[0].get_ylabel() == "expected loss, m"
    assert draw("trade_off", table).axes[0].get_xlabel() == "multiple of ln 2·|x − y|"
