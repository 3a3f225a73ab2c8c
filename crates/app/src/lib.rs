//! Applications, the sources of data: an application sits on an end point, writes, reads and
//! closes.

mod any;
pub mod application;
mod arrivals;
mod browser;
mod contract;
mod packmime;
mod session;
mod sink;
mod transport;
pub mod video;

pub use any::AnyApp;
pub use application::{
    Application, Apps, Bulk, Burst, Cbr, Draws, Load, OnOff, Other, Refusal, Turn,
};
pub use arrivals::{AnyArrivals, Arrivals, Listed, Periodic, Poisson};
pub use browser::{
    Act, Browsing, Http, Page, PageModel, PageView, SizeLaw, Surge, User, WebClient, WebServer,
};
pub use contract::{App, Moment, Note};
pub use packmime::{
    PACKMIME_QUANTITIES, PackMimeArrivals, PackMimeMemory, PackMimeSessions, WebConnection,
    packmime_reference,
};
pub use session::{
    AnySessions, Client, Exchange, MOST_EXCHANGES, Requests, Server, Session, Sessions, Side,
};
pub use sink::Sink;
pub use transport::Transport;
pub use video::{DashClient, DashServer, VideoClient, VideoServer};
