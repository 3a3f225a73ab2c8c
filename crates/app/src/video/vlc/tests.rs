//! Arrivals by hand: 25 pictures a second of 1000 B, so that a slice of 250 ms has 6.25. By two the
//! order of sending leads, so that slice k ends with picture floor(6.25 k) + 2: at 8, 14, 20, 27, 33, ...

use super::*;

struct Story {
    player: VlcPlayer,
    wake: Option<Instant>,
}

const fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

impl Story {
    fn new(count: usize) -> Self {
        let pictures = Pictures::new(&vec![1000; count], Duration::from_millis(40)).unwrap();
        Self { player: VlcPlayer::new(pictures), wake: None }
    }

    fn until(&mut self, ms: u64) -> &mut Self {
        while let Some(wake) = self.wake.filter(|wake| *wake <= at(ms)) {
            self.wake = self.player.poll(wake);
        }
        self
    }

    /// Whole pictures come at once.
    fn arrive(&mut self, ms: u64, pictures: u64) -> &mut Self {
        self.until(ms);
        self.player.take(Bytes::new(pictures * 1000));
        self.wake = self.player.poll(at(ms));
        self
    }

    fn report(&mut self, ms: u64) -> PlayerReport {
        self.until(ms);
        self.player.report(at(ms))
    }
}

fn fates(report: PlayerReport) -> [u64; 4] {
    [report.shown, report.late, report.discarded, report.underflows]
}

#[test]
fn play_begins_with_a_second_and_a_quarter() {
    // Slice 5 ends with picture 31 + 2: 34 pictures. They are there at 700; play begins 10 ms later, and the
    // last of 100 pictures is over after 4 s.
    let mut story = Story::new(100);
    story.arrive(500, 33);
    assert_eq!(story.report(690).began, None);
    story.arrive(700, 1).arrive(800, 66);
    let report = story.report(5000);
    assert_eq!(report.began, Some(at(710)));
    assert_eq!(fates(report), [100, 0, 0, 0]);
    assert_eq!(report.finished, Some(at(4710)));
    assert_eq!(report.stalled, Duration::ZERO);
}

#[test]
fn what_comes_early_waits_in_the_cache() {
    // After slice 5 at 0 ms the next is read when its own time, 1260 ms, is 1 s and 100 ms away: at 160 ms.
    let mut story = Story::new(100);
    story.arrive(0, 100);
    assert_eq!(story.player.decoded, 34);
    story.until(159);
    assert_eq!(story.player.decoded, 34);
    // Slice 6 ends with picture 37 + 2.
    story.until(160);
    assert_eq!(story.player.decoded, 40);
}

#[test]
fn a_late_slice_is_an_underflow() {
    // Play began at 710, so that the film's 1.5 s have their time at 2210. Slice 6 (40 pictures) is whole at
    // 2300: 90 ms late. Of the pictures 0 to 29 that had left the decoder by then all were shown; 30 to 35 leave
    // it at 2300, when 32 to 35 had their times at 1990 to 2110, and 30 and 31 at 1910 and 1950: all late, of
    // which the sixth is not counted. 36 to 39 are thrown away.
    let mut story = Story::new(100);
    story.arrive(700, 34).arrive(2300, 6);
    assert_eq!(fates(story.report(2300)), [30, 0, 5, 1]);
    // Slice 7 ends with picture 43 + 2, and sets the clock to 1.75 s; slice 12, 1.25 s later, with 75 + 2. All is
    // there at 2500, and 1.75 s have their time at 2510. 40 is shown; 41 to 43 had theirs before 2490, less
    // than 20 ms of which would do.
    story.arrive(2500, 60);
    let report = story.report(9000);
    assert_eq!(fates(report), [30 + 1 + 56, 57, 8, 1]);
    // It had been due at 710 + 1750: 50 ms.
    assert_eq!(report.stalled, Duration::from_millis(50));
    // 4 s after 760.
    assert_eq!(report.finished, Some(at(4760)));
}

#[test]
fn latenesses_lengthen_the_delay() {
    let mut player = Story::new(10).player;
    // The first alone changes nothing: the median of 90, 0 and 0.
    player.note(90);
    player.underflow();
    assert_eq!(player.pts_delay, CACHING);
    // The median of 90, 50 and 0; what exceeds it, 40, is remembered.
    player.note(50);
    player.underflow();
    assert_eq!((player.pts_delay, player.lateness), (CACHING + 50, [40, 0, 0]));
    // That of 40, 70 and 60: of those 70 and 60 exceed it, none of the first.
    player.note(70);
    player.note(60);
    player.underflow();
    assert_eq!((player.pts_delay, player.lateness), (CACHING + 110, [10, 0, 0]));
}

#[test]
fn beyond_five_seconds_a_lateness_is_ignored() {
    let mut player = Story::new(10).player;
    player.note(6_000_000_000);
    player.note(5_500_000_000);
    player.underflow();
    assert_eq!((player.clock, player.pts_delay), (Clock::Unset, CACHING));
    assert_eq!(player.report.underflows, 1);
}

#[test]
fn the_rest_of_the_film_is_played_at_once() {
    // Nine pictures are less than a slice.
    let mut story = Story::new(9);
    story.arrive(100, 9);
    let report = story.report(1000);
    assert_eq!(fates(report), [9, 0, 0, 0]);
    assert_eq!(report.finished, Some(at(110 + 360)));
}

#[test]
fn the_cache_has_a_limit() {
    // 20 pictures of a MiB, a second each: slice 1 (0.25 s) needs three of them. With 16 MiB after those nothing
    // more fits.
    let pictures = Pictures::new(&[1 << 20; 20], Duration::from_secs(1)).unwrap();
    let mut player = VlcPlayer::new(pictures);
    assert_eq!(player.room(), Bytes::new(16 << 20));
    player.take(Bytes::new(16 << 20));
    player.poll(at(0));
    assert_eq!(player.decoded, 4);
    assert_eq!(player.room(), Bytes::new(4 << 20));
}
