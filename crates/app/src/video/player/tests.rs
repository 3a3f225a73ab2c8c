//! Arrival patterns by hand. Five to eight pictures of 100 B, one every 100 ms, unless said otherwise.

use super::*;

/// Arrivals: (ms, bytes). Deadlines are served between arrivals, an arrival before a deadline of the
/// same moment.
struct Story {
    player: DeadlinePlayer,
    wake: Option<Instant>,
}

const fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

impl Story {
    fn new(sizes: &[u32], start: u64, resume: u64, catch_up: f64) -> Self {
        let settings = Self::settings(start, resume, catch_up);
        Self::of(sizes, settings)
    }

    fn with(sizes: &[u32], start: u64, resume: u64, resize: Option<u64>) -> Self {
        let resize = resize.map(Bytes::new);
        Self::of(sizes, PlayerSettings { resize, ..Self::settings(start, resume, 1.0) })
    }

    fn settings(start: u64, resume: u64, catch_up: f64) -> PlayerSettings {
        PlayerSettings {
            buffer: Bytes::new(1000),
            start: Bytes::new(start),
            resume: Bytes::new(resume),
            catch_up,
            resize: None,
        }
    }

    fn of(sizes: &[u32], settings: PlayerSettings) -> Self {
        let pictures = Pictures::new(sizes, Duration::from_millis(100)).unwrap();
        Self { player: DeadlinePlayer::new(settings, pictures).unwrap(), wake: None }
    }

    fn until(&mut self, ms: u64) -> &mut Self {
        while let Some(wake) = self.wake.filter(|wake| *wake < at(ms)) {
            self.wake = self.player.poll(wake);
        }
        self
    }

    fn arrive(&mut self, ms: u64, bytes: u64) -> &mut Self {
        self.until(ms);
        self.player.take(Bytes::new(bytes));
        self.wake = self.player.poll(at(ms));
        self
    }

    fn report(&mut self, ms: u64) -> PlayerReport {
        self.until(ms);
        if self.wake == Some(at(ms)) {
            self.wake = self.player.poll(at(ms));
        }
        let report = self.player.report(at(ms));
        let known = report.shown + report.discarded;
        assert_eq!(known, self.player.next as u64, "every picture has one fate");
        report
    }
}

fn fates(report: PlayerReport) -> [u64; 4] {
    [report.shown, report.late, report.discarded, report.underflows]
}

#[test]
fn all_in_time() {
    // 200 B at 1000 ms start play: picture 0 at 1000, 1 at 1100. 100 B at 1150, 1250 and 1300: pictures
    // 2 at 1200, 3 at 1300 (with its last byte), 4 at 1400 (whole since 1300). Over at 1500.
    let mut story = Story::new(&[100; 5], 200, 100, 1.0);
    story.arrive(950, 100);
    assert_eq!(story.report(990).began, None);
    story.arrive(1000, 100).arrive(1150, 100).arrive(1250, 50).arrive(1300, 150);
    let report = story.report(1500);
    assert_eq!(fates(report), [5, 0, 0, 0]);
    assert_eq!(report.stalled, Duration::ZERO);
    assert_eq!((report.began, report.finished), (Some(at(1000)), Some(at(1500))));
}

#[test]
fn a_picture_in_parts_is_discarded_and_the_next_is_not() {
    // 0 at 0 shown. At 100 there are 60 B of picture 1: discarded. At 150 come its 40 B, thrown away,
    // and 100 B of picture 2: shown at 200. 3 and 4 at 300 and 400.
    let mut story = Story::new(&[100; 5], 160, 160, 1.0);
    story.arrive(0, 160).arrive(150, 140);
    assert_eq!(story.player.held(), Bytes::new(100));
    story.arrive(250, 200);
    let report = story.report(500);
    assert_eq!(fates(report), [4, 0, 1, 0]);
    assert_eq!((report.stalled, report.finished), (Duration::ZERO, Some(at(500))));
}

#[test]
fn an_empty_buffer_freezes_until_it_is_filled_again() {
    // 0 and 1 shown at 0 and 100. At 200 nothing of picture 2 is there: underflow. 150 B at 450 are
    // not the 200 that play waits for; 50 B at 500 are. Pictures 2 and 3 at 500 and 600, 300 ms late;
    // 4 came at 550 and is shown at 700. Stood still 300 ms.
    let mut story = Story::new(&[100; 5], 200, 200, 1.0);
    story.arrive(0, 200).arrive(450, 150);
    assert_eq!(fates(story.report(480)), [2, 0, 0, 1]);
    assert_eq!(story.report(480).stalled, Duration::from_millis(280));
    story.arrive(500, 50).arrive(550, 100);
    let report = story.report(900);
    assert_eq!(fates(report), [5, 3, 0, 1]);
    assert_eq!(report.stalled, Duration::from_millis(300));
    assert_eq!(report.finished, Some(at(800)));
}

#[test]
fn the_rest_of_the_video_is_enough_to_go_on() {
    // Play would wait for 300 B; the two pictures that are left have 200. Underflow at 300, all of it
    // at 400: 3 at 400, 4 at 500.
    let mut story = Story::new(&[100; 5], 300, 300, 1.0);
    story.arrive(0, 300).arrive(400, 200);
    let report = story.report(1000);
    assert_eq!(fates(report), [5, 2, 0, 1]);
    assert_eq!(report.finished, Some(at(600)));
    // And to begin: one picture of 100 B, while play waits for 300.
    let mut short = Story::new(&[100], 300, 300, 1.0);
    assert_eq!(fates(short.arrive(0, 100).report(0)), [1, 0, 0, 0]);
}

#[test]
fn what_was_lost_is_made_up_for() {
    // Twice as fast, 50 ms a picture. Underflow of picture 1 at 100, 700 B at 250: 150 ms late. 1 at
    // 250 (nominal 100), 2 at 300 (200), 3 at 350 (300), 4 at 400 (400): in time again. 5, 6, 7 at
    // 500, 600, 700.
    let mut story = Story::new(&[100; 8], 100, 100, 2.0);
    story.arrive(0, 100).arrive(250, 700);
    assert_eq!(fates(story.report(349)), [3, 2, 0, 1]);
    assert_eq!(fates(story.report(400)), [5, 3, 0, 1]);
    let report = story.report(2000);
    assert_eq!(fates(report), [8, 3, 0, 1]);
    assert_eq!(report.stalled, Duration::from_millis(150));
    assert_eq!(report.finished, Some(at(800)));
}

#[test]
fn a_picture_may_be_discarded_while_catching_up() {
    // Twice as fast. Underflow at 100; 150 B at 250: picture 1 at 250, at 300 half of picture 2:
    // discarded. At 340 its rest and picture 3: shown at 350. Picture 4: nothing at 400, and by then
    // play is in time again (nominal 400): the second underflow, which lasts to the end.
    let mut story = Story::new(&[100; 6], 100, 100, 2.0);
    story.arrive(0, 100).arrive(250, 150).arrive(340, 150);
    let report = story.report(1000);
    assert_eq!(fates(report), [3, 2, 1, 2]);
    assert_eq!(report.stalled, Duration::from_millis(150 + 600));
    assert_eq!(report.finished, None);
}

#[test]
fn a_large_picture_costs_itself_and_those_behind_it_only_their_deadlines() {
    // 50, 400, 50, 50 B; play waits for 100. At 100 half of picture 1: discarded. At 200 picture 2:
    // nothing of it, picture 1 is not even whole: underflow, until 100 B beyond picture 1 are there
    // (at 350): 2 and 3 at 350 and 450.
    let mut story = Story::new(&[50, 400, 50, 50], 100, 100, 1.0);
    story.arrive(0, 250).arrive(250, 200).arrive(350, 100);
    let report = story.report(1000);
    assert_eq!(fates(report), [3, 2, 1, 1]);
    assert_eq!(report.stalled, Duration::from_millis(150));
}

#[test]
fn the_buffer_takes_no_more_than_it_holds() {
    let mut story = Story::new(&[100; 20], 1000, 100, 1.0);
    story.arrive(0, 900);
    assert_eq!(story.player.room(), Bytes::new(100));
    // Full: play begins, and the first picture makes room for another.
    story.arrive(0, 100);
    assert_eq!(story.player.room(), Bytes::new(100));
}

#[test]
fn a_buffer_that_follows_the_path_waits_for_what_the_rate_lacks() {
    // 40 pictures of 100 B at ten a second need 1000 B/s. 500 B come in each second: 200 B at 200 ms
    // would be enough to begin. At 1000 ms the first second is over, 500 B/s, and picture n is due
    // n/10 s later, with 100 (n + 1) of its bytes and of those before needed and 50 n come meanwhile:
    // 4000 - 50 * 39 = 2050 B. That is there after 4.1 s, and the pictures that follow come in time.
    let mut story = Story::with(&[100; 40], 200, 200, Some(4000));
    for n in 1..=40 {
        story.arrive(100 * n, 50);
        let began = story.player.report(at(100 * n)).began;
        assert_eq!(began, None, "{n}");
    }
    story.arrive(4100, 50);
    assert_eq!(story.player.report(at(4100)).began, Some(at(4100)));
    assert_eq!(story.player.report(at(4100)).buffer, Bytes::new(2050));
    for n in 42..=80 {
        story.arrive(100 * n, 50);
    }
    let report = story.report(10_000);
    assert_eq!(fates(report), [40, 0, 0, 0]);
    assert_eq!(report.finished, Some(at(8100)));
}

#[test]
fn the_rate_is_that_of_what_came_while_there_was_room() {
    // 1000 B at once fill the buffer: no rate, and play begins. For a second nothing comes although
    // there is room: picture 10 finds nothing at 1000 ms. 500 B/s from then on: the second from 1000
    // to 2000 ms has 500, the one before had 0 (from the first picture, which made room, on): a
    // mean of 250 B/s at 2000 ms. The ten pictures that are left then need 1000 - 9 * 25 = 775 B.
    let mut story = Story::with(&[100; 20], 1000, 100, Some(4000));
    story.arrive(0, 1000);
    assert_eq!(story.player.report(at(0)).began, Some(at(0)));
    story.until(1001);
    assert_eq!(story.player.report(at(1000)).underflows, 1);
    story.player.poll(at(1000));
    for n in 1..=15 {
        story.arrive(1000 + 100 * n, 50);
        assert_eq!(story.player.report(at(1000 + 100 * n)).shown, 10, "{n}");
    }
    story.arrive(2600, 50);
    assert_eq!(story.player.report(at(2600)).shown, 11);
}

#[test]
fn the_least_rate_is_the_slope_of_the_tightest_string() {
    // Pictures of 100, 100, 700 and 100 B due at 0, 100, 200 and 300 ms. 100 ms before the first
    // with nothing there: 100/0.1, 200/0.2, 900/0.3 and 1000/0.4 B/s: 3000. With 200 B there 50 ms
    // after the first: 700/0.15 = 4667 and 800/0.25. Nothing is missing with 1000 B; with 99 B at 0
    // ms the first is late.
    let pictures = Pictures::new(&[100, 100, 700, 100], Duration::from_millis(100)).unwrap();
    let rate = |from, ms| pictures.least_rate(from, Duration::from_millis(ms));
    assert!((rate(200, 50).unwrap() - 700.0 / 0.15).abs() < 1e-6);
    assert_eq!(rate(1000, 50), Some(0.0));
    assert_eq!(rate(99, 0), None);
    // Begun with picture 1: 900 B are due at 100 ms of play at 2000 B/s, of which 200 come: 700 are
    // to be there, 200 before, 800 after it less 400.
    assert_eq!(pictures.head_start(1, 2000.0), Bytes::new(600));
    assert_eq!(pictures.head_start(3, 0.0), Bytes::new(100));
}

#[test]
fn impossible_settings_are_refused() {
    let pictures = Pictures::new(&[100, 500], Duration::from_millis(40)).unwrap();
    let good = PlayerSettings {
        buffer: Bytes::new(500),
        start: Bytes::new(500),
        resume: Bytes::new(1),
        catch_up: 1.1,
        resize: None,
    };
    let refused = |settings| DeadlinePlayer::new(settings, pictures.clone()).unwrap_err();
    assert!(DeadlinePlayer::new(good, pictures.clone()).is_ok());
    assert!(refused(PlayerSettings { buffer: Bytes::new(499), ..good }).contains("picture"));
    assert!(refused(PlayerSettings { start: Bytes::new(501), ..good }).contains("waits for"));
    assert!(refused(PlayerSettings { catch_up: 0.9, ..good }).contains("from 1 to 10"));
    assert!(refused(PlayerSettings { catch_up: f64::NAN, ..good }).contains("from 1 to 10"));
    assert!(Pictures::new(&[], Duration::from_millis(40)).is_err());
    assert!(Pictures::new(&[1, 0], Duration::from_millis(40)).is_err());
}

#[test]
fn pictures_and_bytes_are_conserved_whatever_arrives() {
    use ackclock_units::random::Stream;
    let mut random = Stream::new(1, "arrivals");
    for round in 0..200_u32 {
        let mut size = || 1 + (random.next_u64() % 400) as u32;
        let sizes: Vec<u32> = (0..30).map(|_| size()).collect();
        let total: u64 = sizes.iter().map(|s| u64::from(*s)).sum();
        let catch_up = 1.0 + f64::from(round % 3) / 2.0;
        let mut story = Story::new(&sizes, 600, 300, catch_up);
        let (mut sent, mut ms, mut taken) = (0, 0, 0);
        while sent < total {
            sent += (random.next_u64() % 500).min(total - sent);
            ms += random.next_u64() % 120;
            // As a client does: what there is, up to the room.
            story.until(ms);
            loop {
                let volume = story.player.room().min(Bytes::new(sent - taken));
                story.arrive(ms, volume.get());
                taken += volume.get();
                if story.player.room().min(Bytes::new(sent - taken)) == Bytes::ZERO {
                    break;
                }
            }
            let report = story.report(ms);
            assert_eq!(report.shown + report.discarded, story.player.next as u64);
            assert!(story.player.held() <= Bytes::new(1000));
        }
        // What waits outside is taken as room comes.
        while story.player.report(at(ms)).finished.is_none() {
            ms += 10;
            story.until(ms);
            let volume = story.player.room().min(Bytes::new(total - taken)).get();
            taken += volume;
            story.arrive(ms, volume);
        }
        let report = story.player.report(at(ms));
        assert_eq!((report.shown + report.discarded, taken), (30, total));
    }
}

#[test]
fn what_refers_to_a_discarded_picture_is_discarded() {
    // Groups of IBP, B. Picture 0 at 200 ms; of picture 2, the P of the first group, 50 B are there at its deadline,
    // 400: it is discarded, and with it 3 at 500, though it is whole. Picture 4 is an I, and shown.
    let played = |group: Option<&str>, late: u64| {
        let group = group.map(|kinds| PictureGroup::parse(kinds).unwrap());
        let mut story = Story::new(&[100; 6], 100, 100, 1.0);
        story.player = story.player.clone().with_group(group);
        // All but the end of the picture `late`, then the rest before the next deadline.
        let whole = 100 * late + 50;
        story.arrive(200, whole.min(400)).arrive(200 + 100 * late + 50, 600 - whole);
        fates(story.report(1000))
    };
    assert_eq!(played(Some("IBPB"), 2), [4, 0, 2, 0]);
    assert_eq!(played(None, 2), [5, 0, 1, 0]);
    // A B alone: picture 1 at 300.
    assert_eq!(played(Some("IBPB"), 1), [5, 0, 1, 0]);
}

#[test]
fn groups_begin_with_an_i() {
    for wrong in ["", "P", "IX", "IBI", "ibb"] {
        assert!(PictureGroup::parse(wrong).is_err(), "{wrong}");
    }
    assert!(PictureGroup::parse(&format!("I{}", "B".repeat(1000))).is_err());
    assert!(PictureGroup::parse("I").is_ok());
}
