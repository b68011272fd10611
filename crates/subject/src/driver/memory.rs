//! Reads variables and the bytes between them from memory.

/// The location of a variable or a fence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MemoryPlace {
    pub name: String,
    pub base: u64,
    pub size: u64,
    pub is_fence: bool,
}

impl MemoryPlace {
    fn end(&self) -> u64 {
        self.base.saturating_add(self.size)
    }
}

/// The bytes read at a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlaceContents {
    pub place: MemoryPlace,
    pub bytes: Vec<u8>,
    /// Bytes written past the end: the bytes after the variable, up to the last one that differs from what
    /// the loader left. Empty if all known content there, fences and padding, is unchanged.
    pub beyond: Vec<u8>,
}

/// Maximum number of bytes between two variables that are still read in one call.
const GAP: u64 = 256;
/// Maximum number of bytes read at once; a larger variable is read by itself.
const MOST: u64 = 64 << 20;
/// Number of bytes after a variable in which a write past its end is looked for: one less than the size of an
/// address.
const REACH: usize = 7;

/// Reads all locations, sorted by address, with as few reads as the gaps allow. If a read across a gap fails,
/// reads each location alone.
pub(super) fn read<E>(
    mut places: Vec<MemoryPlace>,
    fence_byte: u8,
    read: impl Fn(u64, usize) -> Result<Vec<u8>, E>,
) -> Result<Vec<PlaceContents>, E> {
    places.sort_by(|a, b| (a.base, &a.name).cmp(&(b.base, &b.name)));
    places.retain(|place| place.size > 0);
    let mut contents: Vec<PlaceContents> = Vec::with_capacity(places.len());
    let mut rest = places.as_slice();
    while let Some(first) = rest.first() {
        let mut count = 1;
        let mut reach = first.end();
        while let Some(next) = rest.get(count).filter(|next| {
            next.base <= reach.saturating_add(GAP) && next.end().max(reach) - first.base <= MOST
        }) {
            reach = reach.max(next.end());
            count += 1;
        }
        let (run, after) = rest.split_at(count);
        rest = after;
        let together = if count > 1 { read(first.base, (reach - first.base) as usize).ok() } else { None };
        for place in run {
            let bytes = match &together {
                Some(all) => {
                    let start = (place.base - first.base) as usize;
                    all[start..start + place.size as usize].to_vec()
                }
                None => read(place.base, place.size as usize)?,
            };
            let beyond = match &together {
                Some(all) => overwritten_after(place, run, first.base, all, fence_byte),
                None => Vec::new(),
            };
            contents.push(PlaceContents { place: place.clone(), bytes, beyond });
        }
    }
    Ok(contents)
}

/// Returns the bytes after a location that were overwritten. Bytes inside another variable are ignored; they
/// belong to that variable.
fn overwritten_after(
    place: &MemoryPlace,
    run: &[MemoryPlace],
    start: u64,
    all: &[u8],
    fence_byte: u8,
) -> Vec<u8> {
    if place.is_fence {
        return Vec::new();
    }
    let from = (place.base - start) as usize + place.size as usize;
    let behind = &all[from..all.len().min(from + REACH)];
    let last = (0..behind.len()).rfind(|&index| {
        let address = start + (from + index) as u64;
        // `run` is sorted by address.
        let before = run.partition_point(|other| other.base <= address).checked_sub(1);
        let owner = before.map(|index| &run[index]).filter(|other| address < other.base + other.size);
        match owner {
            None => behind[index] != 0,
            Some(owner) if owner.is_fence => behind[index] != fence_byte,
            Some(_) => false,
        }
    });
    last.map_or_else(Vec::new, |last| behind[..=last].to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(name: &str, base: u64, size: u64) -> MemoryPlace {
        MemoryPlace { name: name.to_owned(), base, size, is_fence: name.starts_with('f') }
    }

    /// Simulates device memory from address 1000 on: an error if a range exceeds it.
    fn device_memory(memory: &[u8]) -> impl Fn(u64, usize) -> Result<Vec<u8>, ()> {
        move |address, length| {
            let start = address.checked_sub(1000).ok_or(())? as usize;
            memory.get(start..start + length).map(<[u8]>::to_vec).ok_or(())
        }
    }

    fn contents_of<'a>(contents: &'a [PlaceContents], name: &str) -> &'a PlaceContents {
        contents.iter().find(|contents| contents.place.name == name).unwrap()
    }

    #[test]
    fn a_write_past_the_end_is_seen_in_a_fence_and_in_padding() {
        let places =
            || vec![place("b", 1012, 4), place("a", 1000, 4), place("f", 1004, 8), place("c", 1020, 1)];
        let good = [1, 2, 3, 4, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 5, 6, 7, 8, 0, 0, 0, 0, 9];
        let contents = read(places(), 0xa5, device_memory(&good)).unwrap();
        assert!(contents.iter().all(|contents| contents.beyond.is_empty()));
        assert_eq!(contents_of(&contents, "b").bytes, [5, 6, 7, 8]);
        let mut bad = good;
        (bad[6], bad[18]) = (0, 1);
        let contents = read(places(), 0xa5, device_memory(&bad)).unwrap();
        assert_eq!(contents_of(&contents, "a").beyond, [0xa5, 0xa5, 0]);
        assert_eq!(contents_of(&contents, "b").beyond, [0, 0, 1]);
        assert!(contents_of(&contents, "c").beyond.is_empty());
    }

    #[test]
    fn a_variable_behind_another_is_not_a_fence() {
        let contents =
            read(vec![place("a", 1000, 2), place("b", 1002, 2)], 0xa5, device_memory(&[1, 2, 3, 4])).unwrap();
        assert!(contents.iter().all(|contents| contents.beyond.is_empty()));
    }

    #[test]
    fn what_is_far_apart_or_not_readable_between_is_read_alone() {
        let mut memory = vec![7; 2000];
        memory[1500] = 8;
        let contents =
            read(vec![place("a", 1000, 1), place("b", 2500, 1)], 0xa5, device_memory(&memory)).unwrap();
        assert_eq!((contents_of(&contents, "a").bytes[0], contents_of(&contents, "b").bytes[0]), (7, 8));
        // Only single bytes can be read, as if there were a hole between the two.
        let hole = |address: u64, length: usize| if length == 1 { Ok(vec![address as u8]) } else { Err(()) };
        let contents = read(vec![place("a", 1, 1), place("b", 9, 1)], 0xa5, hole).unwrap();
        assert_eq!((contents_of(&contents, "a").bytes[0], contents_of(&contents, "b").bytes[0]), (1, 9));
        assert_eq!(read(vec![place("a", 5000, 1)], 0xa5, device_memory(&memory)), Err(()));
    }
}
