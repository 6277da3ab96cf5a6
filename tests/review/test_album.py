"""The images of a review, found in folders and in results."""

from __future__ import annotations

from pathlib import Path

import imageio.v3 as iio
import numpy as np

from declump.review.album import open_album


def test_a_link_out_of_its_folder_is_refused_in_images_and_in_results(tmp_path: Path) -> None:
    images, secret = tmp_path / "smears", tmp_path / "secret.png"
    images.mkdir()
    for path in (images / "one.png", secret):
        iio.imwrite(path, np.full((20, 30), 200, np.uint8))
    (images / "link.png").symlink_to(secret)
    album = open_album(images)
    album.write()
    for found in (album, open_album(album.out)):
        told = {entry.source.name: (entry.status, entry.reason) for entry in found.entries.values()}
        assert told["one"] == ("waiting", "")
        assert told["link"][0] == "failed" and "is a link to a place outside the folder" in told["link"][1]
