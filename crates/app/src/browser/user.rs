use ackclock_units::random::Stream;
use ackclock_units::{Bytes, Duration, Instant};

use super::{Page, PageModel};
use crate::session::Exchange;

/// The way in which objects share connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Http {
    /// HTTP/1.0: a new connection an object, which the server closes.
    OneEach,
    /// HTTP/1.1: connections persist, and carry one request at a time.
    #[default]
    Persistent,
    /// HTTP/1.1 with pipelining: all embedded objects are asked for at once.
    Pipelined,
}

/// The settings of a user: connections, waiting time and number of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Browsing {
    /// The way in which objects share connections.
    pub http: Http,
    /// The most connections at a time on which embedded objects are asked for; at least one.
    pub connections: u32,
    /// The time for which a persistent connection is kept when a page is complete.
    pub keep_alive: Duration,
    /// The number of pages that a user looks at.
    pub pages: u64,
    /// No page begins from then on.
    pub stop: Instant,
}

/// The next act of a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// A connection is to be opened: [`User::opened`] tells its name.
    Open,
    /// The next object is to be asked for on this connection, by this exchange; its gap is over.
    Ask(u32, Exchange),
    /// A connection is to be closed; nothing more is told of it.
    Close(u32),
}

/// The outcome of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageView {
    /// Which of the user's pages, from 0.
    pub page: u64,
    /// Its objects, and those of them that came.
    pub objects: u64,
    /// Those that came.
    pub came: u64,
    /// The bytes of its objects in all.
    pub bytes: Bytes,
    /// The connections on which they were asked for.
    pub connections: u32,
    /// Those of them that were opened for it.
    pub opened: u32,
    /// When the user asked for it.
    pub requested: Instant,
    /// When the base object had come.
    pub base: Option<Instant>,
    /// When all had.
    pub completed: Option<Instant>,
}

/// A place for one connection at a time.
#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    connection: Option<u32>,
    /// It was asked on for the present page.
    used: bool,
    /// Objects asked for there that have not come.
    awaited: u32,
}

/// An object to be asked for.
#[derive(Clone, Copy, Debug)]
struct Ask {
    due: Instant,
    object: usize,
    lane: usize,
}

/// A user who looks at one page after another.
///
/// It is told of time and of what came; [`act`](Self::act) says what is to be done, to be called until
/// it says nothing more, and [`due`](Self::due) when to call it again.
#[derive(Clone, Debug)]
pub struct User {
    browsing: Browsing,
    random: Stream,
    page: Page,
    /// The outcome so far of the page under way; nothing while the user thinks.
    view: Option<PageView>,
    /// The number of the next page.
    number: u64,
    /// When it begins.
    begins: Option<Instant>,
    lanes: Vec<Lane>,
    /// In the order in which they were decided.
    asks: Vec<Ask>,
    /// The first object that is not yet among them.
    next: usize,
    closing: Vec<u32>,
    /// When connections that are kept are to be closed.
    expires: Option<Instant>,
    /// The lane for which a connection opens.
    opening: usize,
}

impl User {
    /// A user who looks at the first page at `now`, and whose pages are drawn from `random`, its own
    /// stream.
    pub fn new(now: Instant, browsing: Browsing, model: &PageModel, random: Stream) -> Self {
        let lanes = vec![Lane::default(); browsing.connections.max(1) as usize];
        let mut user = Self {
            browsing,
            random,
            page: Page::default(),
            view: None,
            number: 0,
            begins: None,
            lanes,
            asks: Vec::new(),
            next: 0,
            closing: Vec::new(),
            expires: None,
            opening: 0,
        };
        user.plan(now, model);
        // It has thought before.
        user.begins = (browsing.pages > 0).then_some(now);
        user
    }

    /// Draws the next page, which the user thinks about from `now` on.
    fn plan(&mut self, now: Instant, model: &PageModel) {
        self.begins = None;
        if self.number < self.browsing.pages {
            model.draw(&mut self.random, &mut self.page);
            let begins = now + self.page.think;
            self.begins = (begins < self.browsing.stop).then_some(begins);
        }
    }

    /// The next moment at which there is something to be done, unless something comes before.
    pub fn due(&self) -> Option<Instant> {
        let asks = self.asks.iter().map(|ask| ask.due);
        let closing = self.closing.first().map(|_| Instant::START);
        asks.chain(self.begins).chain(self.expires).chain(closing).min()
    }

    /// The page under way, as far as it has come.
    pub const fn view(&self) -> Option<&PageView> {
        self.view.as_ref()
    }

    /// The act that is due at `now`.
    pub fn act(&mut self, now: Instant) -> Option<Act> {
        if self.expires.is_some_and(|at| at <= now) {
            self.close_all();
        }
        if let Some(connection) = self.closing.pop() {
            return Some(Act::Close(connection));
        }
        if let Some(begins) = self.begins.filter(|at| *at <= now) {
            self.begin(begins);
        }
        let at = self.asks.iter().position(|ask| ask.due <= now)?;
        let Ask { object, lane, .. } = self.asks[at];
        let Some(connection) = self.lanes[lane].connection else {
            self.opening = lane;
            return Some(Act::Open);
        };
        self.asks.remove(at);
        let place = &mut self.lanes[lane];
        place.awaited += 1;
        let first = !std::mem::replace(&mut place.used, true);
        if let Some(view) = &mut self.view {
            view.connections += u32::from(first);
        }
        Some(Act::Ask(connection, self.page.objects[object]))
    }

    /// The connection that [`act`](Self::act) wanted has this name.
    pub fn opened(&mut self, connection: u32) {
        self.lanes[self.opening] = Lane { connection: Some(connection), ..Lane::default() };
        if let Some(view) = &mut self.view {
            view.opened += 1;
        }
    }

    fn begin(&mut self, now: Instant) {
        self.begins = None;
        self.expires = None;
        self.view = Some(PageView {
            page: self.number,
            objects: self.page.objects.len() as u64,
            came: 0,
            bytes: self.page.volume(),
            connections: 0,
            opened: 0,
            requested: now,
            base: None,
            completed: None,
        });
        self.number += 1;
        for lane in &mut self.lanes {
            lane.used = false;
        }
        // On a connection that was kept, if there is one.
        let kept = self.lanes.iter().position(|lane| lane.connection.is_some());
        self.lanes.swap(0, kept.unwrap_or(0));
        self.next = 0;
        self.take_next(now, 0);
    }

    /// Decides to ask for the next object, if there is one more, once its gap is over.
    fn take_next(&mut self, now: Instant, lane: usize) {
        if let Some(object) = self.page.objects.get(self.next) {
            self.asks.push(Ask { due: now + object.gap, object: self.next, lane });
            self.next += 1;
        }
    }

    /// An object has come on a connection; the page, if it was the last of one.
    pub fn came(&mut self, now: Instant, connection: u32, model: &PageModel) -> Option<PageView> {
        let lane = self.lane_of(connection)?;
        let place = &mut self.lanes[lane];
        place.awaited = place.awaited.saturating_sub(1);
        if self.browsing.http == Http::OneEach {
            // The server closes it.
            *place = Lane { used: false, ..Lane::default() };
        }
        let view = self.view.as_mut()?;
        view.came += 1;
        let first = view.base.is_none();
        view.base = view.base.or(Some(now));
        if view.came == view.objects {
            view.completed = Some(now);
            return self.finish(now, model);
        }
        if first {
            self.ask_embedded(now);
        } else if self.browsing.http != Http::Pipelined {
            self.take_next(now, lane);
        }
        None
    }

    /// The base object has come.
    fn ask_embedded(&mut self, now: Instant) {
        let lanes = self.lanes.len();
        if self.browsing.http != Http::Pipelined {
            for lane in 0..lanes {
                self.take_next(now, lane);
            }
            return;
        }
        let Some(first) = self.page.objects.get(1) else { return };
        let due = now + first.gap;
        for object in 1..self.page.objects.len() {
            self.asks.push(Ask { due, object, lane: (object - 1) % lanes });
        }
        self.next = self.page.objects.len();
    }

    /// A connection is no more; the page, if it can no more be completed.
    pub fn lost(&mut self, now: Instant, connection: u32, model: &PageModel) -> Option<PageView> {
        self.closing.retain(|closing| *closing != connection);
        let lane = self.lane_of(connection)?;
        let awaited = self.lanes[lane].awaited;
        self.lanes[lane] = Lane::default();
        if awaited == 0 {
            // A request for which it was not yet used gets another.
            return None;
        }
        self.asks.clear();
        self.close_all();
        self.finish(now, model)
    }

    fn finish(&mut self, now: Instant, model: &PageModel) -> Option<PageView> {
        let view = self.view.take();
        self.plan(now, model);
        self.expires = None;
        let keeps = self.browsing.keep_alive > Duration::ZERO
            && self.begins.is_some()
            && self.lanes.iter().any(|lane| lane.connection.is_some());
        if keeps {
            self.expires = Some(now + self.browsing.keep_alive);
        } else {
            self.close_all();
        }
        view
    }

    fn close_all(&mut self) {
        self.expires = None;
        for lane in &mut self.lanes {
            self.closing.extend(std::mem::take(lane).connection);
        }
    }

    fn lane_of(&self, connection: u32) -> Option<usize> {
        self.lanes.iter().position(|lane| lane.connection == Some(connection))
    }
}
