//! Limits on the punctuality of a path, beyond which a run is no measurement, and the interval of looks.

use ackclock_units::Duration;

/// The interval between looks at connections. A repair lasts a round trip at least, so that none is missed on
/// paths as long as this.
pub const LOOK_EVERY: Duration = Duration::from_millis(10);
/// The most by which 99 % of the packets may be late.
pub const MOST_LATENESS: Duration = Duration::from_micros(500);
/// The most by which they may be late where the path's own queues vary the delay by more than ten times as much.
pub const MOST_RELATIVE_LATENESS: Duration = Duration::from_millis(2);
/// The most by which a packet may be late while the length of a train of ACKs may end a slow start, as a part of the gap
/// between ACKs that ends the train: beyond it the train that a packet belongs to may be another one.
pub const MOST_OF_GAP: u64 = 2;
/// The longest time for which the path may stand still.
pub const MOST_STALL: Duration = Duration::from_millis(20);
/// The most by which a link's rate may be missed.
pub const MOST_RATE_ERROR: f64 = 0.01;
