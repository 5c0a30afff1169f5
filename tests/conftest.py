"""Plugins of the tests themselves: pytest accepts this list only in a conftest it reads early."""

from __future__ import annotations

pytest_plugins = ["pytester"]
