//! Reads the variables of a module from a cubin.
//!
//! A pure function of untrusted bytes: it does not panic, allocates no more than the file justifies (or a
//! stated limit, for storage without bytes), and runs in time proportional to the file.
//!
//! The variables that are read, and the limits of what a cubin shows:
//!
//! - Variables are the symbols that stand for objects (`STT_OBJECT`; 13 in relocatable output) in
//!   `.nv.global.init`, `.nv.global` (no bytes: zero), `.nv.constant3`, `.nv.udt` (`.unified` variables) and
//!   `.nv.shared*` (no value, so no bytes). The linker places the `.common` variables of relocatable output,
//!   which are zero, and its `.shared` variables (`.nv_debug.shared`): there the symbol gives the alignment
//!   instead of the offset.
//! - A variable that needs something this reader does not support (a section, a relocation, storage beyond
//!   its limit) has no bytes but a reason. An impossible file is the implementation's fault ([`Malformed`]).
//! - Absent variables are not reported, and so not observed: an `.extern` variable of relocatable output
//!   (executable output gives it storage), `.texref` and similar variables, a `.shared` variable that no
//!   kernel of executable output uses. Objects that the assembler itself creates, in other constant banks and
//!   under names that begin with `.nv.`, are skipped.
//! - A variable declared inside a function appears under a name that ptxas generates (`$__x__19`).
//! - Bytes are the bytes of the file. ptxas leaves zero where an address goes; a release that did not would
//!   show here.
//! - A slot may reach past the end of its variable, and slots may overlap: ptxas writes `.u32 a[2] = {g, g}`
//!   as two eight-byte relocations four bytes apart. Both are reported unchanged, at the variable that holds
//!   the first byte.
//! - `generic` is `None` for the address of a `.global` variable, because ptxas writes the same relocation
//!   for `g` and `generic(g)`, and for functions.
//! - The address of a `.const` variable without `generic`, and of a device function, is plain bytes without a
//!   relocation: it cannot be distinguished from a number. Relocatable output shows both ([`OutputForm`]).
//!
//! Which PTX leads to which relocation is listed at the top of `cubin/relocation.rs` and in
//! `docs/reference/relocations.md`.
//!
//! [`OutputForm`]: crate::OutputForm

mod code;
mod linked;
mod relocation;

pub(crate) use code::code_sections;
pub use code::{code_hashes, one_place};
pub use linked::read_linked;

use object::elf::{
    ELFCLASS32, FileHeader32, FileHeader64, SHN_COMMON, SHT_NOBITS, SHT_PROGBITS, STB_LOCAL, STT_FUNC,
    STT_OBJECT, STT_SECTION, SectionType, SymbolType,
};
use object::read::elf::{FileHeader, Rel, Rela, SectionHeader, SectionTable, Sym, SymbolTable};
use object::{LittleEndian, SectionIndex, SymbolIndex};

use ptxsmith_model::{Address, Variable, Variables};
use relocation::{AddressKind, RelocationKind};

/// The ELF machine number of CUDA device code.
pub const EM_CUDA: u16 = 190;
/// Symbol type of a variable in relocatable output; in executable output it is `STT_OBJECT`.
const STT_CUDA_OBJECT: SymbolType = SymbolType(13);
/// Maximum storage without bytes in the file (`.nv.global`) that is read, in bytes. The oracle evaluates no
/// more, and the zeros are materialized.
const MAX_NOBITS: u64 = 1 << 28;
/// The bits of `st_other` that hold a symbol's state space in relocatable output. Executable output has none
/// of them.
const OTHER_SPACE: u8 = 0xe0;
const OTHER_GLOBAL: u8 = 0x20;
const OTHER_CONST: u8 = 0x80;
/// Section types of relocatable output; in executable output they are `SHT_NOBITS` and `SHT_PROGBITS`.
const SHT_CUDA_GLOBAL: SectionType = SectionType(0x7000_0007);
const SHT_CUDA_GLOBAL_INIT: SectionType = SectionType(0x7000_0008);
const SHT_CUDA_SHARED: SectionType = SectionType(0x7000_000a);
const SHT_CUDA_UDT: SectionType = SectionType(0x7000_0012);
const SHT_CUDA_CONSTANT3: SectionType = SectionType(0x7000_0067);
/// Maximum bytes of symbol names in addresses, for each byte of the file. Every address copies its symbol's
/// name, so a small hostile file with one long name could otherwise demand any amount of memory.
const MAX_NAMES: usize = 256;

/// An ELF file of either class: a 32-bit module gives a 32-bit file.
trait Elf: FileHeader<Endian = LittleEndian> {}

impl<T: FileHeader<Endian = LittleEndian>> Elf for T {}

type Sections<'a, E> = SectionTable<'a, E>;
type Symbols<'a, E> = SymbolTable<'a, E>;
const LE: LittleEndian = LittleEndian;

/// Whether the file is a 32-bit ELF file.
pub(crate) fn is_32_bit(bytes: &[u8]) -> bool {
    bytes.get(4).is_some_and(|&class| class == ELFCLASS32.0)
}

/// The file is not a cubin, or a part of it is broken: the implementation wrote invalid output, which counts as its
/// crash. Content that
/// this reader merely does not support is not malformed; it leaves the variable unread
/// ([`Variable::reason`]).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("malformed cubin: {0}")]
pub struct Malformed(String);

fn malformed(what: impl Into<String>) -> Malformed {
    Malformed(what.into())
}

/// A section that holds variables.
struct VariableSection<'a> {
    name: &'a str,
    space: &'static str,
    address: u64,
    size: u64,
    align: u64,
    /// The bytes of the section; `None` for zero-filled storage without bytes in the file.
    data: Option<&'a [u8]>,
    /// Sorted by offset, without overlaps, once all symbols have been seen.
    variables: Vec<PlacedVariable<'a>>,
}

/// A variable with its offset in a section.
struct PlacedVariable<'a> {
    name: &'a str,
    is_local: bool,
    offset: u64,
    size: u64,
    addresses: Vec<Address>,
    /// Why it cannot be read.
    reason: Option<String>,
}

impl PlacedVariable<'_> {
    /// Whether the byte at this offset of the section, which is not before the variable, belongs to it.
    fn holds(&self, offset: u64) -> bool {
        offset < self.offset + self.size
    }
}

/// A variable outside the sections that this reader supports. In relocatable output the linker may place it
/// later: its symbol then gives the alignment instead of the offset.
struct UnplacedVariable<'a> {
    name: &'a str,
    size: u64,
    /// State space and alignment, or why they are unknown.
    place: Result<(&'static str, u64), String>,
}

impl<'a> UnplacedVariable<'a> {
    /// Creates a variable that the linker places.
    fn left_to_linker(
        name: &'a str,
        space: &'static str,
        size: u64,
        align: u64,
    ) -> Result<UnplacedVariable<'a>, Malformed> {
        if !align.is_power_of_two() || size == 0 {
            return Err(malformed(format!("variable `{name}`: {size} bytes, aligned to {align}")));
        }
        Ok(UnplacedVariable { name, size, place: Ok((space, align)) })
    }

    fn variable(&self, left: &mut u64) -> Variable {
        let size = Some(self.size);
        match &self.place {
            Ok((space, align)) => finished(space, self.size, *align, None, Ok(Vec::new()), left),
            Err(reason) => Variable { size, reason: Some(reason.clone()), ..Variable::default() },
        }
    }
}

/// Builds a variable from `data`, or from `size` zeros if the file has no bytes. Zeros count against the
/// budget `left`.
fn finished(
    space: &str,
    size: u64,
    align: u64,
    data: Option<&[u8]>,
    addresses: Result<Vec<Address>, String>,
    left: &mut u64,
) -> Variable {
    let mut variable =
        Variable { space: Some(space.into()), size: Some(size), align: Some(align), ..Variable::default() };
    match (addresses, data, left.checked_sub(size)) {
        (Err(reason), ..) => variable.reason = Some(reason),
        // Shared memory has no initial value.
        (Ok(addresses), ..) if space == "shared" => variable.addresses = Some(addresses),
        (Ok(addresses), Some(data), _) => {
            (variable.bytes, variable.addresses) = (Some(data.to_vec()), Some(addresses));
        }
        (Ok(addresses), None, Some(rest)) => {
            *left = rest;
            (variable.bytes, variable.addresses) = (Some(vec![0; size as usize]), Some(addresses));
        }
        (Ok(_), None, None) => variable.reason = Some("more storage than is read of a cubin".to_owned()),
    }
    variable
}

/// Reads every variable of a module with its bytes and addresses, by name.
pub fn read(bytes: &[u8]) -> Result<Variables, Malformed> {
    read_within(bytes, MAX_NOBITS)
}

/// Reads every variable as [`read`] does, with at most `most` bytes of storage that the file does not hold.
pub fn read_within(bytes: &[u8], most: u64) -> Result<Variables, Malformed> {
    if is_32_bit(bytes) {
        read_class::<FileHeader32<LittleEndian>>(bytes, most)
    } else {
        read_class::<FileHeader64<LittleEndian>>(bytes, most)
    }
}

fn read_class<E: Elf>(bytes: &[u8], most: u64) -> Result<Variables, Malformed> {
    let CubinContents { mut homes, unplaced } = contents::<E>(bytes)?;
    refuse_overlaps(&homes)?;

    // Sort the small index entries first; the map is then built from them in one pass.
    let count: usize = homes.iter().flatten().map(|home| home.variables.len()).sum();
    let mut order = Vec::with_capacity(count + unplaced.len());
    for (section, home) in homes.iter().enumerate() {
        let placed = home.iter().flat_map(|home| &home.variables).enumerate();
        order.extend(placed.map(|(index, placed)| (placed.name, Some(section), index)));
    }
    order.extend(unplaced.iter().enumerate().map(|(index, variable)| (variable.name, None, index)));
    order.sort_unstable();
    if let Some(pair) = order.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(malformed(format!("two variables are named `{}`", pair[0].0)));
    }
    let mut left = most;
    let mut named = Vec::with_capacity(order.len());
    for (name, section, index) in order {
        let variable = match section {
            None => unplaced[index].variable(&mut left),
            Some(section) => {
                let Some(home) = &mut homes[section] else { continue };
                home.variable(index, &mut left)
            }
        };
        named.push((name.into(), variable));
    }
    // With millions of variables each of these needs as much memory as the map.
    drop((homes, unplaced));
    Ok(named.into_iter().collect())
}

/// The sections that hold variables, and the variables outside supported sections.
struct CubinContents<'a> {
    homes: Vec<Option<VariableSection<'a>>>,
    unplaced: Vec<UnplacedVariable<'a>>,
}

fn contents<E: Elf>(bytes: &[u8]) -> Result<CubinContents<'_>, Malformed> {
    let header = E::parse(bytes).map_err(|error| malformed(error.to_string()))?;
    header
        .endian()
        .ok()
        .filter(|_| header.is_little_endian())
        .ok_or_else(|| malformed("not little-endian"))?;
    if header.e_machine(LE).0 != EM_CUDA {
        return Err(malformed(format!("ELF machine {} is not CUDA ({EM_CUDA})", header.e_machine(LE).0)));
    }
    let sections = header.sections(LE, bytes).map_err(|error| malformed(error.to_string()))?;
    let symbols = sections
        .symbols(LE, bytes, object::elf::SHT_SYMTAB)
        .map_err(|error| malformed(format!("symbol table: {error}")))?;

    let mut homes = find_homes(&sections, bytes)?;
    let unplaced = place_variables(&mut homes, &sections, &symbols)?;
    relocate(&mut homes, &sections, &symbols, bytes)?;
    Ok(CubinContents { homes, unplaced })
}

impl VariableSection<'_> {
    fn variable(&mut self, index: usize, left: &mut u64) -> Variable {
        let placed = &mut self.variables[index];
        let addresses = match placed.reason.take() {
            Some(reason) => Err(reason),
            None => Ok(std::mem::take(&mut placed.addresses)),
        };
        // Placed variables lie within their section and do not overlap, so the copies are no larger than the
        // file.
        let data =
            self.data.map(|data| &data[placed.offset as usize..(placed.offset + placed.size) as usize]);
        let shown = if placed.offset == 0 { self.align } else { 1 << placed.offset.trailing_zeros() };
        finished(self.space, placed.size, shown.min(self.align), data, addresses, left)
    }
}

/// Finds the sections that hold variables, by section index.
fn find_homes<'a, E: Elf>(
    sections: &Sections<'a, E>,
    bytes: &'a [u8],
) -> Result<Vec<Option<VariableSection<'a>>>, Malformed> {
    let mut with_bytes = 0u64;
    let mut homes = Vec::with_capacity(sections.len());
    for section in sections.iter() {
        let name = section_name(sections, section)?;
        let Some(space) = state_space(name) else {
            homes.push(None);
            continue;
        };
        let data = match section.sh_type(LE) {
            SHT_NOBITS | SHT_CUDA_GLOBAL | SHT_CUDA_SHARED => None,
            SHT_PROGBITS | SHT_CUDA_GLOBAL_INIT | SHT_CUDA_CONSTANT3 | SHT_CUDA_UDT => {
                let data = section
                    .data(LE, bytes)
                    .map_err(|_| malformed(format!("section `{name}` is beyond the end of the file")))?;
                with_bytes += data.len() as u64;
                if with_bytes > bytes.len() as u64 {
                    return Err(malformed(format!("section `{name}` overlaps another")));
                }
                Some(data)
            }
            // Sections of relocations and notes about a section carry its name too.
            _ => {
                homes.push(None);
                continue;
            }
        };
        let align = section.sh_addralign(LE).into().max(1);
        if !align.is_power_of_two() {
            return Err(malformed(format!("section `{name}` is aligned to {align}, no power of two")));
        }
        homes.push(Some(VariableSection {
            name,
            space,
            address: section.sh_addr(LE).into(),
            size: section.sh_size(LE).into(),
            align,
            data,
            variables: Vec::new(),
        }));
    }
    Ok(homes)
}

/// Returns the state space of the variables in a section of this name.
fn state_space(section: &str) -> Option<&'static str> {
    match section {
        ".nv.global" | ".nv.global.init" | ".nv.udt" => Some("global"),
        ".nv.constant3" => Some("const"),
        ".nv.shared" | ".nv_debug.shared" => Some("shared"),
        _ if section.starts_with(".nv.shared.") => Some("shared"),
        _ => None,
    }
}

/// Adds each variable to its section; returns the variables outside supported sections.
fn place_variables<'a, E: Elf>(
    homes: &mut [Option<VariableSection<'a>>],
    sections: &Sections<'a, E>,
    symbols: &Symbols<'a, E>,
) -> Result<Vec<UnplacedVariable<'a>>, Malformed> {
    let mut unplaced = Vec::new();
    for (index, symbol) in symbols.enumerate() {
        if !matches!(symbol.st_type(), STT_OBJECT | STT_CUDA_OBJECT) || symbol.is_undefined(LE) {
            continue;
        }
        let name = symbol_name(symbols, symbol)?;
        if name.starts_with(".nv.") {
            continue;
        }
        let (value, size): (u64, u64) = (symbol.st_value(LE).into(), symbol.st_size(LE).into());
        if symbol.st_shndx(LE) == SHN_COMMON && symbol.st_other().0 & OTHER_SPACE == OTHER_GLOBAL {
            unplaced.push(UnplacedVariable::left_to_linker(name, "global", size, value)?);
            continue;
        }
        let section = symbols
            .symbol_section(LE, symbol, index)
            .ok()
            .flatten()
            .and_then(|section| sections.section(section).ok().map(|header| (section, header)));
        let Some((section, section_header)) = section else {
            let place = Err(format!("it is in no section, but at {:#x}", symbol.st_shndx(LE)));
            unplaced.push(UnplacedVariable { name, size, place });
            continue;
        };
        if section_header.sh_type(LE) == SHT_CUDA_SHARED && symbol.st_type() == STT_CUDA_OBJECT {
            unplaced.push(UnplacedVariable::left_to_linker(name, "shared", size, value)?);
            continue;
        }
        let Some(home) = &mut homes[section.0] else {
            let section = section_name(sections, section_header)?;
            // Code and constant banks other than 3 hold objects of the assembler, not variables of the
            // module.
            if ![".nv.constant", ".text", ".debug"].iter().any(|prefix| section.starts_with(prefix)) {
                let place = Err(format!("it is in section `{section}`, which is not known to this reader"));
                unplaced.push(UnplacedVariable { name, size, place });
            }
            continue;
        };
        if size == 0 {
            unplaced.push(UnplacedVariable { name, size, place: Err("it has no size".to_owned()) });
            continue;
        }
        let offset = value.checked_sub(home.address);
        let end = offset.and_then(|offset| offset.checked_add(size));
        match (offset, end) {
            (Some(offset), Some(end)) if end <= home.size => {
                let is_local = symbol.st_bind() == STB_LOCAL;
                home.variables.push(PlacedVariable {
                    name,
                    is_local,
                    offset,
                    size,
                    addresses: Vec::new(),
                    reason: None,
                })
            }
            _ => return Err(malformed(format!("variable `{name}` reaches out of section `{}`", home.name))),
        }
    }
    for home in homes.iter_mut().flatten() {
        home.variables.sort_unstable_by_key(|placed| placed.offset);
    }
    Ok(unplaced)
}

/// Returns an error if two variables of a section share a byte.
fn refuse_overlaps(homes: &[Option<VariableSection<'_>>]) -> Result<(), Malformed> {
    for home in homes.iter().flatten() {
        let mut pairs = home.variables.windows(2);
        if let Some([a, b]) = pairs.find(|pair| pair[0].offset + pair[0].size > pair[1].offset) {
            return Err(malformed(format!("variables `{}` and `{}` overlap", a.name, b.name)));
        }
    }
    Ok(())
}

/// Attaches each relocation to the variable that contains its offset, and ignores one between variables. A
/// type that is not known leaves its variable without bytes, with the reason.
fn relocate<'a, E: Elf>(
    homes: &mut [Option<VariableSection<'a>>],
    sections: &Sections<'a, E>,
    symbols: &Symbols<'a, E>,
    bytes: &'a [u8],
) -> Result<(), Malformed> {
    // The meaning of a relocation depends on the state space of its symbol.
    let mut names_left = bytes.len().saturating_mul(MAX_NAMES);
    let spaces: Vec<Option<&'static str>> = homes.iter().map(|home| Some(home.as_ref()?.space)).collect();
    for section in sections.iter() {
        let Some(home) = homes.get_mut(section.sh_info(LE) as usize).and_then(Option::as_mut) else {
            continue;
        };
        let name = home.name;
        let rels = section.rel(LE, bytes).map_err(|error| unreadable_relocations(name, &error))?;
        let relas = section.rela(LE, bytes).map_err(|error| unreadable_relocations(name, &error))?;
        if let Some((rels, _)) = rels {
            for rel in rels {
                let entry = RelocationEntry {
                    offset: rel.r_offset(LE).into(),
                    r_type: rel.r_type(LE).0,
                    symbol: rel.r_sym(LE),
                    addend: 0,
                };
                entry.apply(home, &spaces, symbols, &mut names_left)?;
            }
        } else if let Some((relas, _)) = relas {
            for rela in relas {
                let entry = RelocationEntry {
                    offset: rela.r_offset(LE).into(),
                    r_type: rela.r_type(LE, false).0,
                    symbol: rela.r_sym(LE, false),
                    addend: rela.r_addend(LE).into(),
                };
                entry.apply(home, &spaces, symbols, &mut names_left)?;
            }
        }
    }
    for home in homes.iter_mut().flatten() {
        for placed in &mut home.variables {
            placed.addresses.sort_unstable_by_key(|address| address.offset);
            if let Some(pair) = placed.addresses.windows(2).find(|pair| pair[0].offset == pair[1].offset) {
                let (name, offset) = (placed.name, pair[0].offset);
                return Err(malformed(format!("two relocations at byte {offset} of variable `{name}`")));
            }
        }
    }
    Ok(())
}

fn unreadable_relocations(section: &str, error: &object::Error) -> Malformed {
    malformed(format!("relocations of `{section}`: {error}"))
}

/// One relocation, REL or RELA.
struct RelocationEntry {
    offset: u64,
    r_type: u32,
    symbol: u32,
    addend: i64,
}

impl RelocationEntry {
    fn place(&self, home: &VariableSection<'_>) -> String {
        format!("relocation at {}+{:#x}", home.name, self.offset)
    }

    fn apply<E: Elf>(
        &self,
        home: &mut VariableSection<'_>,
        spaces: &[Option<&'static str>],
        symbols: &Symbols<'_, E>,
        names_left: &mut usize,
    ) -> Result<(), Malformed> {
        if home.data.is_none() {
            return Err(malformed(format!("{}: that section has no bytes", self.place(home))));
        }
        let after = home.variables.partition_point(|placed| placed.offset <= self.offset);
        // Ignore a relocation between variables.
        let Some(index) = after.checked_sub(1).filter(|&index| home.variables[index].holds(self.offset))
        else {
            return Ok(());
        };
        let number = SymbolIndex(self.symbol as usize);
        let symbol =
            symbols.symbol(number).map_err(|_| malformed(format!("{}: no such symbol", self.place(home))))?;
        let name = symbol_name(symbols, symbol)?;
        let Some(kind) = RelocationKind::from_type(self.r_type) else {
            let (place, r_type) = (self.place(home), self.r_type);
            let reason = format!("{place} is of type {r_type}, which is not known to this reader");
            home.variables[index].reason = Some(reason);
            return Ok(());
        };
        if name.is_empty() || symbol.st_type() == STT_SECTION {
            let reason = format!("{}: its symbol is no variable and no function", self.place(home));
            home.variables[index].reason = Some(reason);
            return Ok(());
        }
        *names_left = names_left
            .checked_sub(name.len())
            .ok_or_else(|| malformed("the names in its addresses are out of proportion to the file"))?;
        let section = symbols.symbol_section(LE, symbol, number).ok().flatten();
        let generic = match kind.address {
            AddressKind::Space if symbol.st_type() == STT_FUNC => None,
            AddressKind::Space => Some(false),
            // See the table in `relocation`: for a global variable both spellings give this relocation. A
            // 32-bit generic address may stand in an eight-byte slot, where it is the complete address; only
            // for that width is `generic` left open in every state space.
            AddressKind::Generic if kind.width == 4 => None,
            AddressKind::Generic => match section.and_then(|SectionIndex(section)| *spaces.get(section)?) {
                None if symbol.st_other().0 & OTHER_SPACE == OTHER_CONST => Some(true),
                Some("global") | None => None,
                Some(_) => Some(true),
            },
            AddressKind::Function => None,
        };
        let placed = &mut home.variables[index];
        placed.addresses.push(Address {
            offset: self.offset - placed.offset,
            width: kind.width,
            symbol: name.to_owned(),
            addend: self.addend,
            generic,
            byte: kind.byte,
        });
        Ok(())
    }
}

fn symbol_name<'a, E: Elf>(symbols: &Symbols<'a, E>, symbol: &E::Sym) -> Result<&'a str, Malformed> {
    let name = symbol
        .name(LE, symbols.strings())
        .map_err(|_| malformed("a symbol's name is beyond the string table"))?;
    std::str::from_utf8(name).map_err(|_| malformed("a symbol's name is not UTF-8"))
}

fn section_name<'a, E: Elf>(
    sections: &Sections<'a, E>,
    section: &'a E::SectionHeader,
) -> Result<&'a str, Malformed> {
    let name = sections
        .section_name(LE, section)
        .map_err(|_| malformed("a section's name is beyond the string table"))?;
    std::str::from_utf8(name).map_err(|_| malformed("a section's name is not UTF-8"))
}

#[cfg(test)]
mod tests;
