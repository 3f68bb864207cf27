"""Downloading from a server on this machine that does what real servers do to downloads."""

import hashlib
import io
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from command_line import environment, topicfocus
from file_server import FileServer

from topicfocus import datasets
from topicfocus.datasets import DownloadError, download, fetching, obtain
from topicfocus.datasets.fetching import fetch
from topicfocus.datasets.origins import ORIGINS, Bytes, Origin
from topicfocus.datasets.sources import SOURCES, Remote, find_data

BODY = bytes(range(256)) * 2000  # 512,000 bytes: several blocks
SHA256 = hashlib.sha256(BODY).hexdigest()


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(fetching, "_WAITS", (0.0, 0.0))
    monkeypatch.setattr(fetching, "_TIMEOUT", 5.0)


@pytest.fixture
def server():
    with FileServer() as server:
        server.files["file.bin"] = BODY
        yield server


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache, and no TOPICFOCUS_DATA."""
    monkeypatch.delenv("TOPICFOCUS_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "topicfocus"


def remote(server, sha256=SHA256):
    return Remote(f"{server.url}file.bin", "file.bin", sha256)


def listing(folder):
    return sorted(path.name for path in folder.iterdir())


# One file


def test_a_whole_file(server, tmp_path):
    path = fetch(remote(server), tmp_path)
    assert path.read_bytes() == BODY
    assert listing(tmp_path) == ["file.bin"]
    assert len(server.requests) == 1
    fetch(remote(server), tmp_path)
    assert len(server.requests) == 1  # there already


def test_a_length_that_is_not_said(server, tmp_path):
    server.length = False
    assert fetch(remote(server), tmp_path).read_bytes() == BODY


@pytest.mark.parametrize("known", [True, False])
def test_interruptions_are_continued(server, tmp_path, known):
    server.cuts = [100_000, 70_000, 5]
    path = fetch(remote(server) if known else remote(server, None), tmp_path)
    assert path.read_bytes() == BODY
    asked = [given for _, given, _ in server.requests]
    assert asked == [None, "bytes=100000-", "bytes=170000-", "bytes=170005-"]
    assert server.requests[1][2] == '"one"'


def test_a_later_call_continues(server, tmp_path):
    server.cuts = [200_000, 0, 0]  # one try brings something, then the server gives up
    with pytest.raises(DownloadError, match="the connection ended at 200000 of 512000 bytes"):
        fetch(remote(server), tmp_path)
    assert listing(tmp_path) == ["file.bin.part", "file.bin.part.etag"]
    assert fetch(remote(server), tmp_path).read_bytes() == BODY
    assert server.requests[-1][1] == "bytes=200000-"


def test_ctrl_c_keeps_what_was_fetched(server, tmp_path, monkeypatch):
    def stop(answer, progress):
        if progress:
            raise KeyboardInterrupt
        return answer.read(1000)

    with monkeypatch.context() as patch:
        patch.setattr(fetching, "_read", stop)
        with pytest.raises(KeyboardInterrupt):
            fetch(remote(server), tmp_path)
    assert fetch(remote(server), tmp_path).read_bytes() == BODY
    assert server.requests[-1][1] == "bytes=1000-"


def test_many_interruptions_are_fine_while_bytes_come(server, tmp_path):
    server.cuts = [10_000] * 20
    assert fetch(remote(server), tmp_path).read_bytes() == BODY


def test_a_server_without_ranges_starts_over(server, tmp_path):
    server.ranges = False
    server.cuts = [100_000]
    assert fetch(remote(server), tmp_path).read_bytes() == BODY
    assert len(server.requests) == 2


def test_a_file_that_changed_in_between_is_not_mixed(server, tmp_path):
    server.cuts = [100_000, 0, 0]
    with pytest.raises(DownloadError):
        fetch(remote(server, None), tmp_path)
    server.files["file.bin"], server.tag = BODY[::-1], '"two"'
    assert fetch(remote(server, None), tmp_path).read_bytes() == BODY[::-1]


def test_without_tag_and_checksum_nothing_is_continued(server, tmp_path):
    server.tag = None
    server.cuts = [100_000]
    assert fetch(remote(server, None), tmp_path).read_bytes() == BODY
    assert [given for _, given, _ in server.requests] == [None, None]


def test_a_part_that_is_too_long_is_given_up(server, tmp_path):
    (tmp_path / "file.bin.part").write_bytes(BODY + b"more")
    assert fetch(remote(server), tmp_path).read_bytes() == BODY


def test_a_complete_part_needs_no_server(tmp_path):
    (tmp_path / "file.bin.part").write_bytes(BODY)
    gone = Remote("http://127.0.0.1:9/file.bin", "file.bin", SHA256)
    assert fetch(gone, tmp_path).read_bytes() == BODY


def test_another_file_than_expected_is_kept_aside(server, tmp_path):
    expected = "0" * 64
    with pytest.raises(DownloadError, match=rf"expected {expected}.*kept as .*file\.bin\.wrong"):
        fetch(remote(server, expected), tmp_path)
    assert not (tmp_path / "file.bin").exists()
    assert (tmp_path / "file.bin.wrong").read_bytes() == BODY


def test_a_busy_server_is_asked_again(server, tmp_path):
    server.statuses = [503, 429]
    assert fetch(remote(server), tmp_path).read_bytes() == BODY


def test_a_missing_file_is_not_asked_for_again(server, tmp_path):
    del server.files["file.bin"]
    with pytest.raises(DownloadError, match="HTTP 404"):
        fetch(remote(server), tmp_path)
    assert len(server.requests) == 1
    assert listing(tmp_path) == []


def test_an_endless_file_is_stopped(server, tmp_path, monkeypatch):
    monkeypatch.setattr(fetching, "_LARGEST", 100_000)
    with pytest.raises(DownloadError, match="far more than expected"):
        fetch(remote(server), tmp_path)
    server.length = False
    with pytest.raises(DownloadError, match="does not end"):
        fetch(remote(server), tmp_path)


def test_progress_on_a_terminal_only(server, tmp_path, monkeypatch, capsys):
    fetch(remote(server), tmp_path)
    assert capsys.readouterr().err == ""
    (tmp_path / "file.bin").unlink()

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    fetch(remote(server), tmp_path)
    seen = sys.stderr.getvalue()
    assert "file.bin" in seen
    assert "512.0/512.0 kB" in seen


# A data set


def gzipped(text, tmp_path):
    from topicfocus.datasets.prepare import _write_gzip

    _write_gzip(tmp_path / "x.gz", text.encode())
    return (tmp_path / "x.gz").read_bytes()


def copy(files, out):
    """Prepares a data set whose files are the publisher's own."""
    for name, path in files.items():
        (out / name).write_bytes(path.read_bytes())


@pytest.fixture
def imdb(server, tmp_path, monkeypatch):
    """A small data set in the place of IMDB's."""
    words = ("good", "dull", "long")
    rows = [
        f"{'train' if i % 3 else 'test'},{i},{i % 10},{i % 2},{words[i // 3 % 3]} film {i}\n"
        for i in range(90)
    ]
    text = "split,id,rating,label,text\n" + "".join(rows)
    server.files["imdb50k.csv.gz"] = gzipped(text, tmp_path)
    remote = Remote(f"{server.url}imdb50k.csv.gz", "imdb50k.csv.gz")
    check = Bytes(hashlib.sha256(text.encode()).hexdigest())
    origin = Origin("a page", (remote,), copy, {"imdb50k.csv.gz": check})
    monkeypatch.setitem(ORIGINS, "imdb", origin)
    return server


def test_nothing_is_downloaded_unless_asked_for(imdb, cache):
    with pytest.raises(FileNotFoundError, match=r"topicfocus\.datasets\.download\('imdb'\)"):
        datasets.load_imdb()
    assert imdb.requests == []


@pytest.mark.parametrize("name", SOURCES)
def test_every_loader_can_be_told_to(name, cache, monkeypatch):
    called = []

    def instead(name):
        called.append(name)
        raise DownloadError("no")

    monkeypatch.setattr(obtain, "download", instead)
    with pytest.raises(DownloadError, match="no"):
        getattr(datasets, f"load_{name}")(download=True)
    assert called == [name]


def test_a_loader_that_downloads(imdb, cache):
    data = datasets.load_imdb(download=True)
    assert len(data.test.target) == 30
    assert listing(cache / "data" / "imdb") == ["imdb50k.csv.gz"]
    assert not list((cache / "downloads").glob("imdb*"))  # nothing left but the lock
    assert len(imdb.requests) == 1
    datasets.load_imdb(download=True)
    assert download("imdb") == cache / "data" / "imdb"
    assert len(imdb.requests) == 1
    download("imdb", force=True)
    assert len(imdb.requests) == 2


def test_data_that_are_found_elsewhere_are_not_downloaded(imdb, cache, tmp_path, monkeypatch):
    place = tmp_path / "mine" / "imdb"
    place.mkdir(parents=True)
    (place / "imdb50k.csv.gz").write_bytes(b"")
    monkeypatch.setenv("TOPICFOCUS_DATA", str(tmp_path / "mine"))
    assert download("imdb") == place
    assert imdb.requests == []


def test_a_path_is_not_downloaded_to(imdb, cache, tmp_path):
    with pytest.raises(FileNotFoundError):
        find_data("imdb", tmp_path / "typo", download=True)
    assert imdb.requests == []


def test_a_file_put_there_by_hand_is_used_and_stays(imdb, cache):
    downloads = cache / "downloads"
    downloads.mkdir(parents=True)
    (downloads / "imdb50k.csv.gz").write_bytes(imdb.files["imdb50k.csv.gz"])
    download("imdb")
    assert imdb.requests == []
    assert (downloads / "imdb50k.csv.gz").is_file()
    assert (cache / "data" / "imdb" / "imdb50k.csv.gz").is_file()


def test_other_content_is_refused_and_kept_aside(imdb, cache, tmp_path):
    imdb.files["imdb50k.csv.gz"] = gzipped("split,id,rating,label,text\n", tmp_path)
    with pytest.raises(DownloadError, match="other content than the data") as error:
        download("imdb")
    assert "imdb50k.csv.gz.wrong" in str(error.value)
    assert (cache / "downloads" / "imdb50k.csv.gz.wrong").is_file()
    assert listing(cache / "data") == ["imdb"]
    assert listing(cache / "data" / "imdb") == []


def test_no_connection_says_what_to_do(cache, monkeypatch):
    closed = Remote("http://127.0.0.1:9/scale_data.tar.gz", "scale_data.tar.gz")
    origin = Origin("https://example.org/page", (closed,), copy)
    monkeypatch.setitem(ORIGINS, "pang_lee", origin)
    with pytest.raises(DownloadError) as error:
        download("pang_lee")
    message = str(error.value)
    assert "http://127.0.0.1:9/scale_data.tar.gz could not be fetched" in message
    assert "get scale_data.tar.gz from https://example.org/page" in message
    assert str(cache / "downloads") in message
    assert "put pang_lee.csv.gz into a folder pang_lee/ and set TOPICFOCUS_DATA" in message
    assert "path=" in message


def test_a_cache_that_cannot_be_written(imdb, tmp_path, monkeypatch):
    monkeypatch.delenv("TOPICFOCUS_DATA", raising=False)
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(DownloadError, match="Set XDG_CACHE_HOME to a folder that can be written"):
        download("imdb")


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() == 0, reason="root may write anywhere")
def test_a_read_only_cache(imdb, cache, tmp_path):
    cache.mkdir(parents=True)
    cache.chmod(0o500)
    try:
        with pytest.raises(DownloadError, match="cannot write to the cache"):
            download("imdb")
    finally:
        cache.chmod(0o700)


def test_a_full_disk_is_not_called_a_lost_connection(imdb, cache, monkeypatch):
    real = Path.open

    def full(self, *args, **kwargs):
        if self.name.endswith(".part"):
            raise OSError(28, "No space left on device")
        return real(self, *args, **kwargs)

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(DownloadError, match=r"cannot write to the cache.*No space left"):
        download("imdb")


def test_yelp_is_not_downloaded(cache):
    with pytest.raises(DownloadError, match=r"may not be downloaded.*yelp\.csv\.gz") as error:
        download("yelp")
    assert "do not redistribute" in str(error.value)


def test_an_unknown_name():
    with pytest.raises(ValueError, match="no data set is called 'reuters'"):
        download("reuters")


@pytest.mark.skipif(sys.platform == "win32", reason="no locks there")
def test_two_at_once_download_once(imdb, cache):
    imdb.gate.clear()
    places, errors = [], []

    def run():
        try:
            places.append(download("imdb"))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    imdb.gate.set()
    for thread in threads:
        thread.join(20)
    assert errors == []
    assert places == [cache / "data" / "imdb"] * 3
    assert len(imdb.requests) == 1


# What is known about the real ones


def test_every_origin_prepares_what_its_loader_reads():
    assert set(ORIGINS) == set(SOURCES) - {"yelp"}
    for name, origin in ORIGINS.items():
        assert origin.page.startswith("https://"), name
        assert all(r.url.startswith(("https://", "http://")) for r in origin.remotes)
        # Bytes of all that is fetched, or of all that is prepared: never neither.
        by_bytes = all(r.sha256 for r in origin.remotes)
        assert by_bytes or set(origin.checks) == set(SOURCES[name].files), name
        if any(r.url.startswith("http://") for r in origin.remotes):
            assert origin.checks, f"{name} comes over an open connection"
        for check in (*origin.checks.values(), *(r for r in origin.remotes if r.sha256)):
            assert len(check.sha256) == 64


def test_loading_needs_no_network_code():
    script = (
        "import sys, topicfocus.datasets\n"
        "print([name for name in sys.modules if name.startswith('topicfocus.datasets.')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        env=environment(),
        check=True,
    )
    assert "topicfocus.datasets.sources" in done.stdout
    assert "fetching" not in done.stdout
    assert "origins" not in done.stdout


# The command


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("TOPICFOCUS_DATA", str(tmp_path / "none"))
    done = topicfocus("datasets", "--download", "reuters")
    assert done.returncode == 2
    assert "no data set is called 'reuters'" in done.stderr
    done = topicfocus("datasets", "--download", "yelp")
    assert done.returncode == 1
    assert "may not be downloaded" in done.stderr
    place = tmp_path / "topicfocus" / "data" / "yelp"
    place.mkdir(parents=True)
    (place / "yelp.csv.gz").write_bytes(b"")
    done = topicfocus("datasets", "--download", "yelp", "--json")  # found: nothing to do
    assert done.returncode == 0, done.stderr
    assert str(place) in done.stdout
