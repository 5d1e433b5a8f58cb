"""Names that are imported when they are first used."""

import importlib
import sys
import types

import pytest

from metricdp.lazy import lazily, listing


@pytest.fixture
def package(monkeypatch, tmp_path):
    """A package on disk whose names are lazy."""
    home = tmp_path / "lazy_house"
    home.mkdir()
    (home / "__init__.py").write_text(
        "from metricdp.lazy import lazily\n"
        "__version__ = '1'\n"
        "__getattr__, __dir__ = lazily(__name__, {'kettle': 'kitchen', 'cellar': ''}, also=['__version__'])\n"
    )
    (home / "kitchen.py").write_text("kettle = object()\npan = object()\n")
    (home / "cellar.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    yield "lazy_house"
    for name in [name for name in sys.modules if name.startswith("lazy_house")]:
        del sys.modules[name]


def test_a_name_is_imported_once_and_only_when_asked_for(package):
    house = __import__(package)
    assert "lazy_house.kitchen" not in sys.modules
    assert "kettle" not in vars(house)
    first = house.kettle
    assert "lazy_house.kitchen" in sys.modules
    assert vars(house)["kettle"] is first is house.kettle
    assert isinstance(house.cellar, types.ModuleType)


def test_it_lists_public_names_alone(package):
    house = __import__(package)
    assert dir(house) == ["__version__", "cellar", "kettle"]
    assert house.kettle is not None
    assert dir(house) == ["__version__", "cellar", "kettle"]
    with pytest.raises(AttributeError, match="module 'lazy_house' has no attribute 'pan'"):
        house.pan  # noqa: B018
    assert not hasattr(house, "attic")


def test_a_listing_is_sorted_and_its_own():
    names = listing(["b", "a"])
    names().append("c")
    assert names() == ["a", "b"]
    assert lazily("metricdp", {})[1]() == []


def test_a_name_is_never_hidden_by_the_module_of_its_own_name(package, tmp_path):
    (tmp_path / "lazy_house" / "stove.py").write_text("def stove(): ...\n")
    house = __import__(package)
    house.__getattr__, _ = lazily(package, {"stove": "stove", "kettle": "kitchen"})
    importlib.import_module("lazy_house.stove")
    assert isinstance(house.stove, types.FunctionType)
    assert house.kettle is not None
