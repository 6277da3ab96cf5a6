from declump.batch.rehearsal import two_discs
from declump.pipelines.cells import segment


def test_both_cells_of_the_rehearsal_are_found() -> None:
    image, regions = two_discs()
    assert image.shape[:2] == regions.clump.shape and len(regions.seeds) == 2
    assert len(segment(image, regions=regions)) == 2
