use ackclock_units::random::Stream;
use ackclock_units::{Duration, Rate};

use super::*;
use crate::{
    AccessLineConfig, Discipline, ImpairmentConfig, Impairments, Installed, LinkConfig, LinkParts,
    Loss, PacketId, PacketKind, QueueLimit, QueueUnit, Reorder,
};

/// A packet of nothing but its number and its size.
#[derive(Clone, Debug, PartialEq)]
struct Parcel {
    number: u32,
    size: u32,
    flow: u32,
    marked: bool,
    /// Routers that it has passed.
    routers: u32,
}

fn parcel(number: u32, size: u32) -> Parcel {
    Parcel { number, size, flow: 0, marked: false, routers: 0 }
}

impl Payload for Parcel {
    fn size(&self) -> u32 {
        self.size
    }

    fn flow(&self) -> u32 {
        self.flow
    }

    fn has_data(&self) -> bool {
        true
    }

    fn opens(&self) -> bool {
        false
    }

    fn closes(&self) -> bool {
        false
    }

    fn asks_for_ecn(&self) -> bool {
        true
    }

    fn mark(&mut self) -> bool {
        !std::mem::replace(&mut self.marked, true)
    }

    fn forward(&mut self, _: Option<&mut crate::QuickStartRouter>) -> Forwarded {
        self.routers += 1;
        Forwarded { goes_on: true, decision: None }
    }

    fn congestion_header(&mut self) -> Option<&mut CongestionHeader> {
        None
    }
}

/// 8 Mbit/s, so that 1000 bytes take 1 ms, and 10 ms of delay.
fn config(discipline: Discipline) -> LinkConfig {
    LinkConfig {
        rate: Rate::from_bps(8_000_000),
        delay: Duration::from_millis(10),
        discipline,
        limit: QueueLimit { amount: 3, unit: QueueUnit::Packets },
        counts_in_service: false,
        mark: None,
        loss: Loss::NONE,
    }
}

fn link(config: LinkConfig) -> Link {
    Link::new(LinkParts::new(config, Stream::new(1, "link")))
}

/// Two links of a discipline one after another, and an end that sends over both.
fn chain(discipline: Discipline) -> Path<Parcel> {
    let mut path = Path::new(vec![link(config(discipline)), link(config(discipline))]);
    path.add_end(vec![Step::Link(0), Step::Link(1)], 7);
    path
}

const fn at(micros: u64) -> Instant {
    Instant::from_nanos(1000 * micros)
}

/// The arrivals by `until`: (microseconds, number).
fn delivered(path: &mut Path<Parcel>, until: Instant) -> Vec<(u64, u32)> {
    let mut all = Vec::new();
    while let Some(progress) = path.advance(until) {
        let micros = progress.at.as_nanos() / 1000;
        all.extend(progress.delivered.map(|delivery| (micros, delivery.payload.number)));
    }
    all
}

#[test]
fn packets_go_from_hop_to_hop() {
    // 1 ms and 10 ms a link; the second packet waits 1 ms at the first link and is right behind at the other.
    for discipline in [Discipline::FIFO, Discipline::RESCHEDULED_FIFO] {
        let mut path = chain(discipline);
        path.send(at(0), 0, parcel(1, 1000));
        path.send(at(0), 0, parcel(2, 1000));
        assert_eq!(path.packets_in_network(0), 2);
        assert_eq!(delivered(&mut path, at(30_000)), [(22_000, 1), (23_000, 2)]);
        assert_eq!((path.packets_in_network(0), path.next_at()), (0, None));
    }
}

#[test]
fn a_delivery_tells_where_to_and_when_the_first_link_began_to_send() {
    let mut path = chain(Discipline::FIFO);
    path.send(at(0), 0, parcel(1, 1000));
    path.send(at(500), 0, parcel(2, 500));
    let mut hops = Vec::new();
    let mut deliveries = Vec::new();
    while let Some(progress) = path.advance(at(30_000)) {
        hops.extend(progress.hop);
        deliveries.extend(progress.delivered);
    }
    let [first, second] = &*deliveries else { panic!("{deliveries:?}") };
    assert_eq!((first.to, first.first_sent, first.corrupted), (7, at(0), false));
    assert_eq!((second.to, second.first_sent), (7, at(1000)));
    // One router stands between the two links.
    assert_eq!(second.payload.routers, 1);
    let hop =
        |link, starts, departs, size| Hop { link, starts: at(starts), departs: at(departs), size };
    assert_eq!(
        hops,
        [
            hop(0, 0, 1000, 1000),
            hop(0, 1000, 1500, 500),
            hop(1, 11_000, 12_000, 1000),
            hop(1, 12_000, 12_500, 500)
        ]
    );
}

#[test]
fn a_departure_comes_before_an_arrival_of_the_same_instant() {
    // One is sent until 1 ms and three wait: the one that comes at 1 ms finds room, the one before it does not.
    for discipline in [Discipline::FIFO, Discipline::RESCHEDULED_FIFO] {
        let mut path = chain(discipline);
        path.count_crossings(0, 1);
        for number in 0..4 {
            path.send(at(0), 0, parcel(number, 1000));
        }
        path.send(at(999), 0, parcel(4, 1000));
        assert_eq!(path.take_lost().map(|lost| lost.number), Some(4));
        assert_eq!(delivered(&mut path, at(1000)), []);
        path.send(at(1000), 0, parcel(5, 1000));
        assert!(path.take_lost().is_none());
        assert_eq!(path.crossings(0), [[6, 1]]);
        assert_eq!(delivered(&mut path, at(60_000)).len(), 5);
    }
}

#[test]
fn a_change_moves_links_and_routes() {
    let mut path = chain(Discipline::RESCHEDULED_FIFO);
    let short = path.add_route(vec![Step::Link(1)], 9);
    let slower = LinkChange { rate: Some(Some(Rate::from_bps(4_000_000))), ..Default::default() };
    let n = path.add_change(Change { links: vec![(1, slower)], routes: vec![(0, short)] });
    path.change_at(at(5000), n);
    path.watch(1);
    assert!(path.advance(at(4999)).is_none());
    assert!(path.advance(at(5000)).is_some());
    assert_eq!((path.take_touched(), path.take_touched()), (Some(1), None));
    path.send(at(6000), 0, parcel(1, 1000));
    // 2 ms at half the rate, and 10 ms.
    assert_eq!(delivered(&mut path, at(30_000)), [(18_000, 1)]);
}

#[test]
fn what_befalls_packets_is_drawn_and_told() {
    let impaired = |impairments: ImpairmentConfig| {
        let impairments = Impairments::new(impairments, |what| Stream::new(1, what));
        let parts = LinkParts::new(config(Discipline::FIFO), Stream::new(1, "link"));
        let installed = Installed { impairments: Some(impairments), ..Installed::default() };
        let link = Link::new(LinkParts { installed, ..parts });
        let mut path = Path::new(vec![link]);
        path.add_end(vec![Step::Link(0)], 0);
        path.send(at(0), 0, parcel(1, 1000));
        path
    };
    let all = ImpairmentConfig {
        reorder: Reorder { share: 1.0, delay: Duration::from_millis(4) },
        duplicate: 1.0,
        corrupt: 1.0,
        jitter: None,
    };
    // Both arrive 4 ms late with a flipped bit.
    let mut path = impaired(all);
    assert_eq!(path.packets_in_network(0), 2);
    for _ in 0..2 {
        let progress = path.advance(at(20_000)).unwrap();
        assert_eq!((progress.at, progress.delivered.unwrap().corrupted), (at(15_000), true));
    }
    let lossy = LinkConfig { loss: Loss::Random(1.0), ..config(Discipline::FIFO) };
    let mut path = Path::new(vec![link(lossy)]);
    path.add_end(vec![Step::Link(0)], 0);
    path.send(at(0), 0, parcel(3, 1000));
    assert_eq!(path.take_lost(), Some(parcel(3, 1000)));
}

#[test]
fn marks_are_written_where_the_queue_is_long() {
    let mark = Some(QueueLimit { amount: 1, unit: QueueUnit::Packets });
    let mut path = Path::new(vec![link(LinkConfig { mark, ..config(Discipline::FIFO) })]);
    path.add_end(vec![Step::Link(0)], 0);
    // One is sent and one waits: the third is marked.
    for number in 0..3 {
        path.send(at(0), 0, parcel(number, 1000));
    }
    let mut marked = Vec::new();
    while let Some(progress) = path.advance(at(20_000)) {
        marked.extend(progress.delivered.map(|delivery| delivery.payload.marked));
    }
    assert_eq!(marked, [false, false, true]);
    assert_eq!(path.links_mut()[0].counters(at(20_000)).marked.packets, 1);
}

#[test]
fn private_lines_are_passed_without_an_event_between() {
    let mut path = Path::new(vec![link(config(Discipline::FIFO))]);
    let delay = Duration::from_millis(2);
    let line_config = AccessLineConfig { delay, ..AccessLineConfig::default() };
    let lines: Vec<Step> = (0..2)
        .map(|_| Step::Line(path.add_line(AccessLine::new(&line_config, Stream::new(1, "line")))))
        .collect();
    path.add_end(vec![lines[0], Step::Link(0), lines[1]], 0);
    path.send(at(0), 0, parcel(1, 1000));
    // 2 ms, 1 + 10 ms, 2 ms; two events: the end of the first line, and of the second. No router stands before the
    // first link.
    let progress = [path.advance(at(20_000)), path.advance(at(20_000))];
    let [Some(first), Some(second)] = progress else { panic!("{progress:?}") };
    assert_eq!((first.at, first.hop, second.at, second.hop), (at(2000), None, at(15_000), None));
    let delivery = second.delivered.unwrap();
    assert_eq!((delivery.first_sent, delivery.payload.routers), (at(0), 0));
    assert!(path.next_at().is_none());
}

#[test]
fn taps_see_what_links_send() {
    let mut path = chain(Discipline::FIFO);
    path.tap(0);
    let source = path.links_mut()[0].add_source();
    path.send(at(0), 0, parcel(1, 1000));
    let kind = PacketKind::new(Some(source), false, false);
    let cross = Packet { id: PacketId::new(u32::MAX), size: 500, class: 3, kind };
    path.offer_cross(at(100), 0, cross);
    let seen: Vec<_> = path
        .take_tapped()
        .into_iter()
        .map(|tapped| (tapped.starts, tapped.packet.size, tapped.payload.map(|p| p.number)))
        .collect();
    assert_eq!(seen, [(at(0), 1000, Some(1)), (at(1000), 500, None)]);
    assert_eq!(path.links()[0].sources()[0].offered.packets, 1);
}
