//! Classes of connections that come and go: who opens next, what it plays, and what became of it.
//!
//! A connection lives in a *slot*: a pair of hosts with their paths, and four private lines where the
//! class has them. A slot is given away again once nothing can happen to its connection any more: no
//! packet of it is in the network and neither end will act by itself. Late packets thus never meet the
//! next connection, and memory depends on the connections that are alive.

pub(crate) mod browsing;
pub(crate) mod choice;
pub(crate) mod cross;
mod drawn;
pub(crate) mod utilisation;

use ackclock_app::{
    AnyArrivals, AnySessions, Arrivals, Listed, Note, PackMimeArrivals, Periodic, Poisson, Session,
    Sessions,
};
use ackclock_net::{AccessLine, AccessLineConfig};
use ackclock_tcp::config::QuickStartConfig;
use ackclock_tcp::{Config, Endpoint, State};
use ackclock_units::random::{Law, Stream, Streams};
use ackclock_units::{Bytes, Duration, Instant, Rate};

use crate::error::ScenarioError;
use crate::records::{Connections, Objects, Outcome};
use crate::scenario;
use crate::scenario::{ArrivalsSpec, LineLaws, Scenario, Traffic, TrafficApp, VariantChoice};
use crate::traffic::choice::Choice;

pub use drawn::PlannedConnection;

/// The random streams of a class, by connection. What a connection draws from one changes nothing in
/// another: neither another variant nor another access line moves the sizes.
#[derive(Clone, Copy, Debug)]
struct ClassStreams {
    session: Streams,
    access: Streams,
    losses: Streams,
    variant: Streams,
    law: Streams,
}

impl ClassStreams {
    fn new(seed: u64, class: &str) -> Self {
        let streams = |what: &str| Streams::new(seed, &format!("traffic {class} {what}"));
        Self {
            session: streams("session"),
            access: streams("access"),
            losses: streams("loss"),
            variant: streams("variant"),
            law: streams("law"),
        }
    }
}

/// The settings of a variant.
#[derive(Debug)]
struct Settings {
    /// The settings of the client's end and of the server's, but for their seeds.
    ends: [Config; 2],
    /// Which of [`Connections::variants`] it is.
    name: u32,
}

/// The private lines of a class, the client's and the server's.
#[derive(Debug)]
enum Access {
    /// All the same.
    Fixed([AccessLineConfig; 2]),
    /// Drawn for each connection.
    Drawn([LineLaws; 2]),
}

/// The plans of the connections that open next. What they are does not depend on the run, and the code
/// and the tables that make them are in the cache for all when it was fetched for one.
#[derive(Debug, Default)]
struct Plans {
    drawn: Vec<Session>,
    /// Which of them is that of the connection that opened last.
    at: usize,
}

impl Plans {
    const AT_ONCE: usize = 64;
}

/// A class of connections.
#[derive(Debug)]
pub struct Class {
    arrivals: AnyArrivals,
    /// The number of connections that may still open.
    left: u64,
    stop: Instant,
    sessions: AnySessions,
    plans: Plans,
    streams: ClassStreams,
    /// The settings of each variant.
    settings: Vec<Settings>,
    choice: Choice,
    access: Option<Access>,
    /// The propagation delay of the links that all share, there and back.
    shared_rtt: Duration,
    /// The paths of its slots: wires from the clients to the servers, and back.
    pub paths: [Vec<usize>; 2],
    /// Slots without a connection.
    free: Vec<u32>,
    opened: u32,
    /// The class as the objects' table numbers it: after the flows.
    objects_as: u32,
}

/// A connection that is open.
#[derive(Clone, Copy, Debug)]
pub struct Connection {
    /// Its number in the class.
    number: u32,
    /// Its variant, an index into the class's.
    variant: u32,
    /// The seed of its growth law's draws.
    seed: u64,
    opened: Instant,
    base_rtt: Duration,
    /// The server has seen a SYN, and has an end point.
    pub accepted: bool,
    /// The class was told whether the server's SYN-ACK came through.
    judged: bool,
    lost_syns: u16,
    lost_syn_acks: u16,
    objects: u32,
    /// The object under way.
    pending: Option<Pending>,
}

/// An object under way.
#[derive(Clone, Copy, Debug)]
struct Pending {
    bytes: Bytes,
    requested: Instant,
    first_byte: Option<Instant>,
}

/// A place for a connection.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// Its class.
    pub class: u32,
    /// The first of its four private lines: of the client up, into the client, of the server up, into
    /// the server.
    pub lines: Option<u32>,
    /// The connection that has it.
    pub connection: Option<Connection>,
}

/// A connection that opens.
#[derive(Clone, Debug)]
pub struct NewConnection {
    /// The slot; if it has none, one is to be made.
    pub slot: Option<u32>,
    /// The client's and the server's private line, if the class has any.
    pub lines: Option<[AccessLineConfig; 2]>,
    /// The state that its slot keeps of it.
    connection: Connection,
}

/// Every class of a scenario, and every slot.
#[derive(Debug)]
#[expect(clippy::struct_field_names, reason = "the classes are what it is of")]
pub struct Classes {
    pub classes: Vec<Class>,
    pub slots: Vec<Slot>,
    /// True if a class wants to know of handshakes.
    pub judges: bool,
}

impl Classes {
    /// The classes of a checked scenario, whose shared links make these paths and round trips; their
    /// objects are numbered after those of `flows` flows.
    pub fn new(
        scenario: &Scenario,
        paths: &[([Vec<usize>; 2], Duration)],
        table: &mut Connections,
        flows: usize,
    ) -> Result<Self, ScenarioError> {
        let classes = scenario.traffic.iter().enumerate();
        let classes: Vec<_> = classes
            .map(|(n, spec)| {
                let error = |why: String| ScenarioError::new(&format!("traffic[{n}]"), &why);
                table.classes.push(spec.name.clone());
                Class::new(scenario, spec, &paths[n], table, flows + n).map_err(error)
            })
            .collect::<Result<_, _>>()?;
        let judges = classes.iter().any(|class: &Class| class.choice.judges());
        Ok(Self { classes, slots: Vec::new(), judges })
    }

    /// When the next connection of class `n` opens, the last having opened at `last`.
    pub fn next_arrival(&mut self, n: usize, last: Instant) -> Option<Instant> {
        let class = &mut self.classes[n];
        class.left = class.left.checked_sub(1)?;
        class.arrivals.next(last).filter(|at| *at < class.stop)
    }

    /// A connection of class `n` opens: draws all that it is, and takes a slot if one is free. The
    /// class's `session` is its plan.
    pub fn open(&mut self, now: Instant, n: usize) -> NewConnection {
        let class = &mut self.classes[n];
        let number = class.opened;
        // 2^32 connections of one class leave 400 GB of rows.
        class.opened = number.checked_add(1).expect("fewer than 2^32 connections of a class");
        let k = u64::from(number);
        class.plan(k);
        let lines = class.draw_lines(k);
        let lines_rtt: Duration = lines.iter().flatten().map(|line| line.delay + line.delay).sum();
        let variant = class.choice.on_open(|| class.streams.variant.of(k));
        NewConnection {
            slot: class.free.pop(),
            lines,
            connection: Connection {
                number,
                variant,
                seed: class.streams.law.of(k).next_seed(),
                opened: now,
                base_rtt: class.shared_rtt + lines_rtt,
                accepted: false,
                judged: false,
                lost_syns: 0,
                lost_syn_acks: 0,
                objects: 0,
                pending: None,
            },
        }
    }

    /// The class among whose objects the connection in a slot counts, and its number; the largest number if there is
    /// none.
    pub fn owner(&self, slot: u32) -> (u32, u32) {
        let Slot { class, connection, .. } = &self.slots[slot as usize];
        let number = connection.as_ref().map_or(u32::MAX, |connection| connection.number);
        (self.classes[*class as usize].objects_as, number)
    }

    /// The connection of `opening` has a slot from now on.
    pub fn begin(&mut self, slot: u32, opening: &NewConnection) {
        self.slots[slot as usize].connection = Some(opening.connection);
    }

    /// The first SYN of a connection is at the server: the settings of the server's end, and their seed.
    pub fn accept(&mut self, now: Instant, slot: u32) -> Option<(&Config, u64)> {
        let Slot { class, connection, .. } = &mut self.slots[slot as usize];
        let connection = connection.as_mut().filter(|connection| !connection.accepted)?;
        connection.accepted = true;
        let class = &mut self.classes[*class as usize];
        connection.variant = class.choice.on_accept(now, connection.variant);
        let [_, server] = &class.settings[connection.variant as usize].ends;
        Some((server, connection.seed))
    }

    /// The server's end has changed: tells the class once whether the SYN-ACK came through.
    pub fn watch_handshake(&mut self, now: Instant, slot: u32, server: &Endpoint) {
        let Slot { class, connection, .. } = &mut self.slots[slot as usize];
        let Some(connection) = connection.as_mut().filter(|c| c.accepted && !c.judged) else {
            return;
        };
        let again = server.syns_sent().saturating_sub(1);
        if again > 0 || server.established_at().is_some() || server.failure().is_some() {
            connection.judged = true;
            self.classes[*class as usize].choice.on_handshake(now, again > 0);
        }
    }

    /// The network lost a SYN or SYN-ACK of the connection in a slot.
    pub fn on_lost_syn(&mut self, slot: u32, answers: bool) {
        if let Some(connection) = &mut self.slots[slot as usize].connection {
            let count =
                if answers { &mut connection.lost_syn_acks } else { &mut connection.lost_syns };
            *count = count.saturating_add(1);
        }
    }

    /// An application of the connection in a slot tells something.
    pub fn on_note(&mut self, now: Instant, slot: u32, note: Note, objects: &mut Objects) {
        let Slot { class, connection, .. } = &mut self.slots[slot as usize];
        let Some(connection) = connection else { return };
        match note {
            Note::Requested { bytes, at } => {
                connection.pending = Some(Pending { bytes, requested: at, first_byte: None });
            }
            Note::Begun => {
                if let Some(pending) = &mut connection.pending {
                    pending.first_byte = Some(now);
                }
            }
            Note::Completed => {
                let class = &self.classes[*class as usize];
                connection.record_object(class.objects_as, Some(now), objects);
            }
            // The ends of a session tell of exchanges.
            Note::Object(_) | Note::Moment(_) => {}
        }
    }

    /// The connection in a slot is over, or the run is: leaves its row.
    pub fn record(
        &mut self,
        slot: u32,
        closed: Option<Instant>,
        ends: [&Endpoint; 2],
        table: &mut Connections,
        objects: &mut Objects,
    ) {
        let Slot { class: n, connection, .. } = &mut self.slots[slot as usize];
        let Some(mut connection) = connection.take() else { return };
        let class = &mut self.classes[*n as usize];
        connection.record_object(class.objects_as, None, objects);
        let [client, server] = ends;
        let server = connection.accepted.then_some(server);
        let again = |end: &Endpoint| end.sender().stats().segments_retransmitted;
        let nanos = |at: Option<Instant>| at.map_or(Connections::NOT_YET, Instant::as_nanos);
        table.class.push(*n);
        table.connection.push(connection.number);
        table.variant.push(class.settings[connection.variant as usize].name);
        table.opened_ns.push(connection.opened.as_nanos());
        table.established_ns.push(nanos(client.established_at()));
        table.closed_ns.push(nanos(closed));
        table.outcome.push(outcome(closed.is_some(), client, server));
        table.base_rtt_ns.push(connection.base_rtt.as_nanos());
        table.syn_retransmits.push(short(client.syns_sent().saturating_sub(1)));
        table
            .synack_retransmits
            .push(short(server.map_or(0, |server| server.syns_sent().saturating_sub(1))));
        table.lost_syn.push(connection.lost_syns);
        table.lost_synack.push(connection.lost_syn_acks);
        table.client_retransmitted.push(whole(again(client)));
        table.server_retransmitted.push(whole(server.map_or(0, again)));
        table.bytes_to_server.push(server.map_or(0, |server| server.received().get()));
        table.bytes_to_client.push(client.received().get());
        class.free.push(slot);
    }
}

impl Connection {
    fn record_object(&mut self, class: u32, completed: Option<Instant>, objects: &mut Objects) {
        let Some(pending) = self.pending.take() else { return };
        let row = objects.request(
            class,
            self.number,
            u64::from(self.objects),
            pending.bytes,
            pending.requested,
        );
        self.objects += 1;
        if let Some(at) = pending.first_byte {
            objects.begin(row, at);
        }
        if let Some(at) = completed {
            objects.complete(row, at);
        }
    }
}

fn short(count: u32) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

fn whole(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The end of a connection of which nothing more is to happen if it is `over`.
fn outcome(over: bool, client: &Endpoint, server: Option<&Endpoint>) -> Outcome {
    let ends = || [Some(client), server].into_iter().flatten();
    if !over {
        return Outcome::Open;
    }
    let failures = [client.failure(), server.and_then(Endpoint::failure)];
    Outcome::of_failures(failures).unwrap_or_else(|| {
        if ends().all(|end| matches!(end.state(), State::Closed | State::TimeWait)) {
            Outcome::Closed
        } else {
            Outcome::Stalled
        }
    })
}

impl Class {
    fn new(
        scenario: &Scenario,
        spec: &Traffic,
        (paths, shared_rtt): &([Vec<usize>; 2], Duration),
        table: &mut Connections,
        objects_as: usize,
    ) -> Result<Self, String> {
        let choices = spec.configs()?;
        let weights = choices.iter().map(|(_, weight)| *weight).collect();
        let uploads = matches!(spec.app, TrafficApp::Bulk { .. });
        let settings = choices
            .into_iter()
            .map(|(config, _)| Settings {
                // Who has the volume to send asks for its rate.
                ends: [uploads, !uploads].map(|asks| {
                    let quick_start = QuickStartConfig { asks, ..config.quick_start };
                    Config { quick_start, ..config }
                }),
                name: table.variant(config.parts.name(spec.profile)),
            })
            .collect();
        let name = &spec.name;
        let count = likely_count(spec, scenario.duration);
        let streams = format!("traffic {name} packmime");
        let sessions = spec
            .app
            .sessions(spec.arrivals.rate(), count, scenario.seed, &streams)
            .map_err(str::to_owned)?;
        let lines = !spec.access.is_none() || sessions.draws_delays();
        Ok(Self {
            arrivals: arrivals(spec, count, scenario.seed),
            left: spec.count.unwrap_or(u64::MAX),
            stop: Instant::START + spec.stop.unwrap_or(scenario.duration),
            sessions,
            plans: Plans::default(),
            streams: ClassStreams::new(scenario.seed, name),
            settings,
            choice: match &spec.variant {
                VariantChoice::Feedback(of) => Choice::feedback(of.threshold, of.memory),
                VariantChoice::One(_) | VariantChoice::Mix(_) => Choice::new(weights),
            },
            access: lines.then(|| Access::new(spec)),
            shared_rtt: *shared_rtt,
            paths: paths.clone(),
            free: Vec::new(),
            opened: 0,
            // As many as names in a file.
            objects_as: u32::try_from(objects_as).expect("fewer than 2^32 classes and flows"),
        })
    }

    /// Turns to the plan of connection `k`, which opens.
    fn plan(&mut self, k: u64) {
        self.plans.at += 1;
        if self.plans.at < self.plans.drawn.len() {
            return;
        }
        self.plans.at = 0;
        let left = usize::try_from(self.left).unwrap_or(usize::MAX);
        self.plans.drawn.resize_with(left.saturating_add(1).min(Plans::AT_ONCE), Session::default);
        for (k, session) in (k..).zip(&mut self.plans.drawn) {
            session.delays = None;
            session.asks = None;
            self.sessions.plan(k, &mut self.streams.session.of(k), session);
        }
    }

    /// The plan of the connection that opened last.
    pub fn session(&self) -> &Session {
        &self.plans.drawn[self.plans.at]
    }

    /// The settings of some connection.
    pub fn any_config(&self) -> Config {
        self.settings[0].ends[0]
    }

    /// The settings of the client's end of a connection, and their seed.
    pub fn client(&self, opening: &NewConnection) -> (&Config, u64) {
        let [client, _] = &self.settings[opening.connection.variant as usize].ends;
        (client, opening.connection.seed)
    }

    /// The settings of the client's and the server's line of connection `k`.
    fn draw_lines(&self, k: u64) -> Option<[AccessLineConfig; 2]> {
        let mut lines = match self.access.as_ref()? {
            Access::Fixed(lines) => *lines,
            Access::Drawn(laws) => {
                let mut random = self.streams.access.of(k);
                laws.each_ref().map(|line| draw_line(line, &mut random))
            }
        };
        if let Some(delays) = self.session().delays {
            for (line, delay) in lines.iter_mut().zip(delays) {
                line.delay = delay;
            }
        }
        Some(lines)
    }

    /// Makes the private lines of the connection of `opening` of these, in the order of [`Slot::lines`].
    pub fn reset_lines(&self, opening: &NewConnection, lines: &mut [AccessLine; 4]) {
        let Some([client, server]) = &opening.lines else { return };
        let first = 4 * u64::from(opening.connection.number);
        for (number, (line, config)) in
            (first..).zip(lines.iter_mut().zip([client, client, server, server]))
        {
            line.reset(config, || self.streams.losses.of(number));
        }
    }
}

impl Access {
    fn new(spec: &Traffic) -> Self {
        let laws = [&spec.access.client, &spec.access.server].map(scenario::AccessLine::laws);
        if laws.iter().all(LineLaws::is_fixed) {
            let mut nothing = Stream::new(0, "nothing is drawn");
            return Self::Fixed(laws.each_ref().map(|line| draw_line(line, &mut nothing)));
        }
        Self::Drawn(laws)
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rate is at least 1 bit/s and far below 2^64"
)]
fn draw_line(laws: &LineLaws, random: &mut Stream) -> AccessLineConfig {
    let sample = |law: &Law, random: &mut Stream| law.sample(random);
    AccessLineConfig {
        delay: Duration::from_secs_f64(sample(&laws.delay, random)),
        rate: laws
            .rate
            .as_ref()
            .map(|law| Rate::from_bps(sample(law, random).round().max(1.0) as u64)),
        loss: sample(&laws.loss, random).clamp(0.0, 1.0),
        syn_loss: sample(&laws.syn_loss, random).clamp(0.0, 1.0),
        delaybox: laws.delaybox,
    }
}

/// About how many connections of a class will open, rather too many: what is drawn for all of them at
/// once takes as much room.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive number, far below 2^64"
)]
fn likely_count(spec: &Traffic, duration: Duration) -> Option<u64> {
    let rate = spec.arrivals.rate()?.as_hz();
    let until = spec.stop.map_or(duration, |stop| stop.min(duration));
    let seconds = until.as_secs_f64() - spec.start.as_secs_f64();
    // A mean over arrivals with a long memory wanders by a tenth.
    let most = 1.2 * rate * seconds.max(0.0) + 1000.0;
    Some((most as u64).min(spec.count.unwrap_or(u64::MAX)))
}

fn arrivals(spec: &Traffic, count: Option<u64>, seed: u64) -> AnyArrivals {
    let mut random = Stream::new(seed, &format!("traffic {} arrivals", spec.name));
    match &spec.arrivals {
        ArrivalsSpec::Poisson { rate } => AnyArrivals::Poisson(Poisson::new(rate.as_hz(), random)),
        ArrivalsSpec::Periodic { rate, phase } => {
            let phase = phase.unwrap_or_else(|| random.uniform());
            AnyArrivals::Periodic(Periodic::new(rate.as_hz(), phase))
        }
        ArrivalsSpec::Packmime { rate, memory } => {
            let name = format!("traffic {} packmime", spec.name);
            let (rate, memory) = (rate.as_hz(), memory.of_model());
            AnyArrivals::PackMime(PackMimeArrivals::new(rate, memory, count, seed, &name))
        }
        ArrivalsSpec::List { at } => {
            let moments = at.iter().map(|at| Instant::START + *at).collect();
            AnyArrivals::Listed(Listed::new(moments))
        }
    }
}

/// The longest round trip that private lines are likely to add, for the clock to expect.
pub fn likely_line_rtt(spec: &scenario::AccessSpec) -> Duration {
    let mut random = Stream::new(0, "lines");
    let laws = [&spec.client, &spec.server].map(|line| line.delay.law());
    let one_way = (0..100).map(|_| laws.iter().map(|law| law.sample(&mut random)).sum::<f64>());
    // A clock that looks further ahead costs memory, and few packets need it.
    Duration::from_secs_f64(2.0 * one_way.fold(0.0, f64::max)).min(Duration::from_secs(1))
}
