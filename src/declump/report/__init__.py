"""One page that shows the results of a run: pictures, table, distributions, failures."""

from declump.report.page import NAME, write_report
from declump.report.run import RunSummary, RunImage, read_run

__all__ = ["NAME", "RunSummary", "RunImage", "read_run", "write_report"]
