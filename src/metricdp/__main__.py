"""``python -m metricdp``: the same command."""

from metricdp.cli import app

if __name__ == "__main__":
    app()
