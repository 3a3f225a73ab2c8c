//! Theory as a substrate: which closed form a scenario matches, what it says, and whether it is to be believed there.
//!
//! A form answers for the flows of a scenario, or the scenario is refused by the key that no form knows. Three kinds are
//! known: one Tahoe connection beside exogenous traffic (Altman et al., 1997); flows that losses rule (the response
//! functions of Reno and CUBIC, and PFTK); one transfer of known size over an idle path (slow start, Quick-Start).

use ackclock_laws::growth::Model;
use ackclock_laws::start::JumpChoice;
use ackclock_net::{Behaviour, Loss, PeriodicLoss, QueueUnit, QuickStartConfig};
use ackclock_packet::{HEADERS, QuickStartRate};
use ackclock_results::{Columns, Table, Tables};
use ackclock_sim::run::paths::{FlowPath, PathLink, flow_paths};
use ackclock_sim::scenario::{Application, CrossKind, Direction, Scenario};
use ackclock_tcp::Pacing;
use ackclock_theory::altman::{self, Parameters, Path};
use ackclock_theory::transfer::{self, Transfer};
use ackclock_theory::{InvalidParameter, cubic, pftk, reno};
use ackclock_units::{Bytes, Rate};
use arrow_array::new_null_array;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::BadInput;

/// The share of the bottleneck up to which a response function is believed: beyond it a queue builds, and overflows.
const MOST_OF_BOTTLENECK: f64 = 0.8;
/// Losses in a run from which a mean over time is one.
const FEWEST_LOSSES: f64 = 20.0;
/// CUBIC's window comes up to its cycle slowly: after n losses it is a share of 0.84 / sqrt(n) below it
/// (docs/studies/response.md), and believed to be there within this share.
const CUBIC_COMES_UP: f64 = 0.84;
const CUBIC_NEAR: f64 = 0.05;
/// A SYN with the options of today (MSS, SACK, timestamps, window scale), and an ACK, in bytes.
const SYN_BYTES: f64 = 60.0;

/// A closed form's answer for a flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Prediction {
    /// The flow's name.
    pub flow: String,
    /// The sender's canonical name.
    #[serde(skip)]
    pub variant: String,
    /// The form, in a word.
    pub form: &'static str,
    /// The form's source.
    pub source: &'static str,
    /// True if no reason is known against the form here.
    pub valid: bool,
    /// The reasons against it, a sentence each.
    pub reasons: Vec<String>,
    /// The payload that comes to the receiver, bit/s: of a transfer over its time from the SYN on.
    #[serde(skip)]
    pub goodput_bps: Option<f64>,
    /// The mean round-trip time, s.
    #[serde(skip)]
    pub rtt_s: Option<f64>,
    /// The mean window, segments.
    pub cwnd_mean_segments: Option<f64>,
    /// When the handshake is done, s.
    #[serde(skip)]
    pub established_s: Option<f64>,
    /// When all data is acknowledged, s.
    #[serde(skip)]
    pub completed_s: Option<f64>,
    /// The form's other values, by names with units.
    pub details: Map<String, Value>,
}

/// Theory's answer for a scenario.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Theory {
    /// True if the form of every flow is valid.
    pub valid: bool,
    /// The flows, in the order of the file.
    pub flows: Vec<Prediction>,
    #[serde(skip)]
    pub(crate) duration_s: f64,
}

impl Theory {
    /// The tables: the flows, in which columns that no closed form gives are null, and no other.
    pub fn tables(&self) -> Tables {
        Tables { flows: self.table(), ..Tables::empty() }
    }

    /// The columns of the table `flows`, in their order.
    fn table(&self) -> Table {
        let flows = || self.flows.iter();
        let empty = Tables::empty().flows;
        let mut columns = Columns::default();
        for (field, about) in empty.batch.schema_ref().fields().iter().zip(&empty.about) {
            let name = *about;
            let number = |of: fn(&Prediction) -> Option<f64>| flows().map(of);
            columns = match about.name {
                "measure" => columns.text(name, flows().map(|_| "run")),
                "flow" => columns.text(name, flows().map(|flow| &*flow.flow)),
                "variant" => columns.text(name, flows().map(|flow| &*flow.variant)),
                "duration_s" => columns.number(name, flows().map(|_| self.duration_s)),
                "goodput_bps" => columns.optional(name, number(|flow| flow.goodput_bps)),
                "srtt_mean_s" => columns.optional(name, number(|flow| flow.rtt_s)),
                "established_s" => columns.optional(name, number(|flow| flow.established_s)),
                "completed_s" => columns.optional(name, number(|flow| flow.completed_s)),
                _ => {
                    columns.column(name, true, new_null_array(field.data_type(), self.flows.len()))
                }
            };
        }
        columns.table("flows")
    }

    /// The report, as JSON text.
    pub fn report(&self) -> String {
        json!(self).to_string()
    }
}

/// Finds the closed form of a scenario and evaluates it.
///
/// # Errors
/// The first key that cannot be run, or that no closed form knows.
pub fn closed_form(scenario: &Scenario) -> Result<Theory, BadInput> {
    let flows = flow_paths(scenario)
        .map_err(|error| BadInput::new(format_args!("{}: {}", error.key, error.message)))?;
    refuse_what_no_form_knows(scenario, &flows)?;
    let of = |flow: &FlowPath| {
        let case = Case { scenario, flow, flows: flows.len() };
        if !scenario.cross_traffic.is_empty() {
            case.altman()
        } else if let Some(size) = end_of(&scenario.flows[flow.entry].app) {
            case.transfer(size.get())
        } else {
            case.response()
        }
    };
    let mut predictions = flows.iter().map(of).collect::<Result<Vec<_>, _>>()?;
    share_links(scenario, &flows, &mut predictions);
    for prediction in &mut predictions {
        prediction.valid = prediction.reasons.is_empty();
    }
    Ok(Theory {
        valid: predictions.iter().all(|prediction| prediction.valid),
        flows: predictions,
        duration_s: scenario.duration.as_secs_f64(),
    })
}

fn refuse(key: &str, message: &str) -> BadInput {
    BadInput::new(format_args!("theory: {key}: {message}"))
}

fn out_of_range(error: &InvalidParameter) -> BadInput {
    BadInput::new(format_args!("theory: {error}"))
}

fn refuse_what_no_form_knows(scenario: &Scenario, flows: &[FlowPath]) -> Result<(), BadInput> {
    if !scenario.traffic.is_empty() {
        return Err(refuse("traffic", "no closed form has classes of connections"));
    }
    if !scenario.events.is_empty() {
        return Err(refuse("event", "no closed form has a path that changes"));
    }
    if flows.is_empty() {
        return Err(refuse("flow", "missing; closed forms are of flows"));
    }
    for flow in flows {
        let key = format!("flow[{}]", flow.entry);
        if scenario.flows[flow.entry].app.transfer().is_none() {
            let message = "no closed form has this application, expected `kind = \"bulk\"`";
            return Err(refuse(&format!("{key}.app"), message));
        }
        for link in flow.there.iter().chain(&flow.back) {
            if let Some(part) = link.varies_by {
                let message = format!("no closed form has the `{part}` of link `{}`", link.name);
                return Err(refuse("topology", &message));
            }
        }
    }
    Ok(())
}

/// A response function that exceeds what its links have left is not to be believed.
fn share_links(scenario: &Scenario, flows: &[FlowPath], predictions: &mut [Prediction]) {
    if !scenario.cross_traffic.is_empty() {
        return;
    }
    let mut names: Vec<&str> = flows.iter().flat_map(|f| &f.there).map(|l| &*l.name).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let crossing: Vec<usize> = (0..flows.len())
            .filter(|n| flows[*n].there.iter().any(|link| link.name == name))
            .collect();
        let link = flows[crossing[0]].there.iter().find(|link| link.name == name);
        let rate = link.and_then(|link| link.rate).map_or(0.0, |rate| rate.as_bps() as f64);
        let asked: f64 = crossing
            .iter()
            .filter_map(|n| predictions[*n].details.get("wire_rate_bps")?.as_f64())
            .sum();
        if asked > MOST_OF_BOTTLENECK * rate {
            let reason = format!(
                "the flows would take {:.0} % of link `{name}`; above {:.0} % its queue counts too",
                100.0 * asked / rate,
                100.0 * MOST_OF_BOTTLENECK
            );
            for n in crossing {
                predictions[n].reasons.push(reason.clone());
            }
        }
    }
}

struct Case<'a> {
    scenario: &'a Scenario,
    flow: &'a FlowPath,
    flows: usize,
}

impl Case<'_> {
    fn key(&self, word: &str) -> String {
        format!("flow[{}].{word}", self.flow.entry)
    }

    fn model(&self) -> Result<Model, BadInput> {
        self.flow.config.parts.growth.about().model.ok_or_else(|| {
            let message = format!(
                "no closed form has `{}`, expected Tahoe, Reno or CUBIC",
                self.flow.variant
            );
            refuse(&self.key("variant"), &message)
        })
    }

    /// The payload of a full segment, bytes, and its packet.
    fn sizes(&self) -> (f64, f64) {
        let mss = f64::from(self.flow.config.mss.get());
        let payload = if self.flow.config.timestamps { mss - 12.0 } else { mss };
        (payload, mss + HEADERS.get() as f64)
    }

    /// From the start of a packet of `there` bytes to the arrival of one of `back` bytes that answers it, s.
    fn round_trip_s(&self, there: f64, back: f64) -> f64 {
        let way = |links: &[PathLink], bytes: f64| -> f64 {
            links.iter().map(|link| link.delay.as_secs_f64() + sending_s(link, bytes)).sum()
        };
        way(&self.flow.there, there) + way(&self.flow.back, back)
    }

    /// Segments of payload that the receiver's window lets be under way.
    fn most_segments(&self) -> f64 {
        let config = &self.flow.config;
        let window = config.autotune.map_or(config.receive_window, |autotune| {
            // Five eighths of the memory are payload.
            Bytes::new(autotune.most.get() / 8 * 5)
        });
        (window.get() as f64 / self.sizes().0).max(1.0)
    }

    fn prediction(&self, form: &'static str, source: &'static str) -> Prediction {
        Prediction {
            flow: self.flow.name.clone(),
            variant: self.flow.variant.clone(),
            form,
            source,
            ..Prediction::default()
        }
    }

    /// One Tahoe connection beside exogenous traffic.
    fn altman(&self) -> Result<Prediction, BadInput> {
        let [source] = self.scenario.cross_traffic.as_slice() else {
            return Err(refuse("cross_traffic", "the model has one source of exogenous traffic"));
        };
        if self.flows > 1 {
            return Err(refuse("flow", "beside exogenous traffic the model has one connection"));
        }
        if self.model()? != Model::Tahoe {
            let message = format!(
                "no closed form has `{}` beside exogenous traffic, expected `tahoe`",
                self.flow.variant
            );
            return Err(refuse(&self.key("variant"), &message));
        }
        if end_of(&self.scenario.flows[self.flow.entry].app).is_some() {
            return Err(refuse(&self.key("app.size"), "the model's connection has no end"));
        }
        let place = self.flow.there.iter().position(|link| link.name == source.link);
        let Some(at) = place.filter(|_| source.direction == Direction::Forward) else {
            let message = "the model's exogenous traffic shares a queue with the connection's data";
            return Err(refuse("cross_traffic[0].link", message));
        };
        let (payload, packet) = self.sizes();
        if (source.size.get() as f64 - packet).abs() > 0.5 {
            let message = format!("the model has packets of one size, expected \"{packet} B\"");
            return Err(refuse("cross_traffic[0].size", &message));
        }
        let link = &self.flow.there[at];
        if !link.is_drop_tail || self.loss()? != PathLoss::None {
            let message = "the model has a drop-tail queue and no other losses";
            return Err(refuse("topology", message));
        }
        if link.limit.amount == u64::MAX {
            return Err(refuse("topology", "the model has a queue with a limit"));
        }
        let held = match link.limit.unit {
            QueueUnit::Packets => link.limit.amount as f64,
            QueueUnit::Bytes => link.limit.amount as f64 / packet,
        };
        // The packet being sent is one of the model's buffer.
        let buffer_packets = if link.counts_in_service { held } else { held + 1.0 };
        let pps = |link: &PathLink| 1.0 / sending_s(link, packet);
        let delay =
            |links: &[PathLink]| -> f64 { links.iter().map(|link| link.delay.as_secs_f64()).sum() };
        let tau1_s = delay(&self.flow.there[..at]);
        let whole = delay(&self.flow.there) + delay(&self.flow.back);
        let path = Path::new(&Parameters {
            mu_pps: pps(link),
            lambda_pps: source.rate.as_pps(),
            tau1_s,
            tau2_s: (whole / 2.0 - tau1_s).max(0.0),
            buffer_packets,
            bw_in_pps: self.flow.there[..at].iter().map(pps).reduce(f64::min),
        })
        .map_err(|error| out_of_range(&error))?;
        let found = altman::predict(&path);
        let mut prediction = self.prediction(
            "altman1997",
            "Altman, Bolot, Nain, Elouadghiri, Erramdani, Brown and Collange, 1997",
        );
        prediction.goodput_bps = Some(found.throughput_pps * payload * 8.0);
        prediction.rtt_s = Some(found.rtt_s);
        prediction.reasons.clone_from(&found.validity.reasons);
        if source.kind == CrossKind::Poisson {
            let reason =
                "the model's exogenous traffic comes evenly, that of a Poisson source in lumps";
            prediction.reasons.push(reason.into());
        }
        let Value::Object(mut details) = json!(found) else { return Ok(prediction) };
        details.retain(|key, _| !matches!(&**key, "validity" | "throughput_pps" | "rtt_s"));
        details.insert("throughput_pps".into(), found.throughput_pps.into());
        prediction.details = details;
        Ok(prediction)
    }

    fn loss(&self) -> Result<PathLoss, BadInput> {
        let mut found = PathLoss::None;
        for link in &self.flow.there {
            let next = match link.loss {
                Loss::Random(0.0) => continue,
                Loss::Random(share) => PathLoss::Random(share),
                Loss::Periodic(PeriodicLoss { every, .. }) => {
                    PathLoss::Periodic(1.0 / every as f64)
                }
                Loss::Bursts(_) => {
                    let message =
                        format!("no closed form has the bursts of losses of link `{}`", link.name);
                    return Err(refuse("topology", &message));
                }
            };
            found = match (found, next) {
                (PathLoss::None, next) => next,
                (PathLoss::Random(one), PathLoss::Random(other)) => {
                    PathLoss::Random(1.0 - (1.0 - one) * (1.0 - other))
                }
                _ => {
                    return Err(refuse(
                        "topology",
                        "no closed form has two kinds of losses on a path",
                    ));
                }
            };
        }
        Ok(found)
    }

    /// A flow without end that losses rule.
    fn response(&self) -> Result<Prediction, BadInput> {
        let model = self.model()?;
        let (p, periodic) = match self.loss()? {
            PathLoss::Random(p) => (p, false),
            PathLoss::Periodic(p) => (p, true),
            PathLoss::None => {
                let message = "no closed form has a flow without losses, end or exogenous traffic; expected `loss` on a \
                               link, `app.size` or [[cross_traffic]]";
                return Err(refuse(&self.key("app"), message));
            }
        };
        if model == Model::Tahoe {
            return Err(refuse(
                &self.key("variant"),
                "no closed form has Tahoe under losses, expected Reno or CUBIC",
            ));
        }
        let config = &self.flow.config;
        let (payload, packet) = self.sizes();
        let rtt_s = self.round_trip_s(packet, HEADERS.get() as f64);
        let b = config.delayed_ack.map_or(1.0, |ack| f64::from(ack.every));
        let w_max = self.most_segments();
        let mut prediction;
        let window = match (model, periodic) {
            (Model::Cubic, _) => {
                prediction = self.prediction("cubic response function", "RFC 9438, section 5.1");
                if !periodic {
                    prediction.reasons.push("it is derived for losses at equal distances, these are random".into());
                }
                cubic::window_packets(rtt_s, p, &cubic::Constants::default())
            }
            (_, true) => {
                prediction = self.prediction("reno response function", "RFC 3649 and RFC 9438: 1.2 / sqrt(p)");
                reno::window_packets(p)
            }
            (_, false) => {
                prediction = self.prediction("pftk", "Padhye, Firoiu, Towsley and Kurose, 1998");
                let t_rto_s = config.rto.min.as_secs_f64().max(rtt_s);
                if t_rto_s >= 1.0 {
                    let reason = "with timeouts of 1 s and more it was not reproduced (docs/studies/response.md)";
                    prediction.reasons.push(reason.into());
                }
                prediction.details.insert("t_rto_s".into(), t_rto_s.into());
                let connection = pftk::Connection { rtt_s, t_rto_s, packets_per_ack: b, w_max_packets: w_max };
                pftk::full_pps(p, &connection).map(|pps| pps * rtt_s)
            }
        }
        .map_err(|error| out_of_range(&error))?;
        let reasons = &mut prediction.reasons;
        let most = if periodic { 1e-3 } else { 1e-2 };
        if p > most {
            reasons.push(format!("a loss rate of {p} is above {most}, up to which it was judged"));
        }
        if model == Model::Reno && periodic && b > 1.0 {
            reasons.push("it is derived for an ACK a segment, and ACKs are delayed here".into());
        }
        if !(0.01..=0.2).contains(&rtt_s) {
            reasons.push(format!("a round trip of {rtt_s:.4} s is not among those from 10 to 200 ms for which it was judged"));
        }
        if window > w_max / 2.0 {
            reasons.push("the receiver's window is less than twice the mean window".into());
        }
        let pps = window / rtt_s;
        let losses = p * pps * self.scenario.duration.as_secs_f64();
        if losses < FEWEST_LOSSES {
            reasons.push(format!(
                "{losses:.1} losses in the run are too few for a mean, {FEWEST_LOSSES} are wanted"
            ));
        }
        let below = CUBIC_COMES_UP / losses.sqrt();
        if model == Model::Cubic && below > CUBIC_NEAR {
            let reason = "losses after which CUBIC's window may still be";
            reasons.push(format!(
                "the run has {losses:.0} {reason} {:.0} % below its cycle",
                100.0 * below
            ));
        }
        prediction.goodput_bps = Some(pps * payload * 8.0 * if periodic { 1.0 } else { 1.0 - p });
        prediction.rtt_s = Some(rtt_s);
        prediction.cwnd_mean_segments = Some(window);
        prediction.details.insert("loss_rate".into(), p.into());
        prediction.details.insert("throughput_pps".into(), pps.into());
        prediction.details.insert("wire_rate_bps".into(), (pps * packet * 8.0).into());
        Ok(prediction)
    }

    /// One transfer over an idle path.
    fn transfer(&self, size: u64) -> Result<Prediction, BadInput> {
        if self.flows > 1 {
            return Err(refuse(
                "flow",
                "no closed form has transfers that share a path, expected one flow",
            ));
        }
        self.model()?;
        if self.loss()? != PathLoss::None {
            return Err(refuse(
                "topology",
                "no closed form has losses during a transfer of known size",
            ));
        }
        let parts = &self.flow.config.parts;
        let (payload, packet) = self.sizes();
        let (of_path, slowest) = self.idle_path(size)?;
        let slow = transfer::slow_start(&of_path).map_err(|error| out_of_range(&error))?;
        let mut prediction;
        let found = match parts.jump {
            JumpChoice::None => {
                prediction = self.prediction(
                    "slow start",
                    "Cardwell, Savage and Anderson, 2000; Kurose and Ross, section 3.7",
                );
                slow
            }
            JumpChoice::QuickStart(jump) => {
                prediction =
                    self.prediction("quick-start", "RFC 4782 and RFC 3742, after an idle path");
                // An end asks for no more than its data takes in a round trip, 100 ms where it knows none.
                let needed = QuickStartRate::at_most(Rate::from_bps(size * 8 * 10));
                match self.approved(jump.rate.min(needed)) {
                    Some(rate) => {
                        let pps =
                            rate.rate().map_or(0.0, |rate| rate.as_bps() as f64) / 8.0 / packet;
                        prediction
                            .details
                            .insert("approved_bps".into(), (pps * 8.0 * packet).into());
                        let pps = pps.min(1.0 / of_path.segment_s);
                        transfer::quick_start(&of_path, pps, 65_535.0 / payload)
                            .map_err(|error| out_of_range(&error))?
                    }
                    None => slow,
                }
            }
            JumpChoice::JumpStart | JumpChoice::Resume(_) => {
                let message = format!("no closed form has the jump of `{}`", self.flow.variant);
                return Err(refuse(&self.key("variant"), &message));
            }
        };
        prediction.reasons = self.doubts_of_transfer(&of_path, slowest, &found);
        let opens = self.flow.opens.as_secs_f64();
        prediction.established_s = Some(opens + of_path.handshake_s);
        prediction.completed_s = Some(opens + found.seconds);
        prediction.goodput_bps = Some(size as f64 * 8.0 / found.seconds);
        let details = &mut prediction.details;
        details.insert("transfer_s".into(), found.seconds.into());
        details.insert("rounds".into(), found.rounds.into());
        details.insert("largest_window_segments".into(), found.largest_window.into());
        details.insert("slow_start_s".into(), slow.seconds.into());
        details.insert("speedup".into(), (slow.seconds / found.seconds).into());
        Ok(prediction)
    }

    /// The path as a transfer of `size` sees it, and its slowest link.
    fn idle_path(&self, size: u64) -> Result<(Transfer, &PathLink), BadInput> {
        let config = &self.flow.config;
        let parts = &config.parts;
        let (payload, packet) = self.sizes();
        let slowest = self
            .flow
            .there
            .iter()
            .max_by(|a, b| sending_s(a, packet).total_cmp(&sending_s(b, packet)))
            .ok_or_else(|| refuse("topology", "the flow has no path"))?;
        let ack = HEADERS.get() as f64 + if config.timestamps { 12.0 } else { 0.0 };
        let every = config.delayed_ack.map_or(1.0, |ack| f64::from(ack.every));
        // Where ACKs are counted the window grows by a segment for each; where bytes are, by all that it acknowledges.
        let counts_bytes = !parts.slow_start.counts_acks();
        let of_path = Transfer {
            segments: (size as f64 / payload).ceil(),
            handshake_s: self.round_trip_s(SYN_BYTES, SYN_BYTES),
            rtt_s: self.round_trip_s(packet, ack),
            segment_s: sending_s(slowest, packet),
            initial_window: parts.window.window(config.mss).get() as f64
                / f64::from(config.mss.get()),
            packets_per_ack: if counts_bytes { 1.0 } else { every },
            w_max_packets: self.most_segments(),
        };
        Ok((of_path, slowest))
    }

    fn doubts_of_transfer(
        &self,
        of_path: &Transfer,
        slowest: &PathLink,
        found: &transfer::Latency,
    ) -> Vec<String> {
        let (config, packet) = (&self.flow.config, self.sizes().1);
        let bdp = of_path.rtt_s / of_path.segment_s;
        let room = match slowest.limit.unit {
            QueueUnit::Packets => slowest.limit.amount as f64,
            QueueUnit::Bytes => slowest.limit.amount as f64 / packet,
        };
        let mut reasons = Vec::new();
        if found.largest_window > bdp + room {
            reasons.push(format!(
                "the window would come to {:.0} segments, and path and queue hold {:.0}: there would be losses",
                found.largest_window,
                bdp + room
            ));
        }
        if found.largest_window > bdp && config.parts.slow_start.leaves_early() {
            reasons.push("the queue would build, at which slow start may end early".into());
        }
        if config.pacing == Pacing::Linux {
            reasons.push("segments are paced, which the form does not have".into());
        }
        let opens = self.flow.opens.as_secs_f64();
        if opens + found.seconds > self.scenario.duration.as_secs_f64() {
            reasons.push("the transfer would end after the run".into());
        }
        reasons
    }

    /// The rate that the routers of an idle path approve; a path's first link has no router in front.
    fn approved(&self, asked: QuickStartRate) -> Option<QuickStartRate> {
        let mut rate = asked;
        for link in self.flow.there.iter().skip(1) {
            let config: &QuickStartConfig = link.quick_start.as_ref()?;
            rate = match config.behaviour {
                Behaviour::Approve => rate,
                Behaviour::Deny | Behaviour::Cheat { .. } => return None,
                Behaviour::Admit => {
                    rate.min(config.most).min(QuickStartRate::at_most(config.threshold))
                }
            };
        }
        (rate > QuickStartRate::NONE).then_some(rate)
    }
}

#[derive(Clone, Copy, PartialEq)]
enum PathLoss {
    None,
    Random(f64),
    Periodic(f64),
}

/// The time that a link takes to send so many bytes, s.
fn sending_s(link: &PathLink, bytes: f64) -> f64 {
    link.rate.map_or(0.0, |rate| bytes * 8.0 / rate.as_bps() as f64)
}

/// The volume of a transfer that has an end.
fn end_of(app: &Application) -> Option<Bytes> {
    app.transfer().filter(|volume| *volume != Bytes::UNLIMITED)
}

#[cfg(test)]
mod tests;
