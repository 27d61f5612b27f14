"""The `fadeout` command."""

from fadeout.cli.app import app, main

__all__ = ["app", "main"]
