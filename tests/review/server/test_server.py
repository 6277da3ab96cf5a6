"""The server, run as a command and asked from outside: who may ask, and what becomes of edits."""

from __future__ import annotations

import json
import os
import shutil
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import imageio.v3 as iio
import numpy as np
import pytest

import declump
from declump.review import list_unsaved
from declump.review.images import FOLDER, ReviewedImage
from declump.review.log import FILE, read_log
from support.reviews import ReviewServer, found_smear, open_review, save_again
from support.waiting import wait_until

pytest.importorskip("starlette", reason="the page needs the extra review: pip install 'declump[review]'")

from websockets.exceptions import InvalidHandshake


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two images, a file that is none, and a link out of the folder."""
    place = tmp_path_factory.mktemp("review") / "smears"
    place.mkdir()
    image, _ = found_smear()
    iio.imwrite(place / "one.png", image)
    iio.imwrite(place / "two.png", image[:, ::-1])
    (place / "broken.png").write_bytes(b"no picture")
    secret = place.parent / "secret.png"
    iio.imwrite(secret, image)
    (place / "link.png").symlink_to(secret)
    return place


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[ReviewServer]:
    with open_review(folder) as running:
        running.log_in()
        running.wait_for_images()
        yield running


@pytest.fixture
def image(server: ReviewServer) -> str:
    """Id of an image, without any edits that could be undone."""
    (ready, *_) = [entry["id"] for entry in server.wait_for_images() if entry["name"] == "one"]
    while server.edit(ready, {"edit": "undo"})[0] == 200:
        pass
    wait_until(lambda: not describe(server, ready)["evolving"], "outlines of the original")
    return str(ready)


def describe(server: ReviewServer, image: str) -> dict[str, Any]:
    status, content, _ = server.ask(f"/api/images/{image}")
    assert status == 200
    return dict(content)


def hear_until(socket: Any, kind: str) -> list[dict[str, Any]]:
    heard: list[dict[str, Any]] = []
    while not heard or heard[-1]["type"] != kind:
        heard.append(json.loads(socket.recv(timeout=120)))
    return heard


def test_nothing_under_api_answers_without_the_token(server: ReviewServer, image: str) -> None:
    paths = ["/api/images", f"/api/images/{image}", f"/api/images/{image}/thumbnail.jpg", "/api/nothing", "/api/live"]
    paths += [f"/api/images/{image}/tiles/9/0_0.jpg", f"/api/images/{image}/crops/0_0_9_9.jpg", "/api", "/api/"]
    for path in paths:
        for cookie in ("", "declump-1=x", f"{server.cookie}x"):
            assert server.ask(path, headers={"Cookie": cookie})[0] == 401, path
    for path in (f"/api/images/{image}/edits", f"/api/images/{image}/save"):
        assert server.ask(path, {}, headers={"Cookie": ""})[0] == 401
    assert server.ask("/api/login", {"token": "x"}, headers={"Cookie": ""})[0] == 401
    assert server.ask("/api/login", {"token": None}, headers={"Cookie": ""})[0] == 401
    with pytest.raises(InvalidHandshake), server.listen(Cookie=""):
        pass


def test_the_cookie_is_for_this_page_alone(server: ReviewServer) -> None:
    _, _, headers = server.ask("/api/login", {"token": server.token})
    said = headers["set-cookie"].lower()
    assert "samesite=strict" in said and "httponly" in said and server.token.lower() not in said


def test_a_foreign_host_is_refused(server: ReviewServer) -> None:
    port = server.host.rpartition(":")[2]
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1.evil.example:{port}", "localhost:1"):
        for path in ("/", "/api/images"):
            assert server.ask(path, headers={"Host": host})[0] == 421
        with pytest.raises(InvalidHandshake), server.listen(Host=host):
            pass
    assert server.ask("/api/images", headers={"Host": f"localhost:{port}"})[0] == 200


def test_a_foreign_origin_is_refused(server: ReviewServer, image: str) -> None:
    for origin in ("http://evil.example", "null", f"https://{server.host}", "http://127.0.0.1"):
        status, *_ = server.ask(f"/api/images/{image}/edits", {}, headers={"Origin": origin})
        assert status == 403
        with pytest.raises(InvalidHandshake), server.listen(Origin=origin):
            pass
    with pytest.raises(InvalidHandshake), server.listen(Origin=""):
        pass
    with server.listen():
        pass


def test_answers_bind_the_browser(server: ReviewServer) -> None:
    for path in ("/", "/page/main.js", "/api/images", "/nothing"):
        _, _, headers = server.ask(path)
        assert "default-src 'none'" in headers["content-security-policy"] and "unsafe" not in str(headers)
        assert headers["x-content-type-options"] == "nosniff" and "access-control-allow-origin" not in headers
    assert server.ask("/", method="OPTIONS")[0] == 405


def test_paths_lead_nowhere_else(server: ReviewServer) -> None:
    for path in (
        "/page/../server/guard.py",
        "/page/..%2fserver%2fguard.py",
        "/page/%2e%2e/__init__.py",
        "//etc/passwd",
        "/api/images/../../etc/passwd",
        "/api/images/..%2f..%2fetc%2fpasswd",
        "/api/images/one",
        "/api/images/one.png/thumbnail.jpg",
    ):
        assert server.ask(path)[0] in (404, 405), path


def test_a_link_out_of_the_folder_and_a_broken_file_are_refused(server: ReviewServer) -> None:
    images = {entry["name"]: entry for entry in server.wait_for_images()}
    assert "outside the folder" in images["link"]["reason"] and images["broken"]["status"] == "failed"
    assert server.ask(f"/api/images/{images['link']['id']}")[0] == 409
    assert server.ask(f"/api/images/{images['link']['id']}/thumbnail.jpg")[0] == 404
    assert images["one"]["status"] == images["two"]["status"] == "ready"


def test_requests_that_are_none_are_refused(server: ReviewServer, image: str) -> None:
    path = f"/api/images/{image}/edits"
    assert server.ask(path, {"id": "12345678", "edit": {"edit": "explode"}})[0] == 409
    assert server.ask(path, {"id": "1", "edit": {"edit": "undo"}})[0] == 400
    assert server.ask(path, [1])[0] == 400
    assert server.ask(path, {}, headers={"Content-Type": "text/plain"})[0] == 415
    assert server.ask(path, {"id": "12345678", "edit": "x" * 5_000_000})[0] == 413
    assert server.ask(f"/api/images/{image}/tiles/99/0_0.jpg")[0] == 404
    assert server.ask(f"/api/images/{image}/crops/900_900_910_910.jpg")[0] == 404


def test_an_edit_is_told_to_every_tab_step_by_step(server: ReviewServer, image: str) -> None:
    cells = describe(server, image)["cells"]
    with server.listen(image) as one, server.listen(image) as two:
        hear_ready(server, one, image)
        status, facts = server.edit(image, {"edit": "delete cell", "cell": cells[0]["n"]})
        assert status == 200 and facts["undo"] == 1
        for tab in (one, two):
            heard = hear_until(tab, "result")
            kinds = [message["type"] for message in heard]
            assert kinds.index("edited") < kinds.index("step") < kinds.index("result")
            assert heard[-1]["revision"] == facts["revision"] and cells[0]["n"] not in heard[-1]["numbers"]
            changed = {cell["n"] for cell in heard[-1]["cells"]}
            assert changed < {cell["n"] for cell in cells}
        assert hear_until(one, "measured")[-1]["numbers"] == heard[-1]["numbers"]


def hear_ready(server: ReviewServer, socket: Any, image: str) -> None:
    """Wait until the server knows what a tab shows: an edit that changes nothing is heard."""
    server.edit(image, {"edit": "finish image", "done": True})
    server.edit(image, {"edit": "undo"})
    hear_until(socket, "edited")


def test_edits_of_two_tabs_are_all_kept_and_one_sent_twice_is_made_once(server: ReviewServer, image: str) -> None:
    cells = [cell["n"] for cell in describe(server, image)["cells"]]
    before = describe(server, image)["undo"]
    for index, cell in enumerate(cells[:4]):
        edit = {"edit": "label cell", "cell": cell, "label": f"tab {index % 2}"}
        for _ in range(2):
            assert server.edit(image, edit, name=f"twice-{os.getpid()}-{cell}")[0] == 200
    assert describe(server, image)["undo"] == before + 4
    labels = {cell["n"]: cell["label"] for cell in describe(server, image)["cells"]}
    assert [labels[cell] for cell in cells[:4]] == ["tab 0", "tab 1"] * 2
    assert server.edit(image, {"edit": "delete cell", "cell": cells[0]})[0] == 200
    status, reason = server.edit(image, {"edit": "delete cell", "cell": cells[0]})
    assert status == 409 and b"no cell" in reason


def test_a_newer_edit_ends_the_run_of_an_older_one(server: ReviewServer, image: str) -> None:
    cells = describe(server, image)["cells"]
    with server.listen(image) as tab:
        hear_ready(server, tab, image)
        revisions = [
            server.edit(image, {"edit": "delete cell", "cell": cell["n"]})[1]["revision"] for cell in cells[:5]
        ]
        results = []
        while not results or results[-1] != revisions[-1]:
            results.append(hear_until(tab, "result")[-1]["revision"])
    assert results == sorted(results) and len(results) < len(revisions)


def test_what_is_saved_is_a_cold_start_from_the_edited_regions(server: ReviewServer, image: str, folder: Path) -> None:
    cells = describe(server, image)["cells"]
    row, column = cells[1]["seed"]
    server.edit(image, {"edit": "delete cell", "cell": cells[0]["n"]})
    server.edit(image, {"edit": "pull outline", "cell": cells[1]["n"], "row": row + 30, "column": column})
    server.edit(image, {"edit": "judge cell", "cell": cells[2]["n"], "verdict": "accepted"})
    server.edit(image, {"edit": "label cell", "cell": cells[3]["n"], "label": "HSIL"})
    status, facts, _ = server.ask(f"/api/images/{image}/save", {})
    assert status == 200 and facts["saved"] == facts["edits"]
    results = server.out / "one"
    written = declump.io.read(results)
    table = (results / "cells.csv").read_text(encoding="utf-8")
    assert "HSIL" in table and "accepted" in table
    # The same by the library, from the log alone.
    source = declump.batch.find_sources([folder / "one.png"])[0]
    reviewed = ReviewedImage(source, declump.batch.Options(), results)
    try:
        cold = reviewed.session.evolve()
    finally:
        reviewed.close()
    expected = results.parent.parent / "expected"
    declump.io.write_results(cold, expected, formats=("contours", "masks"), overwrite=True)
    for name in ("contours.json", "masks.tif"):
        assert (expected / name).read_bytes() == (results / name).read_bytes()
    np.testing.assert_array_equal(written.radii, cold.radii)


def test_kill_9_loses_no_edit_that_was_answered_and_saving_again_writes_the_rest(tmp_path: Path) -> None:
    image, _ = found_smear()
    iio.imwrite(tmp_path / "smear.png", image)
    with pytest.raises(ProcessLookupError), open_review(tmp_path / "smear.png", "-o", tmp_path / "out") as server:
        server.log_in()
        name = server.wait_for_images()[0]["id"]
        cells = [cell["n"] for cell in describe(server, name)["cells"]]
        for cell in cells[:3]:
            assert server.edit(name, {"edit": "label cell", "cell": cell, "label": "kept"})[0] == 200
        server.edit(name, {"edit": "delete cell", "cell": cells[3]})
        # In the middle of saving.
        connection_ended = _start_saving(server, name)
        os.kill(server.process.pid, signal.SIGKILL)
        server.process.wait()
        connection_ended()
        raise ProcessLookupError
    log = tmp_path / "out" / "smear" / "review" / "edits.jsonl"
    with log.open("ab") as file:
        file.write(b'{"edit": "delete ce')  # what an edit in the middle of being written leaves
    assert [len(read_log(entry.folder / FOLDER / FILE)[0]) - 1 for entry in list_unsaved(tmp_path / "out")] == [4]
    save_again(tmp_path / "out")
    assert (tmp_path / "out" / "smear" / "cells.csv").read_text(encoding="utf-8").count("kept") == 3
    assert list_unsaved(tmp_path / "out") == []
    first = {path.name: path.read_bytes() for path in (tmp_path / "out" / "smear").iterdir() if path.is_file()}
    save_again(tmp_path / "out")
    assert first == {path.name: path.read_bytes() for path in (tmp_path / "out" / "smear").iterdir() if path.is_file()}


def _start_saving(server: ReviewServer, image: str) -> Any:
    def ask() -> None:
        with pytest.raises(OSError):
            server.ask(f"/api/images/{image}/save", {})
            raise OSError

    thread = threading.Thread(target=ask)
    thread.start()
    wait_until(lambda: thread.is_alive(), "a request to save")
    return thread.join


def test_results_can_be_opened_again_and_the_command_ends_cleanly(folder: Path, server: ReviewServer) -> None:
    copy = folder.parent / "copy-results"
    assert list_unsaved(server.out) is not None
    shutil.copytree(server.out, copy, ignore=shutil.ignore_patterns(".lock*"))
    with open_review(copy) as again:
        again.log_in()
        images = {entry["name"]: entry for entry in again.wait_for_images()}
        assert images["one"]["edits"] > 0 and describe(again, images["one"]["id"])["cells"]
    assert again.process.returncode == 0
