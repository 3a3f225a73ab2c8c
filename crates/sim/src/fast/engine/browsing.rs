//! Users who browse: what they want is done when the clock wakes them, and not while an end point is
//! being served.

use ackclock_app::{Act, AnyApp};
use ackclock_units::Instant;

use super::Engine;
use crate::class::Class;

/// Of the subject of an opening: not a class, but a user who is woken. The highest bit is the clock's.
pub(super) const USER: u32 = 1 << 30;

impl Engine<'_> {
    /// A user of class `n` comes.
    pub(super) fn welcome(&mut self, now: Instant, n: u32) {
        self.schedule_opening(n as usize, now);
        let user = self.users.come(now, n);
        self.serve(now, user);
    }

    /// The clock wakes a user.
    pub(super) fn wake_user(&mut self, now: Instant, user: u32) {
        if self.users.wakes(now, user) {
            self.serve(now, user);
        }
    }

    /// Has the clock wake a user when there is something to be done.
    pub(super) fn arm_user(&mut self, now: Instant, user: u32) {
        if let Some(at) = self.users.arm(now, user) {
            self.network.wheel.push(at, Class::Opening, USER | user);
        }
    }

    /// Does all that is to be done for a user now.
    fn serve(&mut self, now: Instant, user: u32) {
        // What is asked for on one connection at one moment is written at once.
        let mut asked: Option<u32> = None;
        loop {
            let act = self.users.act(now, user);
            if let Some(slot) = asked
                && !matches!(act, Some(Act::Ask(next, _)) if next == slot)
            {
                asked = None;
                self.pump_apart::<false>(now, self.client_of(slot));
            }
            match act {
                None => break,
                Some(Act::Open) => {
                    let slot = self.open_connection(now, self.users.class_of(user));
                    self.users.opened(user, slot, self.traffic.owner(slot));
                }
                Some(Act::Ask(slot, exchange)) => {
                    self.users.asked(now, slot, exchange.response);
                    let h = self.client_of(slot);
                    if let [client, server] = &mut self.hosts[h..h + 2]
                        && let (AnyApp::WebClient(client), AnyApp::WebServer(server)) =
                            (&mut client.app, &mut server.app)
                    {
                        client.ask(exchange);
                        server.expect(exchange);
                    }
                    asked = Some(slot);
                }
                Some(Act::Close(slot)) => {
                    self.users.closed(slot, &mut self.run.objects);
                    let h = self.client_of(slot);
                    if let AnyApp::WebClient(client) = &mut self.hosts[h].app {
                        client.close();
                    }
                    self.pump_apart::<false>(now, h);
                }
            }
        }
        self.arm_user(now, user);
    }
}
