"""The paper's experiments: methods by name, folds, tables, and what is written of them."""

from declump_paper.research.data import NAMES, open_data
from declump_paper.research.images import Images, store_images
from declump_paper.research.methods import available_methods, choose_methods
from declump_paper.research.plan import Plan, plan_folds, plan_models
from declump_paper.research.report import write_record, write_tables
from declump_paper.research.runs import Run
from declump_paper.research.studies import STUDIES, choose_studies

__all__ = [
    "NAMES",
    "STUDIES",
    "Images",
    "Plan",
    "Run",
    "available_methods",
    "choose_methods",
    "choose_studies",
    "open_data",
    "plan_folds",
    "plan_models",
    "store_images",
    "write_record",
    "write_tables",
]
