from declump._kernels.types import Floats, Ints, PolarTable

def sum_pixel_scores(
    pixel_scores: Ints, row: int, column: int, radii: Floats, rises: Floats, runs: Floats, table: PolarTable
) -> Ints: ...
