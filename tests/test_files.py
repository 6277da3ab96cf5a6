from __future__ import annotations

import os
from pathlib import Path

import pytest

from declump._files import atomic_file, atomic_folder, check_links, file_digest, remove_drafts, write_atomically


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(("content", "expected"), [("a\nä\n", "a\nä\n".encode()), (b"\x00\r\n", b"\x00\r\n")])
def test_a_file_holds_what_was_given_and_no_draft_is_left(tmp_path, content, expected):
    path = tmp_path / "file.json"
    path.write_text("old")
    write_atomically(path, content)
    assert path.read_bytes() == expected and names(tmp_path) == ["file.json"]


def test_the_old_file_stands_until_the_draft_is_whole(tmp_path):
    path = tmp_path / "file.npz"
    path.write_text("old")
    with atomic_file(path) as draft:
        draft.write_text("new")
        assert path.read_text() == "old" and draft.parent == tmp_path and draft.suffix == ".npz"
    assert path.read_text() == "new"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_after_a_failure_the_old_file_is_left_alone(tmp_path, error):
    path = tmp_path / "file.txt"
    path.write_text("old")
    with pytest.raises(error), atomic_file(path) as draft:
        draft.write_text("half")
        raise error
    assert path.read_text() == "old" and names(tmp_path) == ["file.txt"]


def test_the_draft_is_on_the_disk_before_it_is_renamed(tmp_path, monkeypatch):
    done = []
    replace = Path.replace
    monkeypatch.setattr(os, "fsync", lambda number: done.append(("fsync", os.fstat(number).st_size)))
    monkeypatch.setattr(Path, "replace", lambda path, target: done.append("replace") or replace(path, target))
    write_atomically(tmp_path / "file.txt", "12345")
    assert done == [("fsync", 5), "replace"]


def test_a_missing_folder_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "none" / "file.txt", "text")


def test_drafts_of_killed_processes_are_cleared_away(tmp_path):
    (tmp_path / ".declump-77-file.txt").write_text("half")
    (tmp_path / ".declump-abc" / "draft").mkdir(parents=True)
    (tmp_path / "file.txt").write_text("whole")
    remove_drafts(tmp_path)
    assert names(tmp_path) == ["file.txt"]


def test_a_folder_is_not_written_through_a_link_in_it(tmp_path):
    outside, folder = tmp_path / "outside", tmp_path / "folder"
    (outside / "deep").mkdir(parents=True)
    (outside / "deep" / "file").write_text("mine")
    folder.mkdir()
    (folder / "link").symlink_to(outside)
    with pytest.raises(FileExistsError, match="link is a link"), atomic_folder(folder, overwrite=True) as draft:
        (draft / "link" / "deep").mkdir(parents=True)
        (draft / "link" / "deep" / "file").write_text("new")
    own = ["link/deep/file"]
    with (
        pytest.raises(FileExistsError, match="link is a link"),
        atomic_folder(folder, overwrite=True, own=own) as draft,
    ):
        (draft / "other").write_text("new")
    assert names(folder) == ["link"] and (outside / "deep" / "file").read_text() == "mine"
    check_links(folder / "link", ["deep/file"])


def test_drafts_that_are_links_are_left_alone(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / ".declump-link").symlink_to(outside)
    remove_drafts(tmp_path)
    assert names(tmp_path) == [".declump-link", "outside"]


def test_a_digest_follows_the_content(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text("one")
    second.write_text("two")
    one, two = file_digest(first), file_digest(second)
    assert one != two and len(one) == 64
    second.replace(first)
    assert file_digest(first) == two


@pytest.mark.parametrize("exists", [True, False])
def test_files_of_a_folder_are_on_the_disk_before_they_are_moved(tmp_path, monkeypatch, exists):
    done, rename = [], Path.rename
    folder = tmp_path / "folder"
    if exists:
        folder.mkdir()
    monkeypatch.setattr(os, "fsync", lambda number: done.append(os.fstat(number).st_size))
    monkeypatch.setattr(Path, "rename", lambda path, target: done.append("rename") or rename(path, target))
    with atomic_folder(folder, overwrite=True) as draft:
        (draft / "deep").mkdir()
        (draft / "one").write_text("1")
        (draft / "deep" / "two").write_text("22")
    assert sorted(done[:2]) == [1, 2] and set(done[2:]) == {"rename"}
