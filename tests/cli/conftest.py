"""The command line without a process of its own."""

from support.fixtures import here  # noqa: F401
