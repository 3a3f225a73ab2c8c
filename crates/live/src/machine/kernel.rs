//! The settings of a kernel end point for a scenario; keys that the kernel cannot follow are refused by name.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, TcpListener};

use ackclock_laws::growth::laws_of_linux;
use ackclock_laws::start::JumpChoice;
use ackclock_laws::words::Choice as _;
use ackclock_packet::QuickStartRate;
use ackclock_sim::ScenarioError;
use ackclock_sim::scenario::{
    EndpointSpec, EventTime, NetworkSpec, Scenario, TrafficApp, VariantChoice,
};
use ackclock_tcp::config::{AutotuneSpec, DelayedAckSpec, RledbatSpec};
use ackclock_tcp::{Config, EcnEcho, EcnMode, LossReduces, Nagle, Pacing, Profile, TcpSpec};
use ackclock_units::{Bytes, Duration};

use crate::base::options::{End, Extras, QuickStartEnd};
use crate::machine::netlink::RouteMetrics;
use crate::sys;

/// IP and TCP headers without options, and the option of Quick-Start (RFC 4782 §3.1; in IPv6 with its
/// header), which may stand in front of a full segment.
const fn headers(network: NetworkSpec) -> (u32, u32) {
    match network {
        NetworkSpec::Ipv4 => (40, 8),
        NetworkSpec::Ipv6 => (60, 16),
    }
}

/// RFC 8200 §5. Linux speaks no IPv6 on devices of smaller packets.
const LEAST_IPV6_MTU: u32 = 1280;
/// The option of timestamps, padded (RFC 7323 appendix A).
const TIMESTAMPS: u32 = 12;

/// A kernel end point: how its namespace and its sockets are set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelSettings {
    /// The protocol below TCP.
    pub network: NetworkSpec,
    /// The congestion control.
    pub congestion_control: String,
    /// Settings of its namespace: (name, value).
    pub sysctls: Vec<(&'static str, String)>,
    /// The metrics of its route.
    pub route: RouteMetrics,
    /// The largest packet of its device.
    pub mtu: u32,
    /// Bytes of a full segment with its headers, without Quick-Start's option.
    pub packet: u32,
    /// Payload of a full segment.
    pub payload: u32,
    /// True if less than a full segment is sent at once.
    pub no_delay: bool,
    /// True if its TCP paces.
    pub paced: bool,
    /// The largest window that it offers.
    pub window_clamp: Option<u32>,
}

/// The owners of the ends of each entry, flows first, then traffic classes: as `said` for all, or as the
/// entry says, or the kernel.
pub fn ends(scenario: &Scenario, said: [Option<End>; 2]) -> Vec<[End; 2]> {
    let own = scenario.flows.iter().map(|flow| flow.endpoint);
    let own = own.chain(scenario.traffic.iter().map(|class| class.endpoint));
    own.map(|own| {
        let own = match own {
            None | Some(EndpointSpec::Kernel) => End::Kernel,
            Some(EndpointSpec::Ackclock) => End::Own,
        };
        said.map(|said| said.unwrap_or(own))
    })
    .collect()
}

const NO_QUICK_START: &str =
    "the kernel knows no Quick-Start, expected `endpoint = \"ackclock\"` for a live run";

/// A law that a sender of a scenario has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SenderLaw {
    /// The key of the first sender that has it.
    pub key: String,
    /// Its word: that of the law, and those of the parts that the kernel has no setting for.
    pub word: String,
    /// True if the kernel has it, and needs none of ours.
    pub is_kernels: bool,
}

/// The laws of the senders of `scenario` that are to be the kernel's, each once.
///
/// # Errors
/// Settings that do not go together.
pub fn sender_laws(
    scenario: &Scenario,
    ends: &[[End; 2]],
) -> Result<Vec<SenderLaw>, ScenarioError> {
    let mut laws: Vec<SenderLaw> = Vec::new();
    for (asked, ends) in entries(scenario)?.iter().zip(ends) {
        let by_kernel = sender_of(asked, *ends) == End::Kernel && asked.profile == Profile::Linux;
        let Named { word, beside, .. } = Named::of(&asked.config);
        if by_kernel && laws.iter().all(|known| known.word != word) {
            let module = asked.config.parts.growth.in_linux();
            let is_kernels = beside.is_empty() && module.is_some_and(has_module);
            laws.push(SenderLaw { key: format!("{}.variant", asked.key), word, is_kernels });
        }
    }
    Ok(laws)
}

/// Those of [`sender_laws`] that the kernel has no module of.
///
/// # Errors
/// Settings that do not go together.
pub fn laws_wanted(
    scenario: &Scenario,
    ends: &[[End; 2]],
) -> Result<Vec<SenderLaw>, ScenarioError> {
    let mut laws = sender_laws(scenario, ends)?;
    laws.retain(|law| !law.is_kernels);
    Ok(laws)
}

/// The words of a sender's name, by who follows them.
struct Named {
    /// The law, and `beside`; of a first window, too, if there are some.
    word: String,
    /// Parts that a law of ours would bring.
    beside: Vec<String>,
    /// The first window, in segments.
    initial_window: Option<u32>,
    /// False if silence is to cost nothing.
    restart: bool,
    /// The word of a Quick-Start request.
    quick_start: Option<String>,
}

impl Named {
    fn of(config: &Config) -> Self {
        let name = config.parts.name(Profile::Linux);
        let growth = config.parts.growth.spelled();
        let mut named = Self {
            word: growth,
            beside: Vec::new(),
            initial_window: None,
            restart: true,
            quick_start: None,
        };
        for word in name.split('+').skip(1) {
            if let Some(window) = word.strip_prefix("iw").and_then(|window| window.parse().ok()) {
                named.initial_window = Some(window);
            } else if word == "linuxidle(norestart)" {
                named.restart = false;
            } else if matches!(config.parts.jump, JumpChoice::QuickStart(_))
                && word.starts_with("quickstart(")
            {
                named.quick_start = Some(word.to_owned());
            } else {
                named.beside.push(word.to_owned());
            }
        }
        let window = named.initial_window.filter(|_| !named.beside.is_empty());
        let window = window.map(|window| format!("iw{window}"));
        for word in window.iter().chain(&named.beside) {
            named.word.push('+');
            named.word.push_str(word);
        }
        named
    }
}

/// True if `config` makes an end take part in Quick-Start.
const fn takes_part(config: &Config) -> bool {
    matches!(config.parts.jump, JumpChoice::QuickStart(_)) || config.quick_start.answers
}

/// The key of the first sender of `scenario` that is the kernel's and takes part in Quick-Start.
///
/// # Errors
/// Settings that do not go together.
pub fn wants_quick_start(
    scenario: &Scenario,
    ends: &[[End; 2]],
) -> Result<Option<String>, ScenarioError> {
    let entries = entries(scenario)?;
    let mut wants = entries.iter().zip(ends).filter(|(asked, ends)| {
        sender_of(asked, **ends) == End::Kernel && takes_part(&asked.config)
    });
    Ok(wants.next().map(|(asked, _)| format!("{}.variant", asked.key)))
}

/// The part in Quick-Start of an end with these settings, whose segments are full packets of `packet` bytes; `None` of one
/// that takes none.
pub fn quick_start_end(config: &Config, packet: u32, payload: u32) -> Option<QuickStartEnd> {
    let own = config.quick_start;
    let (asks, sets_threshold) = match config.parts.jump {
        JumpChoice::QuickStart(jump) if own.asks => (jump.rate, jump.ssthresh_approved),
        _ => (QuickStartRate::NONE, false),
    };
    takes_part(config).then_some(QuickStartEnd {
        asks,
        at_setup: own.at_setup,
        after_idle: own.after_idle,
        answers: true,
        most: own.most,
        lies: own.lies,
        packet,
        payload,
        sets_threshold,
    })
}

/// True if the kernel has this congestion control, or a module that it loads when it is asked for it.
fn has_module(name: &str) -> bool {
    // A user who may not have it is told so by another error.
    let asked = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|socket| sys::set_congestion_control(&socket.into(), name));
    asked.err().is_none_or(|error| error.kind() != ErrorKind::NotFound)
}

/// Refuses, by name, what `scenario` asks and a live run cannot do whose ends are these, on a kernel that has `extras`.
///
/// # Errors
/// The first such key.
pub fn check(
    scenario: &Scenario,
    ends: &[[End; 2]],
    extras: Extras<'_>,
) -> Result<(), ScenarioError> {
    let refuse = |key: String, message: &str| Err(ScenarioError::new(&key, message));
    for (n, event) in scenario.events.iter().enumerate() {
        if matches!(event.at, EventTime::After(_)) {
            let message = "a live run knows no events of flows, expected a moment such as \"10 s\"";
            return refuse(format!("event[{n}].at"), message);
        }
    }
    for (n, measure) in scenario.measures.iter().enumerate() {
        if matches!(measure.from, EventTime::After(_)) {
            let message = "a live run knows no events of flows, expected a moment such as \"10 s\"";
            return refuse(format!("measure[{n}].from"), message);
        }
    }
    for (n, flow) in scenario.flows.iter().enumerate() {
        if flow.app.needs_one_transport() && ends[n][0] != ends[n][1] {
            let message = "a video in segments needs both ends of one kind, kernel or ackclock";
            return refuse(format!("flow[{n}].app.kind"), message);
        }
        if flow.app.asks().is_some() && ends[n][0] == End::Kernel {
            return refuse(format!("flow[{n}].app.quick_start"), NO_QUICK_START);
        }
        if flow.app.program().is_some() && ends[n].contains(&End::Own) {
            let message = "a program's sockets are the kernel's, expected both ends kernel";
            return refuse(format!("flow[{n}].app.kind"), message);
        }
    }
    for (n, class) in scenario.traffic.iter().enumerate() {
        let key = |word: &str| format!("traffic[{n}].{word}");
        if let Some(why) = refused_app(&class.app) {
            let message =
                format!("{why}; expected \"request\", \"bulk\" or \"packmime\" for a live run");
            return refuse(key("app.kind"), &message);
        }
        if !matches!(class.variant, VariantChoice::One(_)) {
            return refuse(key("variant"), "expected one sender for a live run");
        }
        // It is the server that asks.
        if class.app.asks().is_some() && ends[scenario.flows.len() + n][1] == End::Kernel {
            return refuse(key("app.quick_start"), NO_QUICK_START);
        }
        if class.utilisation.is_some() {
            return refuse(key("utilisation"), "a live run searches no rate");
        }
    }
    for (asked, ends) in entries(scenario)?.iter().zip(ends) {
        if ends.contains(&End::Kernel) {
            settings(asked, sender_of(asked, *ends), extras)?;
        }
    }
    Ok(())
}

/// The reason why a live run has no connections of this application; `None` if it has. Every kind is named here, so
/// that a new one is not run as something else.
const fn refused_app(app: &TrafficApp) -> Option<&'static str> {
    match app {
        TrafficApp::Bulk { .. } | TrafficApp::Request { .. } | TrafficApp::Packmime { .. } => None,
        TrafficApp::Browser(_) => Some("a live run has no users who open connections"),
    }
}

/// The owner of the end that sends: in a traffic class both ends may.
pub fn sender_of(asked: &Asked<'_>, ends: [End; 2]) -> End {
    if asked.both && ends.contains(&End::Kernel) { End::Kernel } else { ends[0] }
}

/// The settings of an entry of the file, as the scenario gives them.
#[derive(Clone, Debug)]
pub struct Asked<'a> {
    /// The entry, such as `flow[0]`.
    pub key: String,
    /// The name that it has.
    pub name: &'a str,
    config: Config,
    profile: Profile,
    tcp: &'a TcpSpec,
    network: NetworkSpec,
    /// True if both ends send.
    pub both: bool,
    /// True if its sockets are programs' own.
    pub programs: bool,
}

/// Every entry of `scenario`, flows first, then traffic classes.
///
/// # Errors
/// Settings that do not go together.
pub fn entries(scenario: &Scenario) -> Result<Vec<Asked<'_>>, ScenarioError> {
    let mut entries = Vec::with_capacity(scenario.flows.len() + scenario.traffic.len());
    for (n, flow) in scenario.flows.iter().enumerate() {
        let key = format!("flow[{n}]");
        let config = flow.config();
        let config = config.map_err(|why| ScenarioError::new(&format!("{key}.variant"), &why))?;
        let (profile, tcp, network) = (flow.profile, &flow.tcp, flow.network);
        // What asks for a file sends too.
        let programs = flow.app.program().is_some();
        let name = &flow.name;
        entries.push(Asked { key, name, config, profile, tcp, network, both: programs, programs });
    }
    for (n, class) in scenario.traffic.iter().enumerate() {
        let key = format!("traffic[{n}]");
        let error = |why: &str| ScenarioError::new(&format!("{key}.variant"), why);
        let configs = class.configs().map_err(|why| error(&why))?;
        let (config, _) = configs.first().copied().ok_or_else(|| error("expected a sender"))?;
        let (profile, tcp, network) = (class.profile, &class.tcp, class.network);
        let (name, programs) = (&class.name, false);
        entries.push(Asked { key, name, config, profile, tcp, network, both: true, programs });
    }
    Ok(entries)
}

/// The kernel's words for the end points of an entry whose sender is this.
///
/// # Errors
/// The first key that the kernel has no word for.
pub fn settings(
    asked: &Asked<'_>,
    sender: End,
    extras: Extras<'_>,
) -> Result<KernelSettings, ScenarioError> {
    let key = |word: &str| format!("{}.{word}", asked.key);
    let (config, tcp) = (&asked.config, asked.tcp);
    if config.parts.growth.about().routers.is_some() {
        let message = "the header of `rcp` and `xcp` has no form on the wire; expected another law \
                       for a live run";
        return Err(ScenarioError::new(&key("variant"), message));
    }
    let (headers, option) = headers(asked.network);
    let mut mtu = u32::from(config.mss.get()) + headers;
    let mut sysctls: Vec<(&'static str, String)> = Vec::new();
    if asked.network == NetworkSpec::Ipv6 {
        if mtu < LEAST_IPV6_MTU {
            let least = LEAST_IPV6_MTU - headers;
            let message = format!("the kernel's devices carry IPv6 from \"{least} B\" on");
            return Err(ScenarioError::new(&key("tcp.mss"), &message));
        }
        sysctls.extend(IPV6.map(|(name, value)| (name, value.to_owned())));
    }
    let Sender { congestion_control, initial_window, restart } = match sender {
        End::Kernel => kernel_sender(asked.profile, config, extras, &key)?,
        // The law of a host that only receives makes no difference.
        End::Own => {
            Sender { congestion_control: "reno".to_owned(), initial_window: None, restart: true }
        }
    };
    let mut route = RouteMetrics { initial_window, ..RouteMetrics::default() };
    refuse_settings(tcp, &key)?;
    let quick_start = sender == End::Kernel && takes_part(config);
    if quick_start && !extras.quick_start && tcp.quick_start.is_some() {
        return Err(ScenarioError::new(&key("tcp.quick_start"), NO_QUICK_START));
    }
    if quick_start && extras.quick_start {
        if asked.network == NetworkSpec::Ipv6 {
            let message = "the kernel's ends speak Quick-Start over IPv4, expected \"ipv4\"";
            return Err(ScenarioError::new(&key("network"), message));
        }
        // Room for the option in front of a full segment.
        mtu += option;
        route.advertised_mss = Some(u32::from(config.mss.get()));
    }
    if asked.programs {
        let set = [("pacing", tcp.pacing.is_some()), ("nagle", tcp.nagle.is_some())];
        if let Some((word, _)) = set.iter().find(|(_, set)| *set) {
            let message = "an option of sockets, and a program's are its own; leave this key out";
            return Err(ScenarioError::new(&key(&format!("tcp.{word}")), message));
        }
    }
    let flag = |on: bool| u8::from(on).to_string();
    sysctls.push(("net.ipv4.tcp_slow_start_after_idle", flag(restart)));
    sysctls.push(("net.ipv4.tcp_sack", flag(config.sack)));
    sysctls.push(("net.ipv4.tcp_timestamps", flag(config.timestamps)));
    sysctls.push(("net.ipv4.tcp_window_scaling", flag(config.window_scaling)));
    let ecn = match tcp.ecn {
        Some(EcnMode::Off) => "0",
        Some(EcnMode::On) => "1",
        _ if sender == End::Kernel && config.parts.growth.about().needs_marks => "1",
        Some(EcnMode::Passive) | None => "2",
    };
    sysctls.push(("net.ipv4.tcp_ecn", ecn.to_owned()));
    // Kernels before 6.15 have no such setting, and need none for the value that all have.
    if config.rto.max != Duration::from_secs(120) {
        let millis = config.rto.max.as_nanos() / 1_000_000;
        sysctls.push(("net.ipv4.tcp_rto_max_ms", millis.to_string()));
    }
    if config.rto.min != Duration::from_millis(200) {
        route.min_rto_ms = u32::try_from(config.rto.min.as_nanos() / 1_000_000).ok();
    }
    sysctls.push(("net.ipv4.tcp_syn_retries", config.retries.syn.to_string()));
    sysctls.push(("net.ipv4.tcp_synack_retries", config.retries.syn_ack.to_string()));
    if let Some(retries) = config.retries.data {
        sysctls.push(("net.ipv4.tcp_retries2", retries.to_string()));
    }
    let memory = |initial: Bytes, most: Bytes| format!("4096 {} {}", initial.get(), most.get());
    let mut window_clamp = None;
    if let Some(autotune) = config.autotune {
        sysctls.push(("net.ipv4.tcp_rmem", memory(autotune.initial, autotune.most)));
    } else {
        // A fixed window: memory for twice as much, as headers take some of it.
        let room = Bytes::new((config.receive_window.get() * 4).clamp(1 << 20, 1 << 30));
        sysctls.push(("net.ipv4.tcp_rmem", memory(room, room)));
        window_clamp = Some(u32::try_from(config.receive_window.get()).unwrap_or(u32::MAX));
    }
    // The simulator has no send buffer, so that none may bound the kernel.
    sysctls.push(("net.ipv4.tcp_wmem", "4096 65536 67108864".to_owned()));
    // One run must not know the last.
    sysctls.push(("net.ipv4.tcp_no_metrics_save", "1".to_owned()));
    route.quick_ack = config.delayed_ack.is_none();
    if asked.programs {
        // What options say on sockets of our own.
        route.congestion_control = Some(congestion_control.clone());
        route.window = window_clamp;
    }
    Ok(KernelSettings {
        network: asked.network,
        congestion_control,
        sysctls,
        route,
        mtu,
        packet: u32::from(config.mss.get()) + headers,
        payload: u32::from(config.mss.get()) - if config.timestamps { TIMESTAMPS } else { 0 },
        no_delay: matches!(tcp.nagle, Some(Nagle::Off)),
        paced: matches!(tcp.pacing, Some(Pacing::Linux)),
        window_clamp,
    })
}

/// The settings of an entry that has no end of the kernel's.
pub fn unused(asked: &Asked<'_>) -> KernelSettings {
    let mss = u32::from(asked.config.mss.get());
    let (headers, quick_start) = headers(asked.network);
    KernelSettings {
        network: asked.network,
        congestion_control: "none".to_owned(),
        sysctls: Vec::new(),
        route: RouteMetrics::default(),
        mtu: mss + headers + quick_start,
        packet: mss + headers,
        payload: mss,
        no_delay: false,
        paced: false,
        window_clamp: None,
    }
}

/// IPv6 settings of a namespace: a host sends nothing but what a connection needs. No address is derived from the
/// device, no router is asked for, no neighbour is asked whether an address is in use.
pub const IPV6: [(&str, &str); 6] = [
    ("net.ipv6.conf.all.disable_ipv6", "0"),
    ("net.ipv6.conf.default.disable_ipv6", "0"),
    ("net.ipv6.conf.default.addr_gen_mode", "1"),
    ("net.ipv6.conf.default.accept_ra", "0"),
    ("net.ipv6.conf.default.router_solicitations", "0"),
    ("net.ipv6.conf.default.accept_dad", "0"),
];

/// A kernel sender.
struct Sender {
    congestion_control: String,
    initial_window: Option<u32>,
    restart: bool,
}

/// The kernel's words for a variant.
fn kernel_sender(
    profile: Profile,
    config: &Config,
    extras: Extras<'_>,
    key: &impl Fn(&str) -> String,
) -> Result<Sender, ScenarioError> {
    let refuse = |word: &str, message: &str| Err(ScenarioError::new(&key(word), message));
    if profile != Profile::Linux {
        return refuse(
            "profile",
            "the kernel's habits are its own, expected \"linux\" for a live run",
        );
    }
    let Named { word, beside, initial_window, restart, quick_start } = Named::of(config);
    let law = config.parts.name(Profile::Linux);
    let law = law.split('+').next().unwrap_or_default();
    let module = config.parts.growth.in_linux();
    let loaded = extras.laws.iter().find(|law| law.word == word).map(|law| law.name.as_str());
    if let (None, Some(module), Some(part)) = (loaded, module, beside.first()) {
        let message = format!(
            "the kernel's `{module}` comes without `+{part}`; a live run takes `+iw<N>`, \
             `+linuxidle(norestart)`, and as laws of ours `+cwv`, `+newcwv` and `+tsl(IW,SSTHRESH)`"
        );
        return refuse("variant", &message);
    }
    let Some(congestion_control) = loaded.or(module) else {
        let known: Vec<&str> = laws_of_linux().map(|(ours, _)| ours).collect();
        let namesake = laws_of_linux().find(|(_, kernels)| *kernels == law);
        let hint = namesake.map_or_else(String::new, |(ours, kernels)| {
            format!("; the kernel's `{kernels}` is our `{ours}`")
        });
        let message = format!(
            "the kernel has no `{law}`, expected one of {} for a live run{hint}",
            known.join(", ")
        );
        return refuse("variant", &message);
    };
    if let (Some(word), false) = (quick_start, extras.quick_start) {
        let message = format!(
            "the kernel's `{congestion_control}` comes without `+{word}`; a live run takes \
             `+iw<N>` and `+linuxidle(norestart)`"
        );
        return refuse("variant", &message);
    }
    let congestion_control = congestion_control.to_owned();
    Ok(Sender { congestion_control, initial_window, restart })
}

/// Refuses what no setting of the kernel says.
fn refuse_settings(tcp: &TcpSpec, key: &impl Fn(&str) -> String) -> Result<(), ScenarioError> {
    let refuse =
        |word: &str, message: &str| Err(ScenarioError::new(&key(&format!("tcp.{word}")), message));
    if tcp.initial_rto.is_some_and(|rto| rto != Duration::from_secs(1)) {
        return refuse("initial_rto", "the kernel's is 1 s and cannot be changed");
    }
    if tcp.clock_granularity.is_some_and(|tick| tick != Duration::from_millis(1)) {
        return refuse("clock_granularity", "the kernel's is 1 ms and cannot be changed");
    }
    if matches!(&tcp.delayed_ack, Some(DelayedAckSpec::On(on)) if !on.quick) {
        return refuse("delayed_ack", "the kernel's own or \"off\", nothing between");
    }
    if matches!(tcp.receive_autotune, Some(AutotuneSpec::Off(_))) && tcp.receive_window.is_none() {
        return refuse("receive_autotune", "expected a `receive_window` in its place");
    }
    if tcp.loss_reduces.is_some_and(|what| what != LossReduces::Cwnd) {
        return refuse("loss_reduces", "the kernel reduces the congestion window, \"cwnd\"");
    }
    if matches!(tcp.nagle, Some(Nagle::On)) {
        return refuse("nagle", "the kernel has \"minshall\" and \"off\"");
    }
    for (word, set) in [
        ("lost_syns_forgiven", tcp.lost_syns_forgiven.is_some()),
        ("answer_repeated_syn", tcp.answer_repeated_syn.is_some()),
        ("three_seconds_after_lost_syn", tcp.three_seconds_after_lost_syn.is_some()),
        ("abe", tcp.abe.is_some()),
        ("ecn_echo", matches!(tcp.ecn_echo, Some(EcnEcho::Exact))),
        ("rledbat", tcp.rledbat.is_some_and(|law| law != RledbatSpec::Off)),
    ] {
        if set {
            return refuse(word, "the kernel has no such setting");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
