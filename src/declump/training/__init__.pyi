from .judge.train import train_judge
from .prior import learn_prior
from .quantising import quantise
from .rays.train import train_ray_model
from .regions.train import train_region_model
from .requirements import check_onnx, check_torch
from .schedule import Schedule
from .smear.train import train_smear_model

__all__ = [
    "Schedule",
    "check_onnx",
    "check_torch",
    "learn_prior",
    "quantise",
    "train_judge",
    "train_ray_model",
    "train_region_model",
    "train_smear_model",
]
