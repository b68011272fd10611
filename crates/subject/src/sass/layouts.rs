//! Determines the output buffer of a kernel by running it under several layouts of addresses.
//!
//! A value that is the same number in all layouts is a number. A value that moves with one variable or
//! function is its address. Any other value depends on the layout, and is reported as unknown.

use std::collections::{BTreeMap, BTreeSet};

use super::listing::CodeListing;
use super::machine::{FixedAddresses, SassMachine};
use crate::subject::Launch;
use ptxsmith_model::{Address, Output, Reached, Space, Tracing, Variable, Variables};

/// Number of readable bytes after the output buffer.
const BEHIND: usize = 1 << 12;
/// Number of layouts.
pub(super) const LAYOUTS: usize = 3;

type Place = (Space, u64);

/// One layout of the variables and functions of a cubin.
pub(super) struct AddressLayout<'a> {
    listing: &'a CodeListing,
    variables: &'a Variables,
    tracing: Tracing,
    base: FixedAddresses,
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
    address: Option<u64>,
    width: u8,
    generic: Option<bool>,
}

impl<'a> AddressLayout<'a> {
    pub fn create_all(listing: &'a CodeListing, variables: &'a Variables) -> [AddressLayout<'a>; LAYOUTS] {
        [0, 1, 2].map(|nth| AddressLayout::new(nth, listing, variables))
    }

    fn new(nth: u64, listing: &'a CodeListing, variables: &'a Variables) -> AddressLayout<'a> {
        let mut numbers = RandomNumbers { layout: nth, drawn: 0 };
        let windows = [Space::Shared, Space::Const, Space::Local].map(|space| (space, numbers.draw(!0xffff)));
        let out = numbers.draw(u64::MAX >> 1 & !0xf) | 1 << 62;
        let functions = (numbers.draw(u64::MAX >> 1 & !0xff), 256 * (nth + 1));
        let base = FixedAddresses { stack: numbers.draw(0x7fff_0000) as u32, functions };
        // Keep the stack and the variables in `.local` apart.
        let starts = [(Space::Shared, 0x1000), (Space::Const, 0x1000), (Space::Local, 1 << 31)];
        let mut free: BTreeMap<Space, u64> =
            starts.map(|(space, start)| (space, start + numbers.draw(0xff_ffff))).into();
        free.insert(Space::Global, numbers.draw(u64::MAX >> 2));
        let mut layout = AddressLayout {
            listing,
            variables,
            tracing: Tracing { windows: windows.to_vec(), ..Tracing::default() },
            base,
            out,
            roots: Vec::new(),
            ends: BTreeMap::new(),
        };
        for (name, variable) in variables {
            let Some(space) = space_of(variable) else { continue };
            let address = free.get_mut(&space).and_then(|free| {
                let align = variable.align.unwrap_or(1).max(1);
                let start = free.checked_next_multiple_of(align)?;
                let end = start.checked_add(variable.size.unwrap_or(0))?;
                layout.ends.insert((space, start), end);
                // Gaps differ between layouts, so that no two variables move by the same distance.
                *free = end.checked_add((2 * align + 0x100).checked_mul(nth + 1)?)?;
                Some(start)
            });
            if let Some(address) = address {
                layout.tracing.module.declare(name.clone(), (address, 0));
            }
            match windows.iter().find(|(windowed, _)| *windowed == space) {
                None => layout.roots.push(Root { name, address, width: 8, generic: None }),
                Some((_, window)) => {
                    layout.roots.push(Root { name, address, width: 4, generic: Some(false) });
                    let address = address.map(|address| window.wrapping_add(address));
                    layout.roots.push(Root { name, address, width: 8, generic: Some(true) });
                }
            }
        }
        for (name, &line) in listing.labels.iter().filter(|(name, _)| !variables.contains_key(&***name)) {
            let address = Some(layout.base.function_address(line));
            layout.roots.push(Root { name, address, width: 8, generic: None });
        }
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
                let offset = address.offset.checked_add(nth)?;
                let is_first = filled.insert(offset);
                let value = value.filter(|_| is_first);
                if let Some(byte) = bytes.get_mut(usize::try_from(offset).ok()?) {
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
        let value = root.address?.wrapping_add(address.addend as u64);
        Some(if root.width == 4 { u64::from(value as u32) } else { value })
    }

    /// Runs a kernel in this layout and returns what it reaches. An error if any part of its code is not
    /// supported.
    fn run_kernel(&mut self, launch: &Launch) -> Result<Reached, String> {
        self.tracing.kernel.clone_from(&launch.kernel);
        self.tracing.parameters = vec![(8, self.out.to_le_bytes().to_vec())];
        let size = usize::try_from(launch.out).map_err(|_| "a buffer of that size")?;
        // The bytes that a kernel reads after its output are zero as well.
        self.tracing.memory.insert((Space::Global, self.out), vec![Some(0); size.saturating_add(BEHIND)]);
        let machine = SassMachine::new(self.listing, self.variables, &self.tracing, self.base);
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
    fn has_room(&self, (space, address): (Space, u64), width: u64, out: u64) -> bool {
        let before = self.ends.range(..=(space, address)).next_back();
        let variable = before.filter(|((other, _), _)| *other == space);
        space == Space::Local
            || space == Space::Global && is_inside(address, width, self.out, out)
            || variable.is_some_and(|(&(_, start), end)| is_inside(address, width, start, end - start))
    }
}

/// Whether an access of `width` bytes lies in the `size` bytes from `start` on.
fn is_inside(address: u64, width: u64, start: u64, size: u64) -> bool {
    let end = address.checked_sub(start).and_then(|offset| offset.checked_add(width));
    end.is_some_and(|end| end <= size)
}

/// The pseudo-random numbers of a layout.
struct RandomNumbers {
    layout: u64,
    drawn: u64,
}

impl RandomNumbers {
    fn draw(&mut self, mask: u64) -> u64 {
        let number = pseudo_random(LAYOUTS as u64 * self.drawn + self.layout);
        self.drawn += 1;
        number & mask
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
fn pseudo_random(nth: u64) -> u64 {
    let mut pseudo_random = (nth + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    pseudo_random = (pseudo_random ^ pseudo_random >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    pseudo_random = (pseudo_random ^ pseudo_random >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    pseudo_random ^ pseudo_random >> 31
}

/// Returns the output buffer of a kernel.
pub(super) fn observe(layouts: &mut [AddressLayout<'_>; LAYOUTS], launch: &Launch) -> Result<Output, String> {
    let mut buffers = Vec::new();
    for layout in &mut *layouts {
        let reached = layout.run_kernel(launch)?;
        let mut buffer = Vec::new();
        for offset in 0..launch.out {
            let written = reached.written.get(&(Space::Global, layout.out + offset));
            buffer.push(written.copied().unwrap_or(Some(0)));
        }
        buffers.push(buffer);
    }
    let size = launch.out as usize;
    let mut bytes = vec![0; size];
    let mut seen = vec![0; size];
    let mut addresses = Vec::new();
    let mut offset = 0;
    while offset < size {
        if let Some(address) = [8, 4].into_iter().find_map(|width| address(layouts, &buffers, offset, width))
        {
            let end = offset + usize::from(address.width);
            seen[offset..end].fill(0xff);
            addresses.push(address);
            offset = end;
            continue;
        }
        let first = buffers[0][offset];
        if let Some(value) = first
            && buffers.iter().all(|buffer| buffer[offset] == first)
        {
            bytes[offset] = value;
            seen[offset] = 0xff;
        }
        offset += 1;
    }
    Ok(Output { size: launch.out, bytes: Some(bytes), seen: Some(seen), addresses, reason: None })
}

/// Returns the number in these bytes, lowest first, if all of them are known.
fn number(bytes: &[Option<u8>]) -> Option<u64> {
    bytes.iter().rev().try_fold(0, |value, &byte| Some(value << 8 | u64::from(byte?)))
}

/// Returns the address of this width at this offset of the output buffers, one buffer for each layout, if it
/// is one.
fn address(
    layouts: &[AddressLayout<'_>],
    buffers: &[Vec<Option<u8>>],
    offset: usize,
    width: u8,
) -> Option<Address> {
    let mut values = Vec::with_capacity(buffers.len());
    for buffer in buffers {
        let bytes = buffer.get(offset..offset + usize::from(width))?;
        values.push(number(bytes)?);
    }
    if values.iter().all(|value| *value == values[0]) {
        return None;
    }
    (0..layouts[0].roots.len()).find_map(|nth| {
        let Root { name, width: root_width, generic, .. } = layouts[0].roots[nth];
        let mut addends = values.iter().zip(layouts).map(|(value, layout)| {
            let addend = value.wrapping_sub(layout.roots[nth].address?) as i64;
            Some(if width == 4 { i64::from(addend as i32) } else { addend })
        });
        let addend = addends.next()?.filter(|_| root_width == width && !name.starts_with('.'))?;
        addends.all(|other| other == Some(addend)).then(|| Address {
            offset: offset as u64,
            width,
            symbol: name.to_owned(),
            addend,
            generic,
            byte: None,
        })
    })
}
