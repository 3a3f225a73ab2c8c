//! Which places of an arena are free.
//!
//! What is freed last is taken first, as it is still in the cache. Where hosts are very many an arena has thousands of
//! pages, and in the end each of a host's packets is on another: more than the processor has translated addresses of.
//! There hosts that are served one after another have pages of their own.

/// What goes together of an arena: a page of 64-byte places.
const TOGETHER: u32 = 64;
/// Hosts that have pages together are two to the power of this. In tests they are a flow's two, so that every test of
/// hosts and links in turns is one of groups.
const GROUP_BITS: u32 = if cfg!(test) { 1 } else { 8 };
/// Fewer hosts have no more pages than the processor has translated addresses of.
const MANY_HOSTS: usize = if cfg!(test) { 4 } else { 1 << 14 };
/// Of more than so many free places a group leaves half to others.
const MANY_FREE: usize = 512;

/// The free places of an arena.
#[derive(Debug)]
pub(super) struct Places {
    /// Those of the hosts that are being served.
    free: Vec<u32>,
    /// Which hosts these are.
    group: u32,
    /// Hosts by which power of two are a group.
    bits: u32,
    /// Those of other groups; empty if there is only one.
    others: Vec<Vec<u32>>,
    /// Those that any group may take.
    left: Vec<u32>,
    /// Which group took of a page last.
    owners: Vec<u32>,
}

impl Default for Places {
    fn default() -> Self {
        let (free, others, left, owners) = <_>::default();
        Self { free, group: 0, bits: u32::BITS - 1, others, left, owners }
    }
}

impl Places {
    /// From now on so many hosts are served in turns, in the order of their numbers. Nothing has a place yet.
    pub(super) fn of_hosts(&mut self, hosts: usize) {
        if hosts >= MANY_HOSTS {
            self.bits = GROUP_BITS;
            self.others = vec![Vec::new(); (hosts >> GROUP_BITS) + 1];
        }
    }

    /// This host is being served.
    #[inline]
    pub(super) fn serve(&mut self, host: u32) {
        let group = host >> self.bits;
        if group != self.group {
            self.change(group);
        }
    }

    #[inline(never)]
    fn change(&mut self, group: u32) {
        let Self { free, left, others, .. } = self;
        if free.len() > MANY_FREE {
            // In order, so that whoever takes some has most of a page.
            free.sort_unstable();
            left.extend(free.drain(MANY_FREE / 2..));
        }
        std::mem::swap(free, &mut others[self.group as usize]);
        std::mem::swap(free, &mut others[group as usize]);
        self.group = group;
    }

    /// The place that will be taken next.
    #[inline]
    pub(super) fn next(&self) -> Option<u32> {
        self.free.last().copied()
    }

    /// The place that will be taken when so many others have been, if none is given before.
    #[inline]
    pub(super) fn upcoming(&self, others: usize) -> Option<u32> {
        self.free.get(self.free.len().wrapping_sub(others + 1)).copied()
    }

    /// Takes it.
    #[inline]
    pub(super) fn take(&mut self) -> Option<u32> {
        self.free.pop()
    }

    /// None was free, but now some are: so many of them are new, from the arena's end on.
    pub(super) fn add(&mut self, end: u32) -> u32 {
        let Self { free, group, others, left, owners, .. } = self;
        if others.is_empty() {
            free.push(end);
            return 1;
        }
        if left.is_empty() {
            owners.push(*group);
            free.extend((end..end + TOGETHER).rev());
            return TOGETHER;
        }
        free.extend(left.drain(left.len().saturating_sub(TOGETHER as usize)..));
        for place in &*free {
            owners[(place / TOGETHER) as usize] = *group;
        }
        0
    }

    /// The host that is served has no use for this any more.
    #[inline]
    pub(super) fn give(&mut self, place: u32) {
        self.free.push(place);
    }

    /// Nobody has, whoever is served.
    pub(super) fn give_back(&mut self, place: u32) {
        let owner = self.owners.get((place / TOGETHER) as usize);
        let other = owner.filter(|owner| **owner != self.group);
        let of = other.map_or(&mut self.free, |other| &mut self.others[*other as usize]);
        of.push(place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first host of the second group.
    const SECOND: u32 = 1 << GROUP_BITS;

    fn take(places: &mut Places, arena: &mut u32) -> u32 {
        if places.next().is_none() {
            *arena += places.add(*arena);
        }
        places.take().expect("one is free")
    }

    #[test]
    fn few_hosts_share_what_is_free() {
        let (mut places, mut arena) = (Places::default(), 0);
        places.of_hosts(MANY_HOSTS - 1);
        assert_eq!([(); 3].map(|()| take(&mut places, &mut arena)), [0, 1, 2]);
        places.serve(SECOND);
        places.give(1);
        places.give_back(0);
        places.serve(0);
        assert_eq!([(); 3].map(|()| take(&mut places, &mut arena)), [0, 1, 3]);
    }

    #[test]
    fn many_hosts_have_pages_of_their_own() {
        let (mut places, mut arena) = (Places::default(), 0);
        places.of_hosts(MANY_HOSTS);
        assert_eq!(take(&mut places, &mut arena), 0);
        // The second group has the next page.
        places.serve(SECOND - 1);
        assert_eq!(take(&mut places, &mut arena), 1);
        places.serve(SECOND);
        let taken: Vec<_> = (0..65).map(|_| take(&mut places, &mut arena)).collect();
        assert_eq!((taken, arena), ((64..129).collect(), 192));
        // What is lost while another is served goes back to the first.
        places.give_back(1);
        places.give_back(70);
        assert_eq!(take(&mut places, &mut arena), 70);
        places.serve(0);
        assert_eq!([(); 2].map(|()| take(&mut places, &mut arena)), [1, 2]);
        places.serve(SECOND + 1);
        assert_eq!(take(&mut places, &mut arena), 129);
    }

    #[test]
    fn what_a_group_has_too_much_of_others_take() {
        let (mut places, mut arena) = (Places::default(), 0);
        places.of_hosts(MANY_HOSTS);
        // Nine pages, all of which are free again, the last first: 256 places stay, 320 are left.
        let taken: Vec<_> = (0..576).map(|_| take(&mut places, &mut arena)).collect();
        for place in taken {
            places.give(place);
        }
        places.serve(SECOND);
        let taken: Vec<_> = (0..320).map(|_| take(&mut places, &mut arena)).collect();
        assert_eq!((taken, arena), ((256..576).rev().collect(), 576));
        assert_eq!(take(&mut places, &mut arena), 576);
        places.serve(0);
        let mut kept: Vec<_> = (0..256).map(|_| take(&mut places, &mut arena)).collect();
        kept.sort_unstable();
        assert_eq!((kept, arena), ((0..256).collect(), 640));
        assert_eq!(take(&mut places, &mut arena), 640);
        // What others took is theirs now.
        places.give_back(300);
        places.give_back(200);
        assert_eq!(take(&mut places, &mut arena), 200);
        places.serve(SECOND);
        assert_eq!([(); 2].map(|()| take(&mut places, &mut arena)), [300, 577]);
    }
}
