//! Users who browse: which connection is whose, and what each still waits for.

use std::collections::VecDeque;

use ackclock_app::{Act, Browsing, Http, Note, PageModel, User};
use ackclock_units::random::Streams;
use ackclock_units::{Bytes, Instant};

use crate::records::{Objects, PageRow};
use crate::scenario::{Scenario, Traffic, TrafficApp};

/// The users of one class.
#[derive(Clone, Debug)]
struct UserClass {
    browsing: Browsing,
    model: PageModel,
    /// Each user's own stream, by number: what one draws depends on nothing else.
    streams: Streams,
    came: u32,
}

/// A user, and the moment for which the clock holds its wake-up.
#[derive(Debug)]
struct ActiveUser {
    class: u32,
    number: u32,
    user: User,
    armed: Instant,
}

/// An object that was asked for.
#[derive(Clone, Copy, Debug)]
struct Awaited {
    bytes: Bytes,
    requested: Instant,
    first_byte: Option<Instant>,
}

/// A user's connection.
#[derive(Debug)]
struct Connection {
    user: u32,
    /// Its objects under way, in the order in which they were asked for.
    awaited: VecDeque<Awaited>,
    /// The number of objects that it has had.
    objects: u64,
    /// The owner of the rows of its objects: (class among the objects, connection).
    owner: (u32, u32),
}

/// Every user of a scenario.
#[derive(Debug, Default)]
pub struct Users {
    /// By class; nothing of classes whose connections come by themselves.
    classes: Vec<Option<UserClass>>,
    active: Vec<ActiveUser>,
    /// By slot.
    connections: Vec<Option<Connection>>,
}

impl Users {
    /// Nobody yet of a checked scenario.
    pub fn new(scenario: &Scenario) -> Self {
        let classes = scenario.traffic.iter().map(|class| user_class(scenario, class)).collect();
        Self { classes, ..Self::default() }
    }

    /// True if the connections of class `n` are opened by users.
    pub fn browse(&self, n: u32) -> bool {
        self.classes[n as usize].is_some()
    }

    /// The version of HTTP on the connections of class `n`.
    pub fn http(&self, n: u32) -> Http {
        self.classes[n as usize]
            .as_ref()
            .map_or_else(Http::default, |user_class| user_class.browsing.http)
    }

    /// A user of class `n` comes; returns its place.
    pub fn come(&mut self, now: Instant, n: u32) -> u32 {
        let user_class = self.classes[n as usize].as_mut().expect("a class of users");
        let number = user_class.came;
        user_class.came += 1;
        let random = user_class.streams.of(u64::from(number));
        let user = User::new(now, user_class.browsing, &user_class.model, random);
        self.active.push(ActiveUser { class: n, number, user, armed: Instant::NEVER });
        u32::try_from(self.active.len() - 1).expect("fewer than 2^30 users")
    }

    /// The class of a user.
    pub fn class_of(&self, user: u32) -> u32 {
        self.active[user as usize].class
    }

    /// True if the wake-up of a user at `now` is the one that it waits for.
    pub fn wakes(&mut self, now: Instant, user: u32) -> bool {
        let active = &mut self.active[user as usize];
        let wakes = active.armed == now;
        if wakes {
            active.armed = Instant::NEVER;
        }
        wakes
    }

    /// The moment for which the clock is to hold a wake-up of a user, if it holds none so early.
    pub fn arm(&mut self, now: Instant, user: u32) -> Option<Instant> {
        let active = &mut self.active[user as usize];
        let due = active.user.due()?.max(now);
        (due < active.armed).then(|| {
            active.armed = due;
            due
        })
    }

    /// The next act of a user that is to be done now.
    pub fn act(&mut self, now: Instant, user: u32) -> Option<Act> {
        self.active[user as usize].user.act(now)
    }

    /// The connection that a user wanted lives in `slot`, and its objects are those of `owner`.
    pub fn opened(&mut self, user: u32, slot: u32, owner: (u32, u32)) {
        let place = slot as usize;
        if self.connections.len() <= place {
            self.connections.resize_with(place + 1, || None);
        }
        self.connections[place] =
            Some(Connection { user, awaited: VecDeque::new(), objects: 0, owner });
        self.active[user as usize].user.opened(slot);
    }

    /// An object of so many bytes is asked for on the connection in `slot`.
    pub fn asked(&mut self, now: Instant, slot: u32, bytes: Bytes) {
        if let Some(connection) = self.connection(slot) {
            connection.awaited.push_back(Awaited { bytes, requested: now, first_byte: None });
        }
    }

    /// The user of the connection in `slot` gives it up.
    pub fn closed(&mut self, slot: u32, objects: &mut Objects) {
        if let Some(connection) = self.connections.get_mut(slot as usize).and_then(Option::take) {
            connection.give_up(objects);
        }
    }

    /// The client of the connection in `slot` tells something; returns the user to be woken.
    pub fn on_note(
        &mut self,
        now: Instant,
        slot: u32,
        note: Note,
        (objects, pages): (&mut Objects, &mut Vec<PageRow>),
    ) -> Option<u32> {
        let connection = self.connection(slot)?;
        match note {
            Note::Begun => {
                connection.awaited.front_mut()?.first_byte = Some(now);
                return None;
            }
            Note::Completed => connection.complete(now, objects),
            Note::Requested { .. } | Note::Object(_) | Note::Moment(_) => return None,
        }
        let user = connection.user;
        let ActiveUser { class, number, user: browser, .. } = &mut self.active[user as usize];
        let model = &self.classes[*class as usize].as_ref()?.model;
        let view = browser.came(now, slot, model);
        pages.extend(view.map(|view| PageRow { class: *class, user: *number, view }));
        Some(user)
    }

    /// Nothing can happen any more to the connection in `slot`; returns the user to be woken.
    pub fn gone(
        &mut self,
        now: Instant,
        slot: u32,
        (objects, pages): (&mut Objects, &mut Vec<PageRow>),
    ) -> Option<u32> {
        let connection = self.connections.get_mut(slot as usize)?.take()?;
        let user = connection.user;
        connection.give_up(objects);
        let ActiveUser { class, number, user: browser, .. } = &mut self.active[user as usize];
        let model = &self.classes[*class as usize].as_ref()?.model;
        let view = browser.lost(now, slot, model);
        pages.extend(view.map(|view| PageRow { class: *class, user: *number, view }));
        Some(user)
    }

    /// The run is over: pages that are under way.
    pub fn finish(&self, pages: &mut Vec<PageRow>) {
        let under_way =
            self.active.iter().filter_map(|ActiveUser { class, number, user, .. }| {
                let view = *user.view()?;
                Some(PageRow { class: *class, user: *number, view })
            });
        pages.extend(under_way);
    }

    fn connection(&mut self, slot: u32) -> Option<&mut Connection> {
        self.connections.get_mut(slot as usize)?.as_mut()
    }
}

impl Connection {
    fn complete(&mut self, now: Instant, objects: &mut Objects) {
        if let Some(object) = self.awaited.pop_front() {
            let row = self.record(object, objects);
            objects.complete(row, now);
        }
    }

    /// Leaves the rows of what will not come.
    fn give_up(mut self, objects: &mut Objects) {
        while let Some(object) = self.awaited.pop_front() {
            self.record(object, objects);
        }
    }

    fn record(&mut self, object: Awaited, objects: &mut Objects) -> usize {
        let (class, connection) = self.owner;
        let row = objects.request(class, connection, self.objects, object.bytes, object.requested);
        self.objects += 1;
        if let Some(at) = object.first_byte {
            objects.begin(row, at);
        }
        row
    }
}

fn user_class(scenario: &Scenario, class: &Traffic) -> Option<UserClass> {
    let TrafficApp::Browser(spec) = &class.app else { return None };
    let stop = Instant::START + class.stop.unwrap_or(scenario.duration);
    let streams = Streams::new(scenario.seed, &format!("traffic {} pages", class.name));
    Some(UserClass { browsing: spec.browsing(stop), model: spec.model(), streams, came: 0 })
}
