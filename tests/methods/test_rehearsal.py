from declump.methods import METHODS, two_discs


def test_every_method_can_rehearse() -> None:
    image, regions = two_discs()
    assert image.shape[:2] == regions.clump.shape and len(regions.seeds) == 2
    for method in METHODS.values():
        assert len(method(image, regions)) == 2
