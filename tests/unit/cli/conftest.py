import pytest


@pytest.fixture
def here(request, tmp_path, monkeypatch):
    """A folder with the FILES of the test's module in it, if it has any, in which the command runs."""
    monkeypatch.chdir(tmp_path)
    for name, text in getattr(request.module, "FILES", {}).items():
        (tmp_path / name).write_text(text)
    return tmp_path
