from declump._kernels.types import Floats

def pose(
    mean: Floats,
    modes: Floats,
    by_mode: Floats,
    coefficients: Floats,
    log_scale: float,
    rotation: float,
    radii: Floats,
    basis: Floats,
) -> None: ...
def pose_cells(
    mean: Floats, modes: Floats, by_mode: Floats, parameters: Floats, units: Floats, radii: Floats, basis: Floats
) -> None: ...
