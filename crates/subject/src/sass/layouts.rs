//! Determines the output buffer of a kernel by running it under several layouts of addresses.
//!
//! A value that is the same number in all layouts is a number. A value that moves with one variable or function is its
//! address. Any other value depends on the layout, and is reported as unknown.

use std::collections::{BTreeMap, BTreeSet};

use super::listing::Listing;
use super::machine::{Base, Machine};
use crate::subject::Launch;
use ptxsmith_model::{Address, Output, Reached, Space, Tracing, Variable, Variables};

/// Number of readable bytes after the output buffer.
const BEHIND: usize = 1 << 12;
/// Number of layouts.
pub(super) const LAYOUTS: usize = 3;

type Place = (Space, u64);

/// One layout of the variables and functions of a cubin.
pub(super) struct Layout<'a> {
    listing: &'a Listing,
    variables: &'a Variables,
    tracing: Tracing,
    base: Base,
    /// Address of the output buffer.
    out: u64,
    /// All named addresses, in the same order in all layouts.
    roots: Vec<Root<'a>>,
    /// End address of each variable, by its start.
    ends: BTreeMap<Place, u64>,
}

/// A named address.
struct Root<'a> {
    name: &'a str,
    /// The address in this layout; `None` if there is no room for it.
    at: Option<u64>,
    width: u8,
    generic: Option<bool>,
}

impl<'a> Layout<'a> {
    pub fn all(listing: &'a Listing, variables: &'a Variables) -> [Layout<'a>; LAYOUTS] {
        [0, 1, 2].map(|nth| Layout::new(nth, listing, variables))
    }

    fn new(nth: u64, listing: &'a Listing, variables: &'a Variables) -> Layout<'a> {
        let mut numbers = (0..).map(|what| mixed(LAYOUTS as u64 * what + nth));
        let mut number = |mask: u64| numbers.next().unwrap_or_default() & mask;
        let windows = [Space::Shared, Space::Const, Space::Local].map(|space| (space, number(!0xffff)));
        let out = number(u64::MAX >> 1 & !0xf) | 1 << 62;
        let functions = (number(u64::MAX >> 1 & !0xff), 256 * (nth + 1));
        let base = Base { stack: number(0x7fff_0000) as u32, functions };
        // Keep the stack and the variables in `.local` apart.
        let starts = [(Space::Shared, 0x1000), (Space::Const, 0x1000), (Space::Local, 1 << 31)];
        let mut free: BTreeMap<Space, u64> =
            starts.map(|(space, start)| (space, start + number(0xff_ffff))).into();
        free.insert(Space::Global, number(u64::MAX >> 2));
        let tracing = Tracing { windows: windows.to_vec(), ..Tracing::default() };
        let (roots, ends) = Default::default();
        let mut layout = Layout { listing, variables, tracing, base, out, roots, ends };
        for (name, variable) in variables {
            let Some(space) = space_of(variable) else { continue };
            let place = free.get_mut(&space).and_then(|free| {
                let align = variable.align.unwrap_or(1).max(1);
                let place = free.checked_next_multiple_of(align)?;
                let end = place.checked_add(variable.size.unwrap_or(0))?;
                layout.ends.insert((space, place), end);
                // Gaps differ between layouts, so that no two variables move by the same distance.
                *free = end.checked_add((2 * align + 0x100).checked_mul(nth + 1)?)?;
                Some(place)
            });
            if let Some(place) = place {
                layout.tracing.module.declare(name.clone(), (place, 0));
            }
            let mut root = |at, width, generic| layout.roots.push(Root { name, at, width, generic });
            match windows.iter().find(|(own, _)| *own == space) {
                None => root(place, 8, None),
                Some((_, window)) => {
                    root(place, 4, Some(false));
                    root(place.map(|place| window.wrapping_add(place)), 8, Some(true));
                }
            }
        }
        let functions = listing.labels.iter().filter(|(name, _)| !variables.contains_key(&***name));
        layout.roots.extend(functions.map(|(name, &line)| {
            let at = Some(layout.base.of_function(line));
            Root { name, at, width: 8, generic: None }
        }));
        layout.roots.sort_by_key(|root| (root.name, root.generic));
        let initial = variables.iter().filter_map(|(name, variable)| layout.initial(name, variable));
        layout.tracing.memory = initial.collect();
        layout
    }

    /// Returns the initial contents of a variable, with its address.
    fn initial(&self, name: &str, variable: &Variable) -> Option<(Place, Vec<Option<u8>>)> {
        let space = space_of(variable).filter(|space| matches!(space, Space::Global | Space::Const))?;
        let mut bytes: Vec<Option<u8>> = variable.bytes.as_ref()?.iter().copied().map(Some).collect();
        let mut filled = BTreeSet::new();
        for address in variable.addresses.as_ref()? {
            let value = self.value(address).filter(|_| address.byte.is_none());
            for nth in 0..u64::from(address.width) {
                let at = address.offset.checked_add(nth)?;
                let is_first = filled.insert(at);
                let value = value.filter(|_| is_first);
                if let Some(byte) = bytes.get_mut(usize::try_from(at).ok()?) {
                    *byte = value.map(|value| (value >> (8 * nth)) as u8);
                }
            }
        }
        Some(((space, self.tracing.place_of(name)?), bytes))
    }

    /// Returns the number that an address has in this layout.
    fn value(&self, address: &Address) -> Option<u64> {
        let first = self.roots.partition_point(|root| root.name < &*address.symbol);
        let mut roots = self.roots[first..].iter().take_while(|root| root.name == address.symbol);
        let wants_generic = address.generic == Some(true);
        let root = roots.find(|root| root.generic.is_none_or(|generic| generic == wants_generic))?;
        let value = root.at?.wrapping_add(address.addend as u64);
        Some(if root.width == 4 { u64::from(value as u32) } else { value })
    }

    /// Runs a kernel in this layout and returns what it reaches. An error if any part of its code is not supported.
    fn reached(&mut self, launch: &Launch) -> Result<Reached, String> {
        self.tracing.kernel.clone_from(&launch.kernel);
        self.tracing.parameters = vec![(8, self.out.to_le_bytes().to_vec())];
        let size = usize::try_from(launch.out).map_err(|_| "a buffer of that size")?;
        // The bytes that a kernel reads after its output are zero as well.
        self.tracing.memory.insert((Space::Global, self.out), vec![Some(0); size.saturating_add(BEHIND)]);
        let machine = Machine::new(self.listing, self.variables, &self.tracing, self.base);
        let (reached, skipped) = machine.map_err(|lost| lost.0)?.run();
        if let Some(why) = skipped.or_else(|| reached.lost.clone()) {
            return Err(why);
        }
        let stray = reached
            .reaches
            .iter()
            .filter(|reach| reach.writes)
            .find(|reach| reach.place.is_none_or(|place| !self.has_room(place, reach.width, launch.out)));
        match stray {
            Some(reach) => {
                Err(format!("{} stores outside of its buffer and of variables", reach.instruction))
            }
            None => Ok(reached),
        }
    }

    /// Whether an access lies in the output buffer, in a variable, or in the thread's own memory.
    fn has_room(&self, (space, at): (Space, u64), width: u64, out: u64) -> bool {
        let holds = |start: u64, size: u64| {
            at.checked_sub(start).and_then(|offset| offset.checked_add(width)).is_some_and(|end| end <= size)
        };
        let own = self.ends.range(..=(space, at)).next_back().filter(|((own, _), _)| *own == space);
        space == Space::Local
            || space == Space::Global && holds(self.out, out)
            || own.is_some_and(|(&(_, start), end)| holds(start, end - start))
    }
}

fn space_of(variable: &Variable) -> Option<Space> {
    Some(match variable.space.as_deref()? {
        "global" => Space::Global,
        "const" => Space::Const,
        "shared" => Space::Shared,
        "local" => Space::Local,
        _ => return None,
    })
}

/// Returns a pseudo-random number for an index.
fn mixed(nth: u64) -> u64 {
    let mut mixed = (nth + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// Returns the output buffer of a kernel.
pub(super) fn observe(layouts: &mut [Layout<'_>; LAYOUTS], launch: &Launch) -> Result<Output, String> {
    let mut buffers = Vec::new();
    for layout in &mut *layouts {
        let reached = layout.reached(launch)?;
        let byte =
            |at: u64| reached.written.get(&(Space::Global, layout.out + at)).copied().unwrap_or(Some(0));
        buffers.push((0..launch.out).map(byte).collect::<Vec<Option<u8>>>());
    }
    let size = launch.out as usize;
    let (mut bytes, mut seen, mut addresses) = (vec![0; size], vec![0; size], Vec::new());
    let mut at = 0;
    while at < size {
        let address = [8, 4].into_iter().find_map(|width| address(layouts, &buffers, at, width));
        let width = match address {
            Some(address) => {
                addresses.push(address);
                usize::from(addresses[addresses.len() - 1].width)
            }
            None => {
                match buffers[0][at].filter(|_| buffers.iter().all(|buffer| buffer[at] == buffers[0][at])) {
                    Some(value) => {
                        bytes[at] = value;
                        1
                    }
                    None => {
                        at += 1;
                        continue;
                    }
                }
            }
        };
        seen[at..at + width].fill(0xff);
        at += width;
    }
    Ok(Output { size: launch.out, bytes: Some(bytes), seen: Some(seen), addresses, reason: None })
}

/// Returns the address of this width at this offset of the output buffers, one buffer for each layout, if it is one.
fn address(layouts: &[Layout<'_>], buffers: &[Vec<Option<u8>>], at: usize, width: u8) -> Option<Address> {
    let value = |buffer: &Vec<Option<u8>>| {
        let bytes = buffer.get(at..at + usize::from(width))?.iter().rev();
        bytes.copied().try_fold(0u64, |value, byte| Some(value << 8 | u64::from(byte?)))
    };
    let values = buffers.iter().map(value).collect::<Option<Vec<u64>>>()?;
    if values.iter().all(|value| *value == values[0]) {
        return None;
    }
    (0..layouts[0].roots.len()).find_map(|nth| {
        let Root { name, width: own, generic, .. } = layouts[0].roots[nth];
        let addend = |(value, layout): (&u64, &Layout<'_>)| {
            let addend = value.wrapping_sub(layout.roots[nth].at?) as i64;
            Some(if width == 4 { i64::from(addend as i32) } else { addend })
        };
        let mut addends = values.iter().zip(layouts).map(addend);
        let addend = addends.next()?.filter(|_| own == width && !name.starts_with('.'))?;
        addends.all(|other| other == Some(addend)).then(|| Address {
            offset: at as u64,
            width,
            symbol: name.to_owned(),
            addend,
            generic,
            byte: None,
        })
    })
}
