use ackclock_units::random::{Law, Stream};
use ackclock_units::{Bytes, Duration, Instant};

use libm::pow;

use super::*;
use crate::Exchange;

const DRAWS: usize = 40_000;

/// The distance of Kolmogorov and Smirnov of `draws` from a distribution function that is continuous.
fn distance(mut draws: Vec<f64>, cdf: impl Fn(f64) -> f64) -> f64 {
    draws.sort_by(f64::total_cmp);
    let n = draws.len() as f64;
    let gaps = draws.iter().enumerate().map(|(i, x)| {
        let p = cdf(*x);
        (p - i as f64 / n).abs().max((p - (i as f64 + 1.0) / n).abs())
    });
    gaps.fold(0.0, f64::max)
}

/// The distance that is exceeded once in a hundred: 1.63/sqrt(n).
fn critical() -> f64 {
    1.63 / (DRAWS as f64).sqrt()
}

fn normal_cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z / std::f64::consts::SQRT_2)
}

fn model(surge: Surge) -> PageModel {
    PageModel {
        size: surge.file_sizes(),
        largest: Some(Surge::LARGEST),
        embedded: surge.embedded(),
        think: surge.think(),
        active_off: Surge::active_off(),
        request: Law::Fixed(300.0),
        server_delay: Law::Fixed(0.0),
    }
}

/// `DRAWS` pages, and of each the first `objects` objects.
fn draws(model: &PageModel) -> Vec<Page> {
    let mut random = Stream::new(11, "pages");
    let draw = |_| {
        let mut page = Page::default();
        model.draw(&mut random, &mut page);
        page
    };
    (0..DRAWS).map(draw).collect()
}

#[test]
fn sizes_have_the_published_body_and_tail() {
    // (set, mu, sigma, k, alpha), as in the docstrings' sources; cut off at 10 MB.
    let sets =
        [(Surge::Of1998, 9.357, 1.318, 133e3, 1.1), (Surge::Of1999, 7.630, 1.001, 10e3, 1.0)];
    for (surge, mu, sigma, k, alpha) in sets {
        let whole = |x: f64| {
            let tail = if x > k { 1.0 - pow(k / x, alpha) } else { 0.0 };
            0.93 * normal_cdf((libm::log(x) - mu) / sigma) + 0.07 * tail
        };
        let sizes = draws(&model(surge));
        let sizes = sizes.iter().map(|page| page.objects[0].response.get() as f64).collect();
        let far = distance(sizes, |x| (whole(x) / whole(1e7)).min(1.0));
        assert!(far < critical(), "{surge:?}: {far}");
    }
}

#[test]
fn what_is_asked_for_is_pareto() {
    let model = PageModel { size: Surge::request_sizes(), ..model(Surge::Of1998) };
    let pages = draws(&model);
    let sizes = pages.iter().map(|page| page.objects[0].response.get() as f64).collect();
    // P(X <= x) = (1 - 1000/x)/(1 - 1000/10^7). Rounded up: half a byte at 1000 B is 0.0005.
    let far = distance(sizes, |x| (1.0 - 1000.0 / x.max(1000.0)) / (1.0 - 1e-4));
    assert!(far < critical() + 0.001, "{far}");
}

#[test]
fn times_have_the_published_laws() {
    for (surge, alpha) in [(Surge::Of1998, 1.5), (Surge::Of1999, 1.4)] {
        let pages = draws(&model(surge));
        let thought = pages.iter().map(|page| page.think.as_secs_f64()).collect();
        let far = distance(thought, |x| 1.0 - pow(x.max(1.0), -alpha));
        assert!(far < critical(), "{surge:?}: {far}");
        // Each page has an embedded object at least.
        let off = pages.iter().map(|page| page.objects[1].gap.as_secs_f64()).collect();
        let far = distance(off, |x| 1.0 - libm::exp(-pow(x / 1.46, 0.382)));
        assert!(far < critical(), "{surge:?}: {far}");
        assert!(pages.iter().all(|page| page.objects[0].gap == Duration::ZERO));
    }
}

#[test]
fn embedded_objects_are_a_pareto_number_rounded_down() {
    for (surge, k, alpha) in [(Surge::Of1998, 1.0, 2.43), (Surge::Of1999, 2.0, 1.245)] {
        let counts: Vec<usize> =
            draws(&model(surge)).iter().map(|page| page.objects.len() - 1).collect();
        for n in [1_usize, 2, 3, 5, 10, 30, 100] {
            // P(N <= n) = P(X < n + 1) = 1 - (k/(n + 1))^alpha, of what is not above 1000.
            let cut = 1.0 - pow(k / 1000.0, alpha);
            let expected = (1.0 - pow(k / (n as f64 + 1.0), alpha)).max(0.0) / cut;
            let share = counts.iter().filter(|count| **count <= n).count() as f64 / DRAWS as f64;
            // Four standard deviations, at most 0.0025 each.
            let off = 4.0 * (expected * (1.0 - expected) / DRAWS as f64).sqrt();
            assert!((share - expected).abs() <= off, "{surge:?} {n}: {share} {expected}");
        }
    }
}

#[test]
fn a_bound_below_every_draw_is_the_size() {
    let model = PageModel {
        size: SizeLaw::One(Law::Fixed(500.0)),
        largest: Some(Bytes::new(100)),
        embedded: Law::Fixed(1.9),
        ..model(Surge::Of1998)
    };
    let mut page = Page::default();
    model.draw(&mut Stream::new(1, "pages"), &mut page);
    assert_eq!(page.objects.len(), 2);
    assert_eq!(page.volume(), Bytes::new(200));
}

/// A page of a base object and three embedded ones, each with 10 ms of the browser's own, and 2 s to
/// think.
fn four_objects() -> PageModel {
    PageModel {
        size: SizeLaw::One(Law::Fixed(1000.0)),
        largest: None,
        embedded: Law::Fixed(3.0),
        think: Law::Fixed(2.0),
        active_off: Law::Fixed(0.010),
        request: Law::Fixed(100.0),
        server_delay: Law::Fixed(0.0),
    }
}

const fn ms(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

/// The acts of a user when objects come 50 ms after they were asked for: (ms, act), and the pages.
fn story(browsing: Browsing, until: u64) -> (Vec<(u64, String)>, Vec<PageView>) {
    let model = four_objects();
    let mut user = User::new(ms(0), browsing, &model, Stream::new(1, "user"));
    let (mut told, mut pages, mut coming) = (Vec::new(), Vec::new(), Vec::<(u64, u32)>::new());
    let mut connections = 0;
    for now in 0..until {
        let arrived: Vec<u32> =
            coming.iter().filter(|(at, _)| *at == now).map(|(_, on)| *on).collect();
        for on in arrived {
            pages.extend(user.came(ms(now), on, &model));
        }
        while let Some(act) = user.act(ms(now)) {
            told.push((
                now,
                match act {
                    Act::Open => {
                        user.opened(connections);
                        connections += 1;
                        format!("open {}", connections - 1)
                    }
                    Act::Ask(on, exchange) => {
                        assert_eq!(exchange, Exchange { gap: exchange.gap, ..asked() });
                        coming.push((now + 50, on));
                        format!("ask {on}")
                    }
                    Act::Close(on) => format!("close {on}"),
                },
            ));
        }
        assert!(user.due().is_none_or(|due| due > ms(now)));
    }
    (told, pages)
}

fn asked() -> Exchange {
    Exchange { request: Bytes::new(100), response: Bytes::new(1000), ..Exchange::default() }
}

fn browsing(http: Http, connections: u32) -> Browsing {
    Browsing { http, connections, keep_alive: Duration::ZERO, pages: 1, stop: Instant::NEVER }
}

fn words(told: &[(u64, String)]) -> Vec<(u64, &str)> {
    told.iter().map(|(at, what)| (*at, what.as_str())).collect()
}

#[test]
fn http_1_0_opens_a_connection_an_object() {
    // The base object comes at 50; on two connections an embedded one each is asked for at 60, which
    // comes at 110; the third at 120 comes at 170.
    let (told, pages) = story(browsing(Http::OneEach, 2), 1000);
    let expected = [
        (0, "open 0"),
        (0, "ask 0"),
        (60, "open 1"),
        (60, "ask 1"),
        (60, "open 2"),
        (60, "ask 2"),
        (120, "open 3"),
        (120, "ask 3"),
    ];
    assert_eq!(words(&told), expected);
    let [page] = pages[..] else { panic!("one page") };
    assert_eq!((page.objects, page.came, page.connections, page.opened), (4, 4, 4, 4));
    assert_eq!(page.bytes, Bytes::new(4000));
    assert_eq!((page.requested, page.base, page.completed), (ms(0), Some(ms(50)), Some(ms(170))));
}

#[test]
fn a_persistent_connection_carries_one_request_at_a_time() {
    // 50, and three times 10 + 50 more.
    let (told, pages) = story(browsing(Http::Persistent, 1), 1000);
    let expected = [
        (0, "open 0"),
        (0, "ask 0"),
        (60, "ask 0"),
        (120, "ask 0"),
        (180, "ask 0"),
        (230, "close 0"),
    ];
    assert_eq!(words(&told), expected);
    assert_eq!((pages[0].connections, pages[0].completed), (1, Some(ms(230))));
    // A second connection takes one of the three.
    let (told, pages) = story(browsing(Http::Persistent, 2), 1000);
    let asked: Vec<_> = words(&told).into_iter().filter(|(_, word)| word.contains("ask")).collect();
    assert_eq!(asked, [(0, "ask 0"), (60, "ask 0"), (60, "ask 1"), (120, "ask 0")]);
    assert_eq!((pages[0].connections, pages[0].completed), (2, Some(ms(170))));
}

#[test]
fn pipelining_asks_for_all_at_once() {
    let (told, pages) = story(browsing(Http::Pipelined, 1), 1000);
    let expected = [
        (0, "open 0"),
        (0, "ask 0"),
        (60, "ask 0"),
        (60, "ask 0"),
        (60, "ask 0"),
        (110, "close 0"),
    ];
    assert_eq!(words(&told), expected);
    assert_eq!(pages[0].completed, Some(ms(110)));
}

#[test]
fn connections_are_kept_for_the_next_page_or_until_they_expire() {
    // The first page is complete at 110; the next begins 2 s later.
    let keep = |keep_alive| Browsing {
        keep_alive: Duration::from_millis(keep_alive),
        pages: 2,
        ..browsing(Http::Pipelined, 1)
    };
    let (told, pages) = story(keep(2500), 4000);
    assert_eq!(words(&told)[5..7], [(2110, "ask 0"), (2170, "ask 0")]);
    // No third page comes: nothing is kept.
    assert_eq!(words(&told).last(), Some(&(2220, "close 0")));
    assert_eq!((pages[1].connections, pages[1].opened), (1, 0));
    let (told, pages) = story(keep(500), 4000);
    assert_eq!(words(&told)[5..8], [(610, "close 0"), (2110, "open 1"), (2110, "ask 1")]);
    assert_eq!((pages[1].page, pages[1].requested, pages[1].opened), (1, ms(2110), 1));
}

#[test]
fn no_page_begins_after_the_stop() {
    let stop = Browsing { pages: 9, stop: ms(2110), ..browsing(Http::Pipelined, 1) };
    assert_eq!(story(stop, 6000).1.len(), 1);
    assert_eq!(story(Browsing { stop: ms(2111), ..stop }, 6000).1.len(), 2);
}

#[test]
fn a_page_whose_connection_breaks_is_given_up() {
    let model = four_objects();
    let two = Browsing { pages: 2, ..browsing(Http::Persistent, 2) };
    let mut user = User::new(ms(0), two, &model, Stream::new(1, "user"));
    let act = |user: &mut User, now| {
        let act = user.act(ms(now));
        if act == Some(Act::Open) {
            user.opened(u32::try_from(now).unwrap());
        }
        act
    };
    assert_eq!(act(&mut user, 0), Some(Act::Open));
    assert!(matches!(act(&mut user, 0), Some(Act::Ask(0, _))));
    assert_eq!(user.came(ms(50), 0, &model), None);
    assert!(matches!(act(&mut user, 60), Some(Act::Ask(0, _))));
    assert_eq!(act(&mut user, 60), Some(Act::Open));
    assert!(matches!(act(&mut user, 60), Some(Act::Ask(60, _))));
    // The second connection goes; the first is closed, and what still comes on it means nothing.
    let page = user.lost(ms(100), 60, &model).unwrap();
    assert_eq!((page.came, page.completed), (1, None));
    assert_eq!(act(&mut user, 100), Some(Act::Close(0)));
    assert_eq!(user.came(ms(110), 0, &model), None);
    assert_eq!(user.due(), Some(ms(2100)));
}
