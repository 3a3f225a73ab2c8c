//! Pages that users waited for.

use ackclock_app::PageView;

/// A page, as a user looked at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRow {
    /// Which traffic class, an index into [`Connections::classes`](super::Connections::classes).
    pub class: u32,
    /// Which of its users, from 0 in the order in which they came.
    pub user: u32,
    /// The page and its fate.
    pub view: PageView,
}
