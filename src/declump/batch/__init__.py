"""Many images at once: found, segmented by several processes, written so that a run can be taken up again."""

from declump.batch.options import Options, format_names
from declump.batch.run import Outcome, run
from declump.batch.sources import Source, find_sources

__all__ = ["Options", "Outcome", "Source", "find_sources", "format_names", "run"]
