"""``ackclock serve``: sweeps, their stores, and captures."""

from __future__ import annotations

import json
import re
import shutil
import struct
import time
from pathlib import Path

import httpx
import pytest

import ackclock as ac
from ackclock.serve.folder import Served
from ackclock.serve.jobs import ForbiddenError
from ackclock.serve.sweeps import expect_runnable
from serving import PLAN, Laboratory
from support import ROOT, SMALL

#: Axes that put the name of a file into the scenario.
READS = (
    '"topology.bottleneck.channel.times_ms" = ["FILE"]',
    'x = { key = "topology.bottleneck.channel.times_ms", values = ["FILE"] }',
    'x = { key = ["topology.bottleneck.channel.times_ms"], values = ["FILE"] }',
    'x = { cases = { a = { "topology.bottleneck.channel.times_ms" = "FILE" } } }',
    'x = { key = "topology.bottleneck.channel", values = [{ kind = "trace", times_ms = "FILE" }] }',
)


#: The keys that take the name of a file, by crates/input/src/columns.rs.
FILE_KEYS = ("file", "quantiles", "series", "times_ms", "delays_ms", "bytes")


def test_the_keys_of_files_are_those_of_the_reader() -> None:
    source = (ROOT / "crates/input/src/columns.rs").read_text(encoding="utf-8")
    keys = re.findall(r'\bkey: "(\w+)"', source) + re.findall(r'const FILE: &str = "(\w+)"', source)
    assert sorted(keys) == sorted(FILE_KEYS)


@pytest.mark.parametrize("key", FILE_KEYS)
@pytest.mark.parametrize("value", ['"secret.txt"', '[{ FILE = "secret.txt" }]', '[["secret.txt"]]'])
def test_an_axis_that_sets_a_key_of_a_file_is_refused(tmp_path: Path, key: str, value: str) -> None:
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    if value.startswith("[{"):
        name, value = "topology.bottleneck.channel", value.replace("FILE", key)
    else:
        name, value = f"topology.bottleneck.channel.{key}", f"[{value}]"
    plan = f'scenario = "small.toml"\n[axes]\n"{name}" = {value}\n'
    (tmp_path / "plan.toml").write_text(plan, encoding="utf-8")
    with pytest.raises(ForbiddenError, match="its axes would read files"):
        expect_runnable(Served(tmp_path), "plan.toml")


@pytest.mark.parametrize("axis", READS)
def test_a_sweep_reads_no_file_outside(lab: Laboratory, axis: str) -> None:
    channel = 'channel = { kind = "trace", times_ms = [1, 2] }'
    scenario = SMALL.replace('rate = "10 Mbit/s", ', f'rate = "10 Mbit/s", {channel}, ')
    (lab.folder / "times.toml").write_text(scenario, encoding="utf-8")
    outside = lab.folder.parent / "secret.txt"
    plan = f'scenario = "times.toml"\n[axes]\n{axis}\n'.replace("FILE", str(outside))
    (lab.folder / "reads.toml").write_text(plan, encoding="utf-8")
    with lab.client() as client:
        answer = client.post("/api/sweeps", json={"plan": "reads.toml", "store": "reads"})
    assert (answer.status_code, answer.text.count("\n")) == (403, 1), answer.text
    assert "would read files" in answer.text
    assert not (lab.folder / "reads").exists()
    # Other tests list the folder.
    (lab.folder / "times.toml").unlink()
    (lab.folder / "reads.toml").unlink()


def test_a_store_whose_plan_is_none_is_refused(lab: Laboratory) -> None:
    (lab.folder / "odd/plans").mkdir(parents=True)
    (lab.folder / "odd/plan.json").write_text("[]", encoding="utf-8")
    with lab.client() as client:
        answer = client.get("/api/stores", params={"path": "odd"})
    assert (answer.status_code, answer.text) == (
        422, "plan.json: expected a table with the keys of a plan\n"
    )  # fmt: skip


@pytest.fixture(scope="module")
def finished_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the store of a finished sweep that kept the table `links`."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "small.toml").write_text(SMALL, encoding="utf-8")
    plan = {"scenario": str(folder / "small.toml"), "seeds": 2, "keep": ["links"]}
    ac.sweep(plan, folder / "store")
    return folder / "store"


@pytest.mark.parametrize(
    ("table", "status", "piece"),
    [
        ("cells", 200, '"of":2'),
        ("links", 200, '"of":12'),  # six of each of two runs
        # Each was a folder whose Parquet files were read.
        ("../..", 422, "was not kept"),
        ("../cells", 422, "was not kept"),
        ("ABSOLUTE", 422, "was not kept"),
        ("links/../../cells", 422, "was not kept"),
        ("", 422, "was not kept"),
    ],
)
def test_a_table_is_one_of_the_stores_own(
    lab: Laboratory, finished_store: Path, table: str, status: int, piece: str
) -> None:
    shutil.copytree(finished_store, lab.folder / "kept")
    try:
        asked = {"path": "kept", "table": table.replace("ABSOLUTE", str(finished_store / "cells"))}
        with lab.client() as client:
            answer = client.get("/api/stores/rows", params=asked)
        assert (answer.status_code, piece in answer.text) == (status, True), answer.text
    finally:
        shutil.rmtree(lab.folder / "kept")


@pytest.mark.parametrize("part", ["plan.json", "plans", "cells", "tables", "tables/links"])
def test_a_store_with_a_link_in_it_is_not_read(
    lab: Laboratory, finished_store: Path, part: str
) -> None:
    shutil.copytree(finished_store, lab.folder / "linked")
    moved = lab.folder.parent / "moved"
    (lab.folder / "linked" / part).rename(moved)
    (lab.folder / "linked" / part).symlink_to(moved)
    try:
        with lab.client() as client:
            asked = {"path": "linked", "table": "links"}
            answer = client.get("/api/stores/rows", params=asked)
        assert (answer.status_code, answer.text.count("\n")) == (403, 1), answer.text
        assert "through a link" in answer.text
    finally:
        shutil.rmtree(lab.folder / "linked")
        shutil.rmtree(moved) if moved.is_dir() else moved.unlink()


def test_the_store_of_a_studys_readings_is_told(lab: Laboratory) -> None:
    plan = {"study": "scharf2008", "axes": {"acks": ["each", "delayed"]}}
    (lab.folder / "found").mkdir()
    (lab.folder / "found/plan.json").write_text(json.dumps(plan), encoding="utf-8")
    with lab.client() as client:
        answer = client.get("/api/stores", params={"path": "found"})
    # Its plan names no file; no search has run here.
    assert answer.status_code == 422
    assert "`ackclock readings scharf2008` with the same --out goes on" in answer.text


@pytest.mark.slow
def test_a_sweep_is_run_and_its_store_read(lab: Laboratory) -> None:
    (lab.folder / "plan.toml").write_text(PLAN, encoding="utf-8")
    with lab.client() as client:
        found = client.get("/api/folder").json()
        assert ("plan.toml" in found["plans"], "plan.toml" in found["scenarios"]) == (True, False)
        answer = client.post("/api/sweeps", json={"plan": "plan.toml", "store": "store"})
        assert answer.status_code == 201, answer.text
        deadline = time.monotonic() + 60
        while client.get("/api/folder").json()["sweeps"][0]["running"]:
            assert time.monotonic() < deadline
            time.sleep(0.2)
        assert client.get("/api/folder").json()["sweeps"][0]["error"] is None
        about = client.get("/api/stores", params={"path": "store"}).json()
        # Two senders, three seeds.
        assert (about["cells"], about["finished"]) == (6, 6)
        asked = {"path": "store", "where": "\"flow.a.variant\" = 'cubic' AND seed > 1"}
        rows = client.get("/api/stores/rows", params=asked).json()
        assert rows["of"] == 2, rows
        bad = {"path": "store", "where": "seed IN (SELECT x FROM read_csv('/etc/passwd'))"}
        refused = client.get("/api/stores/rows", params=bad)
        assert (refused.status_code, refused.text.count("\n")) == (422, 1)
        (lab.folder / "bad.toml").write_text(PLAN.replace("small", "../x"), encoding="utf-8")
        answer = client.post("/api/sweeps", json={"plan": "bad.toml", "store": "bad"})
        assert (answer.status_code, answer.text.count("\n")) == (403, 1), answer.text


def test_a_capture_is_read(lab: Laboratory) -> None:
    ac.simulate(lab.folder / "small.toml", pcap=lab.folder / "captures")
    with lab.client() as client:
        (row,) = client.get("/api/folder").json()["captures"]
        answer = client.get("/api/captures/segments", params={"path": row["path"]}).content
    length = int.from_bytes(answer[:4], "little")
    header = json.loads(answer[4 : 4 + length])
    begin = -(-(4 + length) // 8) * 8
    width = len(header["columns"])
    data = struct.unpack_from(f"<{header['rows'] * width}d", answer, begin)
    rows = [dict(zip(header["columns"], data[n : n + width], strict=True))
            for n in range(0, len(data), width)]  # fmt: skip
    assert len(header["flows"]) == 1
    syn, syn_ack = rows[0], next(row for row in rows if not row["from_client"])
    # Bits: SYN 1, ACK 2.
    assert (syn["from_client"], syn["seq"], syn["flags"]) == (1, 0, 1)
    assert (syn_ack["seq"], syn_ack["ack"], syn_ack["flags"]) == (0, 1, 3)
    data_rows = [row for row in rows if row["len"] > 0]
    assert data_rows[0]["seq"] == 1
    assert {row["len"] for row in data_rows} <= {1460.0, 1448.0}


def test_times_of_day_count_from_the_first_packet(lab: Laboratory) -> None:
    # An interface of raw IP in microseconds, and two packets 1 ms apart on 19 November 2026.
    def block(kind: int, body: bytes) -> bytes:
        length = 12 + len(body)
        return struct.pack("<II", kind, length) + body + struct.pack("<I", length)

    def packet(at_us: int, seq: int) -> bytes:
        tcp = struct.pack("!HHIIBBHHH", 1000, 2000, seq, 0, 5 << 4, 2, 100, 0, 0)
        ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 40, 0, 0, 64, 6, 0, b"\n\0\0\1", b"\n\0\0\2")
        head = struct.pack("<IIIII", 0, at_us >> 32, at_us & 0xFFFFFFFF, 40, 40)
        return block(6, head + ip + tcp)

    begin = 1_795_000_000_000_000
    data = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    data += block(1, struct.pack("<HHI", 101, 0, 0)) + packet(begin + 250_000, 7)
    data += packet(begin + 251_000, 8)
    (lab.folder / "day.pcapng").write_bytes(data)
    with lab.client() as client:
        answer = client.get("/api/captures/segments", params={"path": "day.pcapng"}).content
    (lab.folder / "day.pcapng").unlink()
    length = int.from_bytes(answer[:4], "little")
    header = json.loads(answer[4 : 4 + length])
    width = len(header["columns"])
    values = struct.unpack_from(f"<{2 * width}d", answer, -(-(4 + length) // 8) * 8)
    assert values[0] == pytest.approx(0.25, abs=1e-6)
    assert values[width] == pytest.approx(0.251, abs=1e-6)


def test_the_beginning_of_a_capture_is_shown(lab: Laboratory) -> None:
    ac.simulate(lab.folder / "small.toml", pcap=lab.folder / "cut")
    (file,) = (lab.folder / "cut").glob("*.pcapng")
    whole = file.read_bytes()

    def told(length: int) -> httpx.Response:
        file.write_bytes(whole[:length])
        path = file.relative_to(lab.folder).as_posix()
        with lab.client() as client:
            return client.get("/api/captures/segments", params={"path": path})

    answer = told(len(whole) - 7).content
    header = json.loads(answer[4 : 4 + int.from_bytes(answer[:4], "little")])
    assert header["rows"] > 100
    assert header["whole"] is False
    # A file that was cut in its first block has no packet.
    assert (told(8).status_code, told(8).text.count("\n")) == (422, 1)
