//! Users who browse: pages with embedded objects, fetched as the three ways of HTTP have it, with time
//! to think between them.
//!
//! A [`PageModel`] draws pages; [`Surge`] names the published ones. A [`User`] looks at one page after
//! another: it asks for the base object, waits for it, asks for the embedded ones, and thinks once all
//! have come. It owns no connection: it says what is to be opened, asked and closed ([`Act`]), and is
//! told what has come. [`WebClient`] and [`WebServer`] are the two ends of a connection that is opened
//! for it, whose requests are not known beforehand.

mod client;
mod model;
mod server;
mod user;

pub use client::WebClient;
pub use model::{Page, PageModel, SizeLaw, Surge};
pub use server::WebServer;
pub use user::{Act, Browsing, Http, PageView, User};

#[cfg(test)]
mod tests;
