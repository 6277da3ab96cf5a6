"""One page that shows the results of a run: pictures, table, distributions, failures."""

from declump.report.page import NAME, write_report
from declump.report.run import RunImage, RunSummary, read_run

__all__ = ["NAME", "RunImage", "RunSummary", "read_run", "write_report"]
