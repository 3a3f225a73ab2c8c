"""The compiled core. Text in, Arrow out: every table implements the Arrow PyCapsule interface."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self, final

__all__ = [
    "Ack",
    "BadInput",
    "Congestion",
    "Delivery",
    "Drill",
    "LostData",
    "Place",
    "Proposal",
    "RecoveryEnd",
    "RouterBench",
    "RttSample",
    "Run",
    "SendStart",
    "Start",
    "Table",
    "Worlds",
    "allow",
    "altman_infer",
    "altman_predict",
    "answer",
    "answer_of",
    "answers",
    "bench_dumbbell",
    "bench_short",
    "bits_per_second",
    "build",
    "canonical",
    "check_law",
    "check_runs",
    "check_scenario",
    "closed_to_programs",
    "copy_file",
    "departures",
    "drill",
    "judge",
    "kernel",
    "law_trace",
    "law_variables",
    "live",
    "load_law",
    "load_law_at",
    "load_scenario",
    "packmime",
    "play",
    "programs_asked",
    "read_columns",
    "read_table",
    "register_law",
    "registry",
    "response",
    "rules",
    "schema",
    "scripts",
    "seconds",
    "senders",
    "share",
    "simulate",
    "simulate_cells",
    "simulate_many",
    "simulate_to",
    "tables",
    "tell_exits",
    "theory",
    "throughput",
    "try_file",
    "undrilled",
    "variant_name",
    "variant_slug",
    "version",
    "write_file",
]

class BadInput(ValueError):
    """Input that cannot be used; its text is one line: where, what was expected, the nearest valid word."""

@final
class Table:
    """An Arrow table, read without a copy by pyarrow, Polars, pandas and DuckDB."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def __len__(self) -> int: ...
    @property
    def column_names(self) -> list[str]: ...
    def column(self, name: str) -> list[Any]:
        """Return the values of a column, None where there is none. Raises KeyError."""

    def to_pylist(self) -> list[dict[str, Any]]:
        """Return the rows, each a dict by column."""

    def slice(self, start: int, length: int) -> Table:
        """Return the rows from ``start`` on, ``length`` at most."""

    def with_text(self, name: str, text: str) -> Table:
        """Return the rows of which a column has this text. Raises KeyError."""

    def equals(self, other: Table) -> bool:
        """Return True if both tables have the same columns and values."""

@final
class Run:
    """The tables of one run, or of many runs under a column ``cell``."""

    def table(self, name: str) -> Table:
        """Return the table of a name. Raises KeyError."""

    @property
    def events(self) -> int: ...
    @property
    def captures(self) -> list[Path]: ...
    @property
    def live_report(self) -> str | None: ...
    @property
    def theory_report(self) -> str | None: ...
    @property
    def random(self) -> bool | None:
        """True if random numbers were drawn; None of live runs, of theory and of many runs."""

    def scenarios(self) -> list[str]:
        """Return the scenarios that were run, each as JSON text: with the seed, and the rate that a search found."""

    def streamed(self) -> list[str]:
        """Return the names of tables of which rows were written on the way and are in their files alone."""

    def write(self, directory: str) -> None:
        """Write every table as ``DIRECTORY/<table>.parquet``, each whole or not at all."""

@final
class Drill:
    """The outcomes of packetdrill scripts."""

    @property
    def captures(self) -> list[Path]: ...
    def tap(self, notes: bool = False, packets: bool = False) -> str:
        """Return the outcomes in the Test Anything Protocol, with notes and packets as comments or without."""

    def to_json(self) -> str:
        """Return the outcomes as JSON: {passed, failed, notes, scripts}."""

    def part(self) -> str:
        """Return all of it as JSON that ``joined`` reads."""

    def beside(self, other: Drill) -> str:
        """Return as JSON where another stack's packets differ first, of the same scripts; both have one stack."""

    @staticmethod
    def joined(parts: Sequence[str]) -> Drill:
        """Return what several calls left, of the scripts in their order, as the outcomes of one."""

@final
class Place:
    """A folder that a run writes into, tried, locked until it is closed, cleared of what killed runs left."""

    def __new__(cls, path: str) -> Place: ...
    def expect(self, names: Sequence[str] = ..., tables: bool = False) -> None:
        """Try the names that files in it will have; ``tables`` are those of a run."""

    def stage(self, name: str, content: bytes) -> None:
        """Write a file that gets its name, which may lie in folders below, by ``commit``."""

    def commit(self, gone: Sequence[str] = ...) -> None:
        """Give all files that were staged their names, together; those called ``gone`` go."""

    def close(self) -> None:
        """Let others have the folder; what was staged and not committed goes."""

def write_file(path: str, content: bytes) -> None:
    """Write a file by itself, whole or not at all. Raises OSError, whose text is one line."""

def copy_file(source: str, path: str) -> None:
    """Write what another file holds, with its rights. Raises OSError, whose text is one line."""

def try_file(path: str) -> None:
    """Say whether a file can be written, before work begins. Raises OSError, whose text is one line."""

def answer(request: str, folder: str, progress: Callable[[float], None] | None = None) -> bytes:
    """Answer a request of the page for browsers (JSON text); files are read in ``folder`` alone. Releases the GIL."""

def answer_of(run: Run) -> bytes:
    """Return a run in the form of an answer; of rows of one under way, the tables that have some. Raises BadInput."""

def version() -> str: ...
def rules() -> str:
    """Return the version of the engine's rules: a hash of the sources that decide numbers."""

def build() -> str:
    """Return the kind of build: ``dev``, ``wheel``, ``wheel without a profile``, or ``unknown``."""

def schema() -> str:
    """Return the JSON schema of a scenario, as JSON text."""

def load_scenario(path: str) -> str:
    """Read a TOML (or .json) scenario file and return it as JSON text. Raises BadInput."""

def read_columns(table: str) -> str:
    """Return a table (JSON text) with the list of the file of numbers that it names. Raises BadInput."""

def read_table(path: str, columns: Sequence[str] | None = None) -> Table:
    """Read a table that a run wrote, or of its columns those that are named. Raises BadInput."""

def throughput(samples: Table, every_s: float, end_s: float, cell: int | None = None) -> Table:
    """Return the throughput of flows over time, from the table ``flow_samples``. Raises BadInput."""

def check_scenario(scenario: str) -> str:
    """Validate a scenario given as JSON text and return it with defaults. Raises BadInput."""

def seconds(key: str, text: str) -> float:
    """Return the seconds of a duration such as ``30 ms``, which stands under ``key``. Raises BadInput."""

def bits_per_second(key: str, text: str) -> float:
    """Return the bits per second of a rate such as ``10 Mbit/s``, which stands under ``key``. Raises BadInput."""

def load_law(name: str, path: str) -> None:
    """Load the law of a shared library under a name, for as long as this process runs. Raises BadInput."""

def load_law_at(name: str, address: int) -> None:
    """Register the law whose table of callbacks is at an address of this process. Raises BadInput."""

def tell_exits(descriptor: int) -> None:
    """Have the exit code of a law that ends this process by ``exit`` be written to a descriptor, as a byte."""

def check_law(
    law: str, stories: int, seed: int, only: int | None = None, trail: str | None = None
) -> str:
    """Tell a law stories and hold it against the rules of growth laws; return JSON. Raises BadInput."""

def law_trace(file: str, variant: str, profile: str, mss: int, stamp_offset: int) -> str:
    """Compare a sender's windows with those of a recorded trace; return JSON. Raises BadInput."""

def register_law(name: str, make: Callable[[], Any], base: type) -> None:
    """Register a class, or whatever makes laws, under a name. ``base`` is ``ackclock.Growth``. Raises BadInput."""

@final
class Worlds:
    """Runs with learners in them, which go on step by step and together."""

    def __new__(
        cls,
        count: int,
        learners: int,
        threads: int | None = None,
        windows: bool = False,
        follows: str | None = None,
        numbered: bool = False,
    ) -> Self: ...
    @staticmethod
    def fields() -> list[str]:
        """Return the names of a record's fields, in their order."""

    def reset(self, number: int, scenario: str) -> list[str]:
        """Begin a world anew with a scenario (JSON text); return the names of its learners. Raises BadInput."""

    def step(self, actions: Any, intervals: Any, records: Any, over: Any) -> None:
        """Step all worlds: buffers of float64, but ``over`` of uint8. Raises BadInput."""

    def now_s(self, number: int) -> float | None:
        """Return the simulated time of a world in seconds, or None before its first ``reset``."""

@final
class Start:
    """The handshake is done, and the first window set."""

    now_s: float
    """Seconds since the run began."""
    srtt_s: float | None
    """The smoothed round-trip time; None before the first sample."""
    mss_bytes: int
    """The payload of a full segment."""
    seed: int
    """The seed of whatever the law draws at random."""

@final
class Ack:
    """An ACK on which the window may grow."""

    now_s: float
    newly_acked_bytes: int
    """Data acknowledged for the first time; 0 if the ACK only SACKs."""
    newly_delivered_bytes: int
    """Data that it shows to have arrived for the first time, SACK included."""
    una_seq: int
    """SND.UNA after it, counted from the SYN."""
    nxt_seq: int
    """SND.NXT: a round that begins now ends when this is acknowledged."""
    rtt_s: float | None
    """The round-trip time that this ACK shows; None without one."""
    srtt_s: float | None
    in_flight_before_bytes: int
    """Data in flight before it."""
    in_flight_bytes: int
    """Data in flight after it."""
    limited_by: Literal["application", "cwnd", "rwnd", "pacing"]
    """The limit that kept the sender from sending more when the acknowledged data was in flight."""
    in_recovery: bool
    """True while lost data is repaired."""
    in_slow_start: bool
    """True if the window was below ssthresh before it."""
    slow_start_increase_bytes: int
    """The growth that the slow-start law offers; 0 outside slow start."""
    slow_start_left_over_bytes: int
    """The acknowledged data beyond that, where slow start ends with this ACK."""
    slow_start_ends: bool
    """True if slow start ends here although nothing was lost."""
    mss_bytes: int

@final
class RttSample:
    """A round-trip time was measured."""

    now_s: float
    rtt_s: float
    """The round-trip time, on any ACK."""

@final
class SendStart:
    """Data is about to go out while nothing is outstanding (a law that models the path: in flight)."""

    now_s: float
    last_send_s: float | None
    """When data went out last; None if none did."""
    nxt_seq: int
    """SND.NXT, the number of the first byte that goes out."""
    app_limited: bool
    """True if the application had nothing to send. Only of a law that models the path."""

@final
class Congestion:
    """The network is congested."""

    now_s: float
    signal: Literal["loss", "ecn", "ecn_abe", "timeout"]
    """A loss, once an episode; a mark, with ABE or without; each timeout."""
    consecutive_timeouts: int
    """Timeouts in a row, from 1; 0 without a timeout."""
    reduce_from_bytes: int
    """The volume that the reduction starts from."""
    mss_bytes: int

@final
class RecoveryEnd:
    """All that was lost is repaired."""

    now_s: float
    in_flight_bytes: int
    newly_delivered_bytes: int
    at_most_bytes: int | None
    """The most that the window may be, if the recovery says so."""
    mss_bytes: int

@final
class Proposal:
    """Another rule proposes a window."""

    cwnd_bytes: int | None
    """The window that the rule wants; None leaves it."""
    ssthresh_bytes: int | None
    """The threshold that the rule wants; None leaves it."""
    mss_bytes: int
    why: Literal["established", "idle", "jump"]
    """The first window, silence, or a jump past slow start."""

@final
class Delivery:
    """An ACK, as a law that models the path sees it."""

    now_s: float
    newly_delivered_bytes: int
    newly_lost_bytes: int
    """Data found lost by it."""
    delivered_bytes: int
    """Data delivered since the connection began."""
    lost_bytes: int
    """Data found lost since the connection began."""
    has_sample: bool
    """True if it has a sample of the delivery rate."""
    sample_delivered_bytes: int
    """Data delivered in the interval of the sample."""
    sample_interval_s: float | None
    """None if the sample is of no use."""
    sample_prior_delivered_bytes: int
    """Data delivered when the sample's segment was sent."""
    sample_tx_in_flight_bytes: int
    """Data in flight when the sample's segment was sent, itself included."""
    sample_lost_bytes: int
    """Data found lost since the sample's segment was sent."""
    sample_is_app_limited: bool
    """True if the application had no more to send then."""
    rtt_s: float | None
    srtt_s: float | None
    in_flight_before_bytes: int
    in_flight_bytes: int
    is_cwnd_limited: bool
    """True if the window was in full use at some moment of the last round trip."""
    repair: Literal["none", "recovery", "after_timeout"]
    """None, a recovery, or one after a timeout."""
    mss_bytes: int

@final
class LostData:
    """A segment was found lost."""

    now_s: float
    start_seq: int
    """Its first byte, counted from the SYN."""
    end_seq: int
    """The byte behind its last one."""
    tx_in_flight_bytes: int
    """Data in flight when it was sent, itself included."""
    lost_bytes: int
    """Data found lost since it was sent, itself included."""
    delivered_bytes: int
    """Data delivered since the connection began."""
    is_app_limited: bool
    """True if the application had no more to send when it was sent."""

def share(key: str, text: str) -> float:
    """Return the share of a text in percent such as ``1 %``, which stands under ``key``. Raises BadInput."""

def law_variables(variant: str, profile: str = "rfc") -> list[str]:
    """Return the names of the variables that a sender's law publishes. Raises BadInput."""

def variant_name(variant: str, profile: str = "rfc") -> str:
    """Return the canonical name of a sender. Raises BadInput."""

def senders(scenario: str) -> str:
    """Return the senders of a scenario (JSON text) with their parts, as JSON: a row an entry. Raises BadInput."""

def check_runs(scenarios: Sequence[str], each: int) -> None:
    """Refuse so many runs of each scenario (JSON texts) whose results no memory holds."""

def variant_slug(variant: str) -> str:
    """Return the file-name form of a variant's name."""

def tables() -> str:
    """Return the tables of a run as JSON: [{name, row, columns: [{name, unit, null, meaning}]}]."""

def registry() -> str:
    """Return the registry of variant parts as JSON: [{word, argument, slot, help}]."""

def simulate(
    scenario: str,
    seed: int | None = None,
    pcap: str | None = None,
    pcap_links: Sequence[str] = ...,
    progress: Callable[[float], None] | None = None,
    engine: str | None = None,
) -> Run:
    """Run one scenario (JSON text), with another seed if given. Releases the GIL. Raises BadInput.

    With a folder ``pcap``, what the links ``pcap_links`` sent is written there, one file a link;
    without names, a dumbbell's bottleneck or every link of a graph. Raises OSError if it cannot be.
    ``progress`` is called with the simulated time, in seconds, as it grows. ``engine`` is ``fast``
    or ``reference``; both leave the same results.
    """

def live(
    scenario: str,
    seed: int | None = None,
    ports: str | None = None,
    pcap: str | None = None,
    sender: str | None = None,
    receiver: str | None = None,
    busy: bool = False,
    programs: str | None = None,
    ackclock: Sequence[str] = ...,
    allow_programs: bool = False,
    as_root: bool = False,
    routers: str | None = None,
    records: bool = False,
    rows: Callable[[Run], None] | None = None,
    linux: str | None = None,
) -> Run:
    """Run one scenario on real packets between kernel end points. Raises BadInput, or OSError.

    ``ports`` is ``tun`` or ``veth``, ``sender`` and ``receiver`` are ``kernel`` or ``ackclock``;
    with a folder ``pcap``, what passes the hosts' devices is written there, one file a host. With
    ``busy`` the path's thread polls. Programs that are ends of flows print and write into the
    folder ``programs``; ``ackclock`` are the words that start this command. They are run with
    ``allow_programs`` alone, and as an ordinary user without ``as_root``. ``routers`` are the
    Quick-Start routers with an admission: ``ackclock``, ``xdp`` or ``tc``. With ``records`` the
    kernel's own laws leave a record of each ACK. ``rows`` is called some ten times a second with
    the rows that probes recorded since. ``linux`` says which kernel in virtual time this machine
    is, as JSON text, which goes into the report.
    """

def kernel(request: str, names: Sequence[str] = ..., seconds: float = 3.0) -> str:
    """Do what is asked of laws in the kernel, ``list``, ``load``, ``unload``, ``status``, ``needs``, ``test`` or ``sources``; return JSON text. Raises ``BadInput``."""

def programs_asked(scenario: str) -> list[str]:
    """Return what a live run of a scenario would run that has to be allowed. Raises BadInput."""

def closed_to_programs(paths: Sequence[str]) -> list[Path]:
    """Return those of these files that the programs of a live run could not read. Raises OSError."""

def play(url: str, video: str, limit_s: float | None = None) -> str:
    """Play the file at a URL and return what became of it as JSON text. Raises BadInput, or OSError.

    ``video`` is the table of a scenario's application as JSON text, with the pictures.
    """

def simulate_to(
    scenario: str,
    seed: int | None,
    out: str,
    progress: Callable[[float], None] | None = None,
    engine: str | None = None,
) -> Run: ...
def allow(memory: str | None = None, events: float | None = None) -> tuple[float, float]: ...
def simulate_many(
    scenarios: Sequence[str],
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Run:
    """Run scenarios (JSON texts) over all cores; tables get a first column ``cell``, the index.

    Rows are in the order of the input whatever the number of threads. ``progress`` is called
    with the number of finished runs; an interrupt raises KeyboardInterrupt.
    """

def simulate_cells(
    scenarios: Sequence[str],
    threads: int | None = None,
    memory_bytes: float | None = None,
    events: float | None = None,
    time_s: float | None = None,
    alive: Callable[[int], object] | None = None,
) -> tuple[Run, list[tuple[str, str]]]:
    """Run scenarios (JSON texts), each by itself; return a Run of those that came to their end, and a fate of each.

    A fate is a pair of ``ok``, ``refused``, ``limit`` or ``failed``, and the reason. ``alive`` is called some fifty times a
    second with the number that have ended; what it raises ends the runs.
    """

def canonical(
    scenarios: Sequence[str], threads: int | None = None
) -> list[tuple[str | None, str | None]]:
    """Return each scenario (JSON text) as the core writes it, with every default, or the reason why it is none."""

def judge(
    grid: bool,
    random: int,
    seed: int,
    windows: bool = False,
    at_once: int | None = None,
    kernels: Sequence[tuple[str, Callable[[str], str]]] = ...,
) -> str:
    """Give cases to our end point and to this machine's kernel; JSON of where they differ. Raises OSError.

    ``kernels`` are functions with a name each that take cases as JSON and return their answers as ``answers``
    does: one stands for this machine's kernel, of two the first for our end point, too.
    """

def answers(cases: str, at_once: int | None = None) -> str:
    """Return the answers of the kernel below to cases, as JSON of JSON, so many at once. Raises OSError."""

def drill(
    scripts: Sequence[tuple[str, str]],
    how: Mapping[str, object],
    threads: int | None = None,
    pcap: str | None = None,
    elsewhere: int = 0,
) -> Drill:
    """Run packetdrill scripts, each a name and a text, against the stacks that ``how`` names.

    ``how`` has ``profile``, ``settings``, ``compare_push``, ``strict_end`` and ``on``: "sim", our own end
    point; "live", this machine's kernel; "linux", that of the guest that this is; or "sim" and a kernel. The
    first ``elsewhere`` scripts are run by another call.
    Raises BadInput, and OSError where scripts cannot be given to the kernel. Results are in the order of the
    scripts, whatever the number of threads; an interrupt raises KeyboardInterrupt.
    """

def scripts(paths: Sequence[str], how: Mapping[str, object]) -> list[tuple[str, str]]:
    """Return the scripts at ``paths`` by name and text: of a folder every ``*.pkt``. Raises BadInput."""

def undrilled(scripts: Sequence[tuple[str, str]], how: Mapping[str, object], message: str) -> Drill:
    """Return the outcome where no stack could be asked: each of ``scripts`` fails, and ``message`` says why."""

def altman_predict(parameters: str) -> str:
    """Altman et al.'s fluid model: JSON in, JSON out. Raises BadInput."""

def altman_infer(parameters: str) -> str:
    """Infer one parameter of the path from measured throughput and rtt: JSON in, JSON out."""

def response(parameters: str) -> str:
    """Mathis, PFTK and CUBIC response functions: JSON in, JSON out. Raises BadInput."""

def theory(scenario: str) -> Run:
    """Answer for a scenario (JSON text) by the closed form that it matches. Raises ``BadInput`` where none does."""

def packmime(parameters: str) -> str:
    """Draws of PackMime-HTTP beside its reference: JSON in, JSON out. Raises BadInput."""

def departures(question: str) -> str:
    """Return when packets that come to one link at given moments leave: JSON in, JSON out. Raises BadInput."""

def bench_short(count: int, variant: str, queue: str = "droptail") -> dict[str, Any]: ...

@final
class RouterBench:
    """A router in memory: ``kind`` is ``ignorant``, ``lowering`` or ``admitting``."""

    def __new__(cls, kind: str, share: float, slot_ns: int, spacing_ns: int, seed: int) -> Self: ...
    def run(self, count: int) -> int:
        """Forward so many packets; return how many went on."""

def bench_dumbbell(
    flows: int, rate_bps: int, duration_s: float, variant: str, queue: str = "droptail"
) -> dict[str, Any]:
    """Run W(flows, rate) behind a queue once; return delivered_packets, events, utilisation, dropped."""
