from declump._kernels.types import Floats, Ints, Mask, Meetings, PolarTable, Visits

def cover(
    rows: Ints,
    columns: Ints,
    radii: Floats,
    softness: float,
    table: PolarTable,
    rises: Floats,
    runs: Floats,
    clump: Mask,
    clump_size: int,
    depths: Ints,
    inner: Ints,
    covered: Ints,
    places: Ints,
) -> tuple[Visits, Ints, Floats, float, int]: ...
def gather_discrepancy(
    visits: Visits,
    softness: float,
    clump: Mask,
    pixels: Ints,
    left: Floats,
    by_radius: Floats,
    diagonal: Floats,
    adjacent: Floats,
) -> Meetings: ...
