//! The memory that PackMime-HTTP's long memory takes: as much as is said for a million connections.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use ackclock_app::{PackMimeMemory, PackMimeSessions};
use ackclock_units::random::Stream;

/// The system's allocator, with what is held and the most that ever was.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

#[expect(unsafe_code, reason = "an allocator cannot be written without")]
// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(held, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(old, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_long_memory_takes_forty_seven_bytes_a_connection_to_draw_and_twelve_to_keep() {
    // 65,535 connections take half a circle of 65,536: complex numbers of 16 B, roots of half as many, and
    // the roots of the passes, 64 B for every eighth, of a quarter as many for the next, and so on:
    // 16 + 8 + 8·4/3 = 34.7 B each. Three series of 4 B each are kept: 46.7 B..
    let circle = 1 << 16;
    let before = HELD.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let memory = PackMimeMemory::Long;
    let mut model = PackMimeSessions::new(1000.0, true, memory, Some(circle - 1), 1, "web");
    model.next_connection(&mut Stream::new(1, "connection"));
    let circle = usize::try_from(circle).unwrap();
    // The tables of quantiles, which are shared by all.
    let tables = 200_000;
    let (most, held) =
        (MOST.load(Ordering::Relaxed) - before, HELD.load(Ordering::Relaxed) - before);
    assert!(most < 47 * circle + tables, "{} B a connection", most as f64 / circle as f64);
    assert!(held < 12 * circle + tables, "{} B a connection", held as f64 / circle as f64);
}
