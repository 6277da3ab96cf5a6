from declump._kernels.types import Floats, Ints

def factorise(blocks: Floats, free: Floats, damping: float) -> Floats: ...
def truncated_conjugate_gradient(
    gradient: Floats,
    blocks: Floats,
    pairs: Ints,
    shared: Floats,
    free: Floats,
    factors: Floats,
    radius: float,
    tolerance: float,
    bound: int,
) -> tuple[Floats, bool]: ...
def predicted_decrease(gradient: Floats, blocks: Floats, pairs: Ints, shared: Floats, step: Floats) -> float: ...
