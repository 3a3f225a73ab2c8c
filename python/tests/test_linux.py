"""Kernels in virtual time: patches, the cache, the command line, refusals; guests."""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import ackclock as ac
from ackclock import _core
from ackclock.base.errors import BadInput, UnfinishedError
from ackclock.linux import (
    booting,
    building,
    calling,
    drilling,
    kept,
    patching,
    running,
    sources,
)
from ackclock.live import kernels
from ackclock.runs.run import TABLES
from live_support import KERNEL, in_guest, path
from support import Answer

#: The beginning of arch/um/Kconfig as 6.1, 6.12 and 7.2 have it, in our words but for the entry.
KCONFIG = (
    "config OTHER\n\tint\n\tdefault 100\n\nconfig HZ\n\tint\n\tdefault 100\n\nconfig X\n\tbool\n"
)
OFFSETS = (
    "#ifdef A\n\tDEFINE_LONGS(HOST_FP_SIZE, 2696);\n#else\n\tDEFINE(HOST_FP_SIZE, 1);\n#endif\n"
)
TEXTS = {
    "arch/um/Kconfig": KCONFIG,
    "arch/x86/um/user-offsets.c": OFFSETS,
    "net/ipv4/Makefile": "obj-y := tcp.o\n",
}
AMX = frozenset({"sse2", "amx_tile"})


def test_the_ticks_of_every_version_are_those_asked_for_and_nothing_else_is_changed() -> None:
    changed, names = patching.apply(TEXTS, "7.2.13", 1000, AMX)
    assert names == ["hz", "laws"]
    assert changed["net/ipv4/Makefile"] == "obj-y := tcp.o\n\nobj-y += ackclock/\n"
    assert changed["arch/um/Kconfig"] == KCONFIG.replace(
        "config HZ\n\tint\n\tdefault 100", "config HZ\n\tint\n\tdefault 1000"
    )


@pytest.mark.parametrize(
    ("version", "features", "names"),
    [
        ("6.12.117", AMX, ["hz", "fp-size", "laws"]),
        ("6.1.170", AMX, ["hz", "fp-size"]),
        # The registers of a processor without AMX fit into 2696 bytes.
        ("6.12.117", frozenset({"sse2"}), ["hz", "laws"]),
        # From 6.13 on, and before 6.1, it is not known to be wanted.
        ("6.13", AMX, ["hz", "laws"]),
        ("5.10.200", AMX, ["hz"]),
    ],
)
def test_older_kernels_get_place_for_the_registers_of_processors_with_amx(
    version: str, features: frozenset[str], names: list[str]
) -> None:
    changed, applied = patching.apply(TEXTS, version, 250, features)
    assert applied == names
    if "fp-size" in names:
        text = changed["arch/x86/um/user-offsets.c"]
        assert "DEFINE_LONGS(HOST_FP_SIZE, 12288);" in text
        assert "2696" not in text


def test_a_source_in_which_the_place_of_a_patch_is_not_once_is_refused() -> None:
    with pytest.raises(UnfinishedError, match="patch hz: arch/um/Kconfig has its place 0 times"):
        patching.apply({"arch/um/Kconfig": "config HZ\n\tint\n\tdefault 250\n"}, "7.2", 250, AMX)
    with pytest.raises(UnfinishedError, match="has its place 2 times, expected once"):
        patching.apply({"arch/um/Kconfig": KCONFIG + KCONFIG}, "7.2", 250, AMX)


def test_every_patch_says_why_and_versions_are_compared_as_numbers() -> None:
    assert all(patch.why.endswith(".") for patch in patching.patches())
    # As texts 6.9 would come behind 6.12.
    assert patching.versions("6.9.1") < patching.versions("6.12") < patching.versions("7.2-rc1")


def test_the_laws_of_the_papers_are_a_part_of_kernels_that_have_their_functions() -> None:
    sources = building.laws_of(["hz", "laws"])
    assert {"tahoe.c", "compound.c", "ccp.c", "playout.c", "device.c", "constants.h"} <= {
        name.rpartition("/")[2] for name in sources
    }
    assert all(name.startswith("net/ipv4/ackclock/") for name in sources)
    assert building.laws_of(["hz", "fp-size"]) == {}


def test_the_version_is_read_from_the_makefile() -> None:
    text = "# x\nVERSION = 7\nPATCHLEVEL = 2\nSUBLEVEL = 13\nEXTRAVERSION =\n"
    assert patching.version_of(text) == "7.2.13"
    with pytest.raises(BadInput, match="names no version"):
        patching.version_of("all:\n\ttrue\n")


def test_every_option_of_the_configuration_is_one_and_stands_once() -> None:
    folder = Path(patching.__file__).parent
    lines = [
        line
        for line in (folder / "options.config").read_text(encoding="utf-8").splitlines()
        if line.startswith("CONFIG_")
    ]
    assert all(re.fullmatch(r"CONFIG_[A-Z0-9_]+=(y|n)", line) for line in lines)
    assert len({line.partition("=")[0] for line in lines}) == len(lines)
    assert "CONFIG_UML_TIME_TRAVEL_SUPPORT=y" in lines


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ACKCLOCK_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "linux"


def manifest(version: str = "7.2.13", hz: int = 250, mode: str = "seccomp") -> kept.Manifest:
    return kept.Manifest(
        key=kept.key_of(version, hz, "", ("hz",)),
        version=version,
        hz=hz,
        mode=mode,
        config="0",
        patches=("hz",),
        compiler="gcc 12",
        source="linux-source-7.2 7.2.13-1",
        files=dict.fromkeys(kept.FILES, "0"),
    )


def put(told: kept.Manifest) -> kept.Kept:
    """Keep a kernel whose files are texts."""
    with kept.work_folder() as work:
        staged = work / "kept"
        staged.mkdir()
        for name in kept.FILES:
            (staged / name).write_text("#!/bin/sh\n", encoding="utf-8")
        return kept.keep(staged, told)


@pytest.mark.usefixtures("cache")
def test_the_cache_is_where_the_users_caches_are(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("ACKCLOCK_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert kept.cache() == tmp_path / "xdg" / "ackclock" / "linux"


def test_a_kernel_is_found_by_key_version_and_ticks(cache: Path) -> None:
    for each in (manifest(), manifest(hz=1000), manifest("6.12.117", mode="ptrace")):
        put(each)
    assert [it.manifest.version for it in kept.kernels()] == ["7.2.13", "7.2.13", "6.12.117"]
    assert kept.one(None).manifest.hz == 250
    for word in ("7.2, hz 1000", "7.2-hz1000", "7.2.13-hz1000", manifest(hz=1000).key[:-2]):
        assert kept.one(word).manifest == manifest(hz=1000), word
    assert kept.one("6.12").manifest == manifest("6.12.117", mode="ptrace")
    assert kept.one(manifest().key).folder == cache / manifest().key
    # 7.2 is no beginning of 7.21, and 6.1 none of 6.12.
    for word in ("6.1", "7.2, hz 100", "7.2-hz100", "7.2.1", "7.2-hz1000-zz", "seven", "7.2-x"):
        with pytest.raises(BadInput, match="is no kernel in the cache"):
            kept.one(word)


def test_a_kernel_that_is_not_whole_is_none(cache: Path) -> None:
    kernel = put(manifest())
    (kernel.folder / "init").unlink()
    assert kept.kernels() == []
    # A build that was killed leaves a folder without a manifest, and one of another name.
    (cache / ".building-x").mkdir()
    (cache / manifest(hz=1000).key).mkdir()
    assert kept.kernels() == []
    with pytest.raises(BadInput, match=r"ackclock linux build 7\.2"):
        kept.one("7.2")


def test_what_a_killed_build_left_goes_with_the_next(cache: Path) -> None:
    # No process has number 0 in /proc, and this one is alive.
    for name in (".building-0-x", f".building-{os.getpid()}-y"):
        (cache / name / "source").mkdir(parents=True)
    with kept.work_folder() as work:
        assert sorted(cache.iterdir()) == sorted((cache / f".building-{os.getpid()}-y", work))


def tree(folder: Path, rules: str) -> Path:
    """Return a source of so much of Linux as a build reads, with rules of make."""
    source = folder / "linux-7.2"
    made = f"VERSION = 7\nPATCHLEVEL = 2\nSUBLEVEL = 13\n{rules}"
    for name, text in {**TEXTS, "Makefile": made}.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text, encoding="utf-8")
    return source


def test_a_build_that_fails_leaves_nothing(cache: Path, tmp_path: Path) -> None:
    source = tree(tmp_path, "tinyconfig:\n\techo an error here; exit 1\n")
    if building.missing_tools():
        pytest.skip(f"no {', '.join(building.missing_tools())}")
    with pytest.raises(UnfinishedError, match=r"make tinyconfig failed: .*an error here"):
        building.build(building.Building(str(source)), lambda _: None)
    assert list(cache.iterdir()) == []
    # The user's own folder is as it was.
    assert (source / "arch/um/Kconfig").read_text(encoding="utf-8") == KCONFIG


def test_an_interrupt_of_a_build_leaves_nothing(cache: Path, tmp_path: Path) -> None:
    if building.missing_tools():
        pytest.skip(f"no {', '.join(building.missing_tools())}")
    rules = "tinyconfig:\n\ttouch .config\nolddefconfig:\n\ttrue\n"
    source = tree(tmp_path, f"{rules}vmlinux:\n\t@echo '  CC      a.o'; sleep 1000\n")

    def interrupt(words: str) -> None:
        if words == "compiling: 1 object":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        building.build(building.Building(str(source)), interrupt)
    assert list(cache.iterdir()) == []
    assert not [it for it in Path("/proc").glob("[0-9]*/cwd") if leads_to(it, cache)]


def test_a_kernel_that_is_there_is_not_built_again(cache: Path, tmp_path: Path) -> None:
    source = tree(tmp_path, "")
    if building.missing_tools():
        pytest.skip(f"no {', '.join(building.missing_tools())}")
    folder = Path(building.__file__).parent
    decided = [
        (folder / name).read_text(encoding="utf-8")
        for name in ("options.config", "init.c", "seeded.c")
    ]
    changed, names = patching.apply(TEXTS, "7.2.13", 250, frozenset())
    texts = (*changed.values(), *decided[1:], *building.laws_of(names).values())
    key = kept.key_of("7.2.13", 250, decided[0], (*names, *texts))
    put(replace(manifest(), key=key))
    found, is_new = building.build(building.Building(str(source)), lambda _: None)
    assert (found.folder, is_new) == (cache / key, False)


def test_the_key_knows_version_ticks_configuration_and_patches() -> None:
    keys = {
        kept.key_of("7.2.13", 250, "a", ("hz",)),
        kept.key_of("7.2.12", 250, "a", ("hz",)),
        kept.key_of("7.2.13", 1000, "a", ("hz",)),
        kept.key_of("7.2.13", 250, "b", ("hz",)),
        kept.key_of("7.2.13", 250, "a", ("hz", "fp-size")),
    }
    assert len(keys) == 5
    assert kept.key_of("7.2.13", 250, "a", ("hz",)).startswith("7.2.13-hz250-")


@pytest.mark.usefixtures("cache")
def test_the_manifest_says_the_licence_and_the_source_of_what_was_built() -> None:
    kernel = put(manifest())
    told = json.loads((kernel.folder / "manifest.json").read_text(encoding="utf-8"))
    assert "GPL-2.0" in told["licence"]
    assert told["source"] == "linux-source-7.2 7.2.13-1"
    assert told == json.loads(json.dumps(asdict(kernel.manifest)))


@pytest.mark.usefixtures("cache")
def test_the_command_line_of_a_guest_names_no_folder_of_a_run() -> None:
    kernel = put(manifest())
    line = booting.command_line(kernel, booting.Boot(["/bin/true"], folder="/somewhere", seed=7))
    assert line[0] == str(kernel.folder / "linux")
    assert not any("somewhere" in word or "7" in word.split("=")[0] for word in line[1:])
    assert {"time-travel=inf-cpu", "seccomp=on", "mem=512M", "umid=ackclock"} <= set(line)
    old = put(manifest("6.12.117", mode="ptrace"))
    # A kernel without the option would read it as a variable of its first process.
    assert "seccomp=on" not in booting.command_line(old, booting.Boot(["/bin/true"]))


def test_the_job_is_strings_that_end_with_a_zero() -> None:
    wish = booting.Boot(["/bin/echo", "a b"], {"A": "1"}, folder="/tmp", limit_s=9, ipv6=True)  # noqa: S108
    assert wish.job() == b"c/tmp\0l9\x006\0eA=1\0a/bin/echo\0aa b\0"
    with pytest.raises(BadInput, match="has a zero in it"):
        booting.Boot(["/bin/echo", "a\0b"]).job()


@pytest.mark.usefixtures("cache")
def test_a_kernel_that_ends_before_its_program_is_told_in_a_line(tmp_path: Path) -> None:
    kernel = put(manifest())
    linux = kernel.folder / "linux"
    linux.write_text("#!/bin/sh\necho Kernel panic - not syncing: no init\n", encoding="utf-8")
    linux.chmod(0o755)
    with pytest.raises(
        UnfinishedError, match=r"7\.2\.13-hz250-.* ended before its program did: Kern"
    ):
        booting.boot(kernel, booting.Boot(["/bin/true"]), tmp_path)


@pytest.mark.usefixtures("cache")
def test_a_guest_whose_clock_stands_while_it_computes_is_ended(tmp_path: Path) -> None:
    kernel = put(manifest())
    linux = kernel.folder / "linux"
    # It stands for a kernel: its clock comes to 2.5 s, and then it computes for ever.
    text = "#!/bin/sh\necho 02500000000 > beat\nwhile :; do :; done\n"
    linux.write_text(text, encoding="utf-8")
    linux.chmod(0o755)
    with pytest.raises(UnfinishedError, match=r"its clock stands at 2\.5 s since its boot"):
        booting.boot(kernel, booting.Boot(["/bin/true"], bound_s=0.3), tmp_path)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("late", "it went on for 9 s of the guest's clock"),
        ("signal 11", "the guest's program was ended by signal 11"),
        ("init /proc: Permission denied", "the guest did not come up: /proc: Permission denied"),
    ],
)
@pytest.mark.usefixtures("cache")
def test_the_end_of_a_guest_is_told(status: str, said: str, tmp_path: Path) -> None:
    kernel = put(manifest())
    linux = kernel.folder / "linux"
    linux.write_text(f"#!/bin/sh\nprintf '{status}' > status\n", encoding="utf-8")
    linux.chmod(0o755)
    with pytest.raises(UnfinishedError, match=re.escape(said)):
        booting.boot(kernel, booting.Boot(["/bin/true"], limit_s=9), tmp_path)


@pytest.mark.usefixtures("cache")
def test_bad_words_are_told_in_a_line(
    ackclock: Callable[..., Answer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.json").write_text(json.dumps(path(duration="1 s")), encoding="utf-8")
    (tmp_path / "empty").mkdir()
    put(manifest())
    for words, said in (
        (("linux", "build", "seven"), "`seven` is neither a version such as 7.2 nor a file"),
        (("linux", "build", "empty"), "there is no source of Linux in it"),
        (("linux", "build", "7.2", "--hz", "100"), "100"),
        (("linux", "remove", "7.2.13"), f"expected one of {manifest().key}"),
        (("linux", "check", "6.12"), "`6.12` is no kernel in the cache"),
        (("run", "one.json", "--on", "linux", "--linux", "6.12"), "`6.12` is no kernel"),
        (("run", "one.json", "--linux", "7.2"), "expected --on linux beside it"),
        (("run", "one.json", "--on", "linux", "--busy"), "--busy: a guest's clock waits"),
    ):
        answer = ackclock(*words)
        assert answer.code == 2, words
        assert answer.err.count("\n") == 1, answer.err
        assert said in answer.err, answer.err


def test_what_a_build_lacks_is_named_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    lacking = {"flex", "bc"}

    def which(tool: str) -> str | None:
        return None if tool in lacking else f"/usr/bin/{tool}"

    monkeypatch.setattr(building.shutil, "which", which)
    with pytest.raises(BadInput, match=r"this machine lacks flex, bc$"):
        building.build(building.Building("7.2"), lambda _: None)


def test_another_processor_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    with pytest.raises(BadInput, match="for Linux on x86-64, and this machine is Linux on aarch64"):
        building.refuse_machine()


def test_a_version_that_no_package_has_needs_a_tarball(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sources.shutil, "which", {}.get)
    with pytest.raises(BadInput, match=r"no apt-get here .* expected the path of a tarball"):
        sources.fetch("7.2", tmp_path, lambda _: None)


def test_programs_are_run_in_a_guest_only_if_they_are_allowed() -> None:
    app = {"kind": "program", "sender": ["true"], "receiver": ["true"]}
    flow = {"name": "a", "variant": "cubic", "from": "s", "to": "r", "app": app}
    table = path(duration="1 s", flow=[flow])
    with pytest.raises(BadInput, match="expected allow_programs=True"):
        running.run_linux(ac.Scenario.from_dict(table))


def _left(folder: Path) -> dict[str, bytes]:
    return {name: (folder / f"{name}.parquet").read_bytes() for name in TABLES}


@in_guest
def test_two_runs_in_a_guest_leave_the_same_bytes_and_another_seed_others(tmp_path: Path) -> None:
    scenario = ac.Scenario.from_dict(path(duration="1 s", seed=3))
    for name, seed in (("a", None), ("b", None), ("c", 4)):
        run = ac.run(scenario, on="linux", seed=seed)
        assert run.live is not None
        assert run.live["substrate"] == "linux"
        assert run.live["linux"]["hz"] in building.TICKS
        assert run.live["valid"]
        run.write(tmp_path / name)
    assert _left(tmp_path / "a") == _left(tmp_path / "b")
    assert _left(tmp_path / "a") != _left(tmp_path / "c")


def _web(rate: str, duration: str) -> ac.Scenario:
    """Return web traffic over a path that adds next to nothing to its private lines."""
    web = ac.Traffic(
        "web", "reno", arrivals=ac.PackMimeArrivals(rate), app=ac.PackMime(), profile="linux",
        from_node="c", to_node="s",
    )  # fmt: skip
    link = ac.GraphLink("path", from_node="s", to_node="c", rate="1 Gbit/s", delay="0 s")
    return ac.Scenario(duration=duration, topology=ac.graph([link]), flows=[], traffic=[web])


@in_guest
def test_web_traffic_in_a_guest_has_the_private_lines_of_the_simulation() -> None:
    scenario = _web("20 /s", "3 s")
    simulated, run = (ac.run(scenario, on=place).rows("connections") for place in ("sim", "linux"))
    base = {row["connection"]: row["base_rtt_s"] for row in simulated}
    seen = 0
    for row in run:
        again = row["syn_retransmits"] + row["synack_retransmits"]
        if row["established_s"] is not None and not again:
            # SYN and SYN-ACK take half a microsecond each; wake-ups some more.
            least = base[row["connection"]]
            assert least < row["established_s"] - row["opened_s"] < least + 0.0002
            seen += 1
    assert seen > 40


@in_guest
def test_more_connections_at_once_than_sockets_are_told_in_a_line() -> None:
    # 1200 open within 20 ms, and none is over before the 4 s of a round trip.
    scenario = _web("60000 /s", "1 s")
    (web,) = scenario.traffic
    line = ac.AccessLine(delay="2 s")
    held = replace(web, arrivals=ac.Poisson("60000 /s"), app=ac.Request("1 kB"),
                   access=ac.Access(client=line), count=1200)  # fmt: skip
    with pytest.raises((BadInput, UnfinishedError), match="more than 1000 connections"):
        ac.run(replace(scenario, traffic=[held]), on="linux")


@in_guest
def test_sleep_takes_no_time_and_loops_are_ended(tmp_path: Path) -> None:
    kernel = kept.one(None)
    (tmp_path / "a").mkdir()
    ended = booting.boot(kernel, booting.Boot(["/bin/sleep", "100"]), tmp_path / "a")
    assert ended.code == 0
    assert 100 <= ended.guest_s < 101
    (tmp_path / "b").mkdir()
    loop = booting.Boot(["/bin/sh", "-c", "while :; do :; done"], bound_s=2)
    with pytest.raises(UnfinishedError, match="the guest computes and its clock stands"):
        booting.boot(kernel, loop, tmp_path / "b")
    (tmp_path / "c").mkdir()
    late = booting.Boot(["/bin/sleep", "1000"], limit_s=20)
    with pytest.raises(UnfinishedError, match="it went on for 20 s of the guest's clock"):
        booting.boot(kernel, late, tmp_path / "c")
    assert not [it for it in Path("/proc").glob("[0-9]*/cwd") if leads_to(it, tmp_path)]


#: A handshake and a segment, and a line that is false of the kernel's first segment.
_SCRIPT = """\
0   socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0  bind(3, ..., ...) = 0
+0  listen(3, 1) = 0
+0  < S 0:0(0) win 65535 <mss 1000>
+0  > S. 0:0(0) ack 1 <...>
+.1 < . 1:1(0) ack 1 win 65535
+0  accept(3, ..., ...) = 4
+0  write(4, ..., 1000) = 1000
+0  > P. 1:1001(1000) ack 1
"""


@in_guest
def test_a_script_in_a_guest_does_not_know_of_the_others(tmp_path: Path) -> None:
    folder = tmp_path / "scripts"
    folder.mkdir()
    # Two guests: one is given 24 scripts.
    for number in range(26):
        wrong = _SCRIPT.replace("1:1001(1000)", "1:1000(999)")
        text = wrong if number % 5 == 0 else _SCRIPT
        (folder / f"{number:02}.pkt").write_text(text, encoding="utf-8")
    other = tmp_path / "00.pkt"
    other.write_text(_SCRIPT, encoding="utf-8")
    results = [
        ac.drill([folder, other], on="sim,linux", profile="linux", pcap=tmp_path / name, threads=n)
        for name, n in (("a", 1), ("b", 2))
    ]
    assert results[0].to_dict() == results[1].to_dict()
    # 26 scripts and one, on two stacks; those with 0, 5, 10, 15, 20 and 25 are wrong on both.
    assert (results[0].passed, results[0].failed, results[0].again) == (42, 12, 0)
    assert [script.on for script in results[0].scripts[:2]] == ["sim", "linux"]
    # Packets of a script do not depend on its place among others.
    ours = [script.packets for script in results[0].scripts if script.on == "linux"]
    assert ours[1] == ours[24] == ours[26]
    names = [path.name for path in results[0].captures]
    assert len(set(names)) == len(names) == 54
    assert {"00-sim.pcapng", "00-linux.pcapng", "00-linux~2.pcapng"} <= set(names)
    left = [{path.name: path.read_bytes() for path in (tmp_path / x).iterdir()} for x in "ab"]
    assert left[0] == left[1]


@in_guest
def test_cases_in_a_guest_have_the_same_answers_each_time(tmp_path: Path) -> None:
    one, other = (
        ac.judge(grid=False, random=12, seed=2, on="linux", out=tmp_path / name, at_once=n)
        for name, n in (("a", 1), ("b", 2))
    )
    assert one.cases == 12
    shown = [[(it.case, it.kind, it.script) for it in each.differences] for each in (one, other)]
    assert shown[0] == shown[1]
    assert (one.alike, one.unsteady, one.meant) == (other.alike, other.unsteady, other.meant)
    for difference in one.differences:
        assert difference.file is not None
        assert difference.script.startswith(f"// Kernel: Linux {KERNEL} in virtual time\n")
        assert ac.drill(difference.file, on="linux").passed == 1


@pytest.mark.usefixtures("cache")
def test_a_script_with_which_a_guest_dies_has_failed_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = put(manifest())
    how: dict[str, Any] = {
        "profile": "rfc", "settings": [], "compare_push": False, "strict_end": False,
        "on": "linux",
    }  # fmt: skip
    scripts = [(f"{number}.pkt", _SCRIPT) for number in range(5)]

    @contextmanager
    def called(_: kept.Kept, job: calling.Job, __: object) -> Generator[calling.Left]:
        given = job.options["scripts"][job.options["elsewhere"] :]
        if ("3.pkt", _SCRIPT) in given:
            raise UnfinishedError("the guest computes and its clock stands")
        passed = _core.drill(given, {**how, "on": "sim"}).part()
        yield calling.Left(passed, tmp_path, 0.0)

    monkeypatch.setattr(calling, "called", called)
    read = json.loads(drilling.drill(told, scripts, how).to_json())
    assert [row["passed"] for row in read["scripts"]] == [True, True, True, False, True]
    failure = read["scripts"][3]["failure"]["message"]
    assert failure == "the guest: the guest computes and its clock stands"


def leads_to(link: Path, folder: Path) -> bool:
    try:
        return str(link.readlink()).startswith(str(folder))
    except OSError:
        return False


@pytest.mark.parametrize(
    "word",
    [
        *("tahoe", "compound", "ccp(1)", "ccpd(1,2000)", "playout"),
        *("cubic+newcwv", "reno+tsl(3,16)", "vegas+cwv"),
    ],
)
@in_guest
def test_a_law_that_is_a_part_of_the_kernel_has_the_window_of_the_law_in_rust(word: str) -> None:
    if "laws" not in kept.one(None).manifest.patches:
        pytest.skip(f"{kept.one(None).manifest.key} was built without our laws")
    table = path(duration="2 s", seed=3)
    table["flow"][0]["variant"] = word
    run = ac.run(ac.Scenario.from_dict(table), on="linux")
    assert run.live is not None
    (law,) = run.live["kernel_laws"]
    # Under this profile a law of Linux is in the form that Linux has.
    assert law["word"].replace("(linux)", "") == word
    # 2 s of 20 Mbit/s are 3,300 segments, which are acknowledged two at a time at most.
    assert law["judged_acks"] > 1000
    assert (law["apart_acks"], law["interrupted"]) == (0, 0)


@pytest.mark.usefixtures("cache")
def test_two_kernels_are_told_apart_by_what_shows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for each in (manifest(), manifest(hz=1000)):
        put(each)
    settings = {
        250: {"tcp_ecn": ["2", "0", "1", "2"], "tcp_old": ["30"], "tcp_sack": ["1", "0", "1"]},
        1000: {"tcp_ecn": ["2", *"012345"], "tcp_sack": ["0", "0", "1"]},
    }

    @contextmanager
    def called(kernel: kept.Kept, job: calling.Job, _: object) -> Generator[calling.Left]:
        """Stand for a guest: our end point, and answers a tick apart."""
        hz = kernel.manifest.hz
        told: object = settings[hz]
        if job.name == "drill":
            given = job.options["scripts"][job.options["elsewhere"] :]
            told = _core.drill(given, {**job.options["how"], "on": "sim"}).part()
        elif job.name == "answers":
            answer = {"at": hz, "packet": "> . 1:1(0) ack 1 win 250"}
            told = json.dumps([{"Ok": [[answer], "0 s"]} for _ in json.loads(job.options["cases"])])
        yield calling.Left(told, Path(), 0.0)

    def run(_: ac.Scenario, linux: str, **__: object) -> object:
        rates = {"goodput_bps": 9e6, "segments_sent": 10, "segments_retransmitted": "1000" in linux}
        return SimpleNamespace(rows={"flows": [rates]}.__getitem__)

    monkeypatch.setattr(calling, "called", called)
    monkeypatch.setattr(kernels, "run_linux", run)
    found = kernels.diff("7.2, hz 250", "7.2, hz 1000", quick=True)
    by_kind = {kind: [it for it in found.differences if it.kind == kind] for kind in found.tried}
    assert [it.what for it in by_kind["setting"]] == ["tcp_ecn, its values", "tcp_old", "tcp_sack"]
    assert [it.name for it in by_kind["setting"]] == ["", "", "tcp_sack.pkt"]
    assert '`sysctl -q net.ipv4.tcp_sack="0"`' in by_kind["setting"][2].text
    # The shortest run that shows it: a second.
    assert [it.what for it in by_kind["law"]] == [
        f"{law}, 1 s" for law in ("reno", "cubic", "bbr1", "dctcp")
    ]
    # Both are our end point.
    assert by_kind["script"] == []
    # 250 and 1000 ns are one time.
    assert by_kind["case"] == []
    page = found.page()
    assert page.startswith("# Linux 7.2.13-hz250-")
    assert "| tcp_sack | `1` | `0` | [tcp_sack.pkt](tcp_sack.pkt) |" in page
    assert set(found.files()) == {
        "tcp_sack.pkt",
        *(f"{it}.json" for it in ("reno", "cubic", "bbr1", "dctcp")),
    }
    with pytest.raises(BadInput, match=r"both are 7\.2\.13-hz250-.*, expected two kernels"):
        kernels.diff("7.2, hz 250", "7.2, hz 250")


@in_guest
def test_a_receiver_in_a_guest_acknowledges_as_often_as_a_simulated_one() -> None:
    """Sockets that are written to at each chance send single segments with PSH.

    Each of them has an ACK: then 3,976 came back of this run, and 2,690 do as it should be.
    """
    scenario = ac.Scenario(
        ac.Path("20 Mbit/s", "40 ms", buffer="1 BDP"),
        [ac.Flow("cubic", name="a", profile="linux")],
        duration="3 s",
    )
    acks = [
        next(row["offered_packets"] for row in run.rows("links") if row["direction"] == "reverse")
        for run in (ac.run(scenario), ac.run(scenario, on="linux"))
    ]
    assert acks[1] == pytest.approx(acks[0], rel=0.1)


def test_a_guest_has_memory_for_what_receivers_may_hold() -> None:
    def memory(*tcp: dict[str, Any], count: int = 1) -> str:
        return running.memory_of({"flow": [{"tcp": each, "count": count} for each in tcp]})

    # Twice 128 MiB are one step of 256 MiB, which the usual memory has room for.
    assert memory({}, {"receive_window": "128 MiB"}) == booting.Boot.memory == "512M"
    # 2 * 256e6 / 2^28 = 1.9 steps, beside the usual two.
    assert memory({"receive_window": "256 MB"}) == "1024M"
    assert memory({"receive_autotune": {"initial": "128 KiB", "most": "256 MB"}}) == "1024M"
    assert memory({"receive_window": "96 MiB"}, count=4) == "1280M"
    assert memory({"receive_window": "256 MB"}, count=99) == "4608M"


@in_guest
def test_a_receiver_in_a_guest_holds_what_its_window_allows() -> None:
    """A kernel drops what has arrived, beyond a tenth of its memory: 48 MiB of 512.

    A player whose film of 100 s was sent in 6 s reads 20 of 120 MB in that time.
    """
    film = ac.Video(size="120 MB", length="100 s", buffer="4 MB")
    scenario = ac.Scenario(
        ac.Path("160 Mbit/s", "4 ms", buffer="2 BDP"),
        [ac.Flow("cubic", name="a", profile="linux", app=film,
                 tcp=ac.Tcp(mss="8960 B", receive_window="256 MB"))],
        duration="8 s",
    )  # fmt: skip
    run = ac.run(scenario, on="linux")
    (row,) = (row for row in run.rows("flows") if row["measure"] == "run")
    assert row["timeouts"] == 0
    # 120 MB at 160 Mbit/s less 0.6 % of headers.
    assert row["completed_s"] == pytest.approx(6.0, abs=0.3)


@in_guest
def test_a_packet_at_the_beginning_of_a_run_is_offered_in_it() -> None:
    scenario = ac.Scenario(
        ac.Path("20 Mbit/s", "40 ms", buffer="1 BDP"),
        [ac.Flow("cubic", name="a", profile="linux", start="0.5 s")],
        duration="1 s",
        cross_traffic=[
            ac.CrossTraffic("bottleneck", "10 packet/s", "500 B", kind="periodic", phase=0.0)
        ],
    )
    run = ac.run(scenario, on="linux")
    (row,) = run.sources.to_polars().rows(named=True)
    # At 0, 0.1 ... 0.9 s, and perhaps at the end.
    assert row["offered_packets"] in (10, 11)
    assert row["delivered_packets"] <= row["offered_packets"]


@in_guest
def test_the_least_timeout_of_a_scenario_is_the_kernels() -> None:
    """A route's ``rto_min`` counts if it is locked alone: without, the timeout was 0.24 s."""
    scenario = ac.Scenario(
        ac.Path("5 Mbit/s", "40 ms", buffer="1 BDP"),
        [ac.Flow("reno", name="a", profile="linux", tcp=ac.Tcp(min_rto="1 s"))],
        duration="3 s",
    )
    (row,) = (row for row in ac.run(scenario, on="linux").rows("flows") if row["measure"] == "run")
    # The smoothed round trip and what it varies, or a second if that is more.
    assert row["rto_mean_s"] - row["srtt_mean_s"] == pytest.approx(1.0, abs=0.01)


@in_guest
def test_a_window_in_a_guest_stays_as_large_as_asked_and_acks_come_for_pairs() -> None:
    """The first full segment has the kernel set a larger bound, and a window that grows is told.

    Then 1,578 ACKs answered 1,677 segments; now 799 answer 1,803, and 798 do in the simulation.
    """
    scenario = ac.Scenario(
        ac.Path("10 Mbit/s", "40 ms", buffer="8 BDP"),
        [ac.Flow("cubic", name="a", profile="linux", tcp=ac.Tcp(receive_window="16 MB"))],
        duration="2 s",
    )
    acks = [
        next(row["offered_packets"] for row in run.rows("links") if row["direction"] == "reverse")
        for run in (ac.run(scenario), ac.run(scenario, on="linux"))
    ]
    assert acks[1] == pytest.approx(acks[0], rel=0.05)


def test_each_guest_has_a_processor_of_its_own_while_one_is_free(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Numbers that no machine has: no guest of another test holds them.
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {9001, 9002})
    with booting._processor() as first, booting._processor() as second:  # noqa: SLF001
        assert (first, second) == (9001, 9002)
        with booting._processor() as third:  # noqa: SLF001 - none is free
            assert third in {9001, 9002}
    with booting._processor() as first:  # noqa: SLF001
        assert first == 9001


@in_guest
def test_a_probe_of_every_change_in_a_guest_sees_the_window_at_each_ack() -> None:
    """Looks each 10 ms saw 999 samples and 32 of the 58 windows of this run."""
    scenario = ac.Scenario(
        ac.Path("10 Mbit/s", "40 ms", buffer="1 BDP"),
        [ac.Flow("cubic", name="a", profile="linux")],
        duration="10 s",
        probes=[ac.Probe(flow="a", what=["cwnd", "ssthresh", "srtt"], every="change")],
    )
    runs = [ac.run(scenario), ac.run(scenario, on="linux")]
    # The simulation's first windows are those before the connection and of its opening.
    simulated, real = ({row["cwnd_segments"] for row in run.rows("flow_samples")} for run in runs)
    assert runs[1].live["per_ack"] == "tcp:tcp_probe"
    assert simulated - real <= {1.0}
    assert len(runs[1].rows("flow_samples")) > 3000


@in_guest
def test_a_probe_in_a_guest_sees_the_window_at_its_own_interval() -> None:
    """Without a probe a path of 200 ms is looked at each 50 ms; then it saw 20 windows of 88."""
    scenario = ac.Scenario(
        ac.Path("20 Mbit/s", "200 ms", buffer="1 BDP"),
        [ac.Flow("reno", name="a", profile="linux")],
        duration="2 s",
        probes=[ac.Probe(flow="a", what=["cwnd"], every="10 ms")],
    )
    seen = [len(set(run.flow_samples["cwnd_segments"]))
            for run in (ac.run(scenario), ac.run(scenario, on="linux"))]  # fmt: skip
    assert seen[1] == pytest.approx(seen[0], rel=0.2), seen
