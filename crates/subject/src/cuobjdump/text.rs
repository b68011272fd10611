//! Parses the output of `cuobjdump -elf` into variables.
//!
//! Shares nothing with [`crate::cubin`] except the type of the result, so that the two can check each other:
//! relocations are identified by NVIDIA's names instead of their numbers, and state spaces by the types that
//! the listing gives to sections and symbols. The input is the listing of one cubin: its section table, its
//! symbol table, the words of each section, and the relocations of each section. The rest of the listing is
//! skipped.

use std::collections::BTreeMap;

use super::TextError;
use ptxsmith_syntax::Text;

use ptxsmith_model::{Address, Variable, Variables};

/// Reads every variable of the one cubin in a listing, with its bytes and addresses, by name.
///
/// The listing is untrusted: for any input, the result is variables or an error, in time and memory
/// proportional to the listing and the storage that it declares (at most [`MAX_ZEROS`]).
pub fn read(text: &str) -> Result<Variables, TextError> {
    read_within(text, MAX_ZEROS)
}

/// Reads as [`read`] does; the listing may declare at most `most` bytes of storage without contents.
pub fn read_within(text: &str, most: u64) -> Result<Variables, TextError> {
    let listing = ParsedListing::parse(text)?;
    let mut variables = Vec::new();
    let mut zeros = 0u64;
    for symbol in &listing.symbols {
        if let Some(home) = listing.home(symbol)? {
            if home.bytes.is_none() {
                zeros = zeros.saturating_add(symbol.size);
            }
            if zeros > most {
                return Err(TextError::TooLarge(symbol.name.to_owned()));
            }
            variables.push(PlacedSymbol { symbol, home, addresses: Vec::new() });
        }
    }
    variables.sort_by_key(|placed| (placed.symbol.section, placed.symbol.value));
    listing.relocate(&mut variables)?;
    let mut named = BTreeMap::new();
    for placed in variables {
        let name = placed.symbol.name;
        if named.insert(Text::from(name), placed.finish()?).is_some() {
            return Err(TextError::Contradiction(format!("two variables are named `{name}`")));
        }
    }
    Ok(named)
}

/// Maximum storage without bytes in the listing (`.nv.global`) that is read, in bytes.
pub const MAX_ZEROS: u64 = 1 << 28;
/// Section number of a variable that the linker places later. The symbol's value is then the alignment.
const COMMON: u64 = 0xfff2;

/// The relevant parts of a listing, unconverted.
#[derive(Default)]
struct ParsedListing<'a> {
    sections: BTreeMap<u64, SectionRow<'a>>,
    symbols: Vec<SymbolRow<'a>>,
    /// Contents of each section, by its name.
    words: BTreeMap<&'a str, Vec<u8>>,
    /// Each relocation, with the name of the section that holds its slot.
    relocations: Vec<(&'a str, RelocationRow<'a>)>,
}

/// A row of the section table.
struct SectionRow<'a> {
    size: u64,
    align: u64,
    kind: &'a str,
    name: &'a str,
}

/// A row of the symbol table.
struct SymbolRow<'a> {
    value: u64,
    size: u64,
    kind: &'a str,
    other: &'a str,
    section: u64,
    name: &'a str,
}

/// A row of a relocation list.
struct RelocationRow<'a> {
    offset: u64,
    symbol: &'a str,
    kind: &'a str,
    addend: i64,
}

/// The storage of a symbol's variable.
struct SymbolStorage<'a> {
    space: &'static str,
    /// Alignment of the section, or of the variable itself if there is no section.
    align: u64,
    /// Whether `align` is the variable's own alignment, independent of its offset.
    own_align: bool,
    /// Contents; `None` for storage that is zero or has no value.
    bytes: Option<&'a [u8]>,
}

struct PlacedSymbol<'t, 'a> {
    symbol: &'t SymbolRow<'a>,
    home: SymbolStorage<'t>,
    addresses: Vec<Address>,
}

/// The part of the listing that a line belongs to.
enum ListingPart<'a> {
    Nothing,
    Sections,
    Symbols,
    Words(&'a str),
    Relocations { section: &'a str, with_addend: bool },
}

impl<'a> ParsedListing<'a> {
    fn parse(text: &'a str) -> Result<Self, TextError> {
        let mut listing = ParsedListing::default();
        let mut part = ListingPart::Nothing;
        let mut cubins = 0;
        for (index, line) in text.lines().enumerate() {
            let fields: Vec<&str> = line.split_whitespace().collect();
            if let Some(next) = part_beginning_at(line, &fields) {
                cubins += u32::from(matches!(next, ListingPart::Sections));
                part = next;
                continue;
            }
            listing
                .add_line(&mut part, &fields)
                .ok_or_else(|| TextError::Line { line: index + 1, text: line.chars().take(200).collect() })?;
        }
        match cubins {
            1 => Ok(listing),
            other => Err(TextError::NotOneCubin(other)),
        }
    }

    /// Adds a line with these fields to its part of the listing; `None` if the line has another form.
    fn add_line(&mut self, part: &mut ListingPart<'a>, fields: &[&'a str]) -> Option<()> {
        match (&*part, fields) {
            (_, []) | (ListingPart::Nothing, _) => {}
            (ListingPart::Sections, ["Index", ..]) | (ListingPart::Symbols, ["Num", ..]) => {}
            // A type without a name is printed as two words: `UNKNOWN: 130`.
            (ListingPart::Sections, &[index, _, size, _, align, kind, .., _, _, _, name]) => {
                let section = SectionRow { size: hex(size)?, align: hex(align)?, kind, name };
                self.sections.insert(hex(index)?, section);
            }
            // Skip a symbol without a name.
            (ListingPart::Symbols, &[_, _, _, _, _, _, _, _]) => {}
            (ListingPart::Symbols, &[_, value, size, kind, _, _, other, section, name]) => {
                let (value, size, section) = (hex(value)?, hex(size)?, hex(section)?);
                self.symbols.push(SymbolRow { value, size, kind, other, section, name });
            }
            (ListingPart::Words(_), ["No", "data", ..]) => {}
            (ListingPart::Words(section), words) if words[0].starts_with("0x") => {
                let bytes = self.words.entry(section).or_default();
                for word in words {
                    let value = hex(word)?;
                    // An incomplete last word is printed byte by byte.
                    match word.len() {
                        10 => bytes.extend_from_slice(&(value as u32).to_le_bytes()),
                        4 => bytes.push(value as u8),
                        _ => return None,
                    }
                }
            }
            // cuobjdump decodes this section instead of printing words.
            (ListingPart::Words(_), _) => *part = ListingPart::Nothing,
            (ListingPart::Relocations { section, with_addend: false }, &[offset, symbol, kind]) => {
                let relocation = RelocationRow { offset: hex(offset)?, symbol, kind, addend: 0 };
                self.relocations.push((section, relocation));
            }
            (ListingPart::Relocations { section, with_addend: true }, &[offset, symbol, kind, addend]) => {
                let addend = hex(addend)? as i64;
                let relocation = RelocationRow { offset: hex(offset)?, symbol, kind, addend };
                self.relocations.push((section, relocation));
            }
            (ListingPart::Sections | ListingPart::Symbols | ListingPart::Relocations { .. }, _) => {
                return None;
            }
        }
        Some(())
    }

    /// Returns the storage of a symbol's variable; `None` if the symbol is not a variable of the module.
    fn home(&self, symbol: &SymbolRow<'a>) -> Result<Option<SymbolStorage<'_>>, TextError> {
        // Section 0: declared here and defined elsewhere. Names that begin with `.nv.` are created by the
        // assembler.
        let is_object = ["OBJECT", "CUDA_OBJECT"].contains(&symbol.kind);
        if !is_object || symbol.section == 0 || symbol.name.starts_with(".nv.") {
            return Ok(None);
        }
        let stated_space = stated_space(symbol.other);
        if symbol.section == COMMON {
            return match stated_space {
                Some(space @ "global") => symbol.placed_by_linker(space).map(Some),
                other => Err(symbol.contradiction(format!("common, in {other:?}"))),
            };
        }
        let Some(section) = self.sections.get(&symbol.section) else {
            return Err(symbol.contradiction(format!("no section {:#x}", symbol.section)));
        };
        if section.kind == "CUDA_SHARED" && symbol.kind == "CUDA_OBJECT" && stated_space == Some("shared") {
            return symbol.placed_by_linker("shared").map(Some);
        }
        let Some((space, has_bytes)) = section.holds(symbol)? else { return Ok(None) };
        if let Some(stated) = stated_space.filter(|stated| *stated != space) {
            let what = format!("said to be in {stated}, but its section is {}", section.name);
            return Err(symbol.contradiction(what));
        }
        let align = section.align.max(1);
        if !align.is_power_of_two() {
            let what = format!("section {} is aligned to {align}, no power of two", section.name);
            return Err(symbol.contradiction(what));
        }
        let end = symbol.value.checked_add(symbol.size);
        if symbol.size == 0 || end.is_none_or(|end| end > section.size) {
            return Err(symbol.contradiction(format!("does not fit into section {}", section.name)));
        }
        let bytes = match self.words.get(section.name) {
            _ if !has_bytes => None,
            Some(words) if words.len() as u64 == section.size => {
                Some(&words[symbol.value as usize..(symbol.value + symbol.size) as usize])
            }
            words => {
                let (name, size, shown) = (section.name, section.size, words.map_or(0, Vec::len));
                let what = format!("section {name} has {size:#x} bytes, {shown:#x} are shown");
                return Err(symbol.contradiction(what));
            }
        };
        Ok(Some(SymbolStorage { space, align, own_align: false, bytes }))
    }

    /// Attaches each relocation to the variable that holds its first byte.
    fn relocate(&self, variables: &mut [PlacedSymbol<'_, 'a>]) -> Result<(), TextError> {
        let number: BTreeMap<&str, u64> =
            self.sections.iter().map(|(number, section)| (section.name, *number)).collect();
        let symbols: BTreeMap<&str, &SymbolRow<'a>> =
            self.symbols.iter().map(|symbol| (symbol.name, symbol)).collect();
        let spaces: BTreeMap<&str, &'static str> =
            variables.iter().map(|placed| (placed.symbol.name, placed.home.space)).collect();
        let with_variables: std::collections::BTreeSet<u64> =
            variables.iter().map(|placed| placed.symbol.section).collect();
        for (name, relocation) in &self.relocations {
            let Some(section) = number.get(name).filter(|section| with_variables.contains(section)) else {
                continue;
            };
            let Some(written) = RelocationEffect::from_name(relocation.kind) else {
                return Err(TextError::UnknownRelocation {
                    kind: relocation.kind.to_owned(),
                    place: format!("{name}+{:#x}", relocation.offset),
                });
            };
            let place = (*section, relocation.offset);
            let after =
                variables.partition_point(|placed| (placed.symbol.section, placed.symbol.value) <= place);
            let Some(placed) = variables[..after].last_mut().filter(|placed| {
                placed.symbol.section == *section
                    && relocation.offset - placed.symbol.value < placed.symbol.size
            }) else {
                return Err(relocation.contradiction(name, "in no variable"));
            };
            let Some(target) = symbols.get(relocation.symbol) else {
                return Err(relocation.contradiction(name, "of no symbol"));
            };
            let generic = match written.generic {
                _ if target.kind == "FUNC" => None,
                Some(true) => match spaces.get(target.name).copied().or_else(|| stated_space(target.other)) {
                    None | Some("global") => None,
                    Some(_) => Some(true),
                },
                generic => generic,
            };
            placed.addresses.push(Address {
                offset: relocation.offset - placed.symbol.value,
                width: written.width,
                symbol: target.name.to_owned(),
                addend: relocation.addend,
                generic,
                byte: written.byte,
            });
        }
        Ok(())
    }
}

impl RelocationRow<'_> {
    fn contradiction(&self, section: &str, what: &str) -> TextError {
        TextError::Contradiction(format!("relocation at {section}+{:#x}: {what}", self.offset))
    }
}

impl SymbolRow<'_> {
    fn contradiction(&self, what: String) -> TextError {
        TextError::Contradiction(format!("symbol `{}`: {what}", self.name))
    }

    /// Returns the storage of a variable that the linker places: its value is the alignment.
    fn placed_by_linker(&self, space: &'static str) -> Result<SymbolStorage<'static>, TextError> {
        let (align, size) = (self.value, self.size);
        if !align.is_power_of_two() || size == 0 {
            return Err(self.contradiction(format!("{size} bytes, aligned to {align}")));
        }
        Ok(SymbolStorage { space, align, own_align: true, bytes: None })
    }
}

impl SectionRow<'_> {
    /// Returns the state space of the variables in this section and whether it has their bytes; `None` for
    /// objects of the assembler.
    fn holds(&self, symbol: &SymbolRow<'_>) -> Result<Option<(&'static str, bool)>, TextError> {
        Ok(Some(match (self.kind, self.name) {
            ("CUDA_GLOBAL_INIT" | "CUDA_UDT", _) | ("PROGBITS", ".nv.global.init") => ("global", true),
            ("CUDA_GLOBAL", _) | ("NOBITS", ".nv.global") => ("global", false),
            ("CUDA_CONSTANT_B3", _) | ("PROGBITS", ".nv.constant3") => ("const", true),
            ("CUDA_SHARED", _) => ("shared", false),
            ("NOBITS", name) if name.starts_with(".nv.shared") => ("shared", false),
            // Other constant banks and code.
            (kind, _) if kind.starts_with("CUDA_CONSTANT") => return Ok(None),
            (_, name) if [".nv.constant", ".text", ".debug"].iter().any(|made| name.starts_with(made)) => {
                return Ok(None);
            }
            (kind, name) => {
                let (symbol, section) = (symbol.name.to_owned(), format!("{name} ({kind})"));
                return Err(TextError::UnknownSection { symbol, section });
            }
        }))
    }
}

impl PlacedSymbol<'_, '_> {
    fn finish(mut self) -> Result<Variable, TextError> {
        self.addresses.sort_by_key(|address| address.offset);
        if let Some(pair) = self.addresses.windows(2).find(|pair| pair[0].offset == pair[1].offset) {
            let (name, offset) = (self.symbol.name, pair[0].offset);
            return Err(TextError::Contradiction(format!("two relocations at byte {offset} of `{name}`")));
        }
        let SymbolStorage { space, align, own_align, bytes } = self.home;
        let placed = match self.symbol.value {
            _ if own_align => align,
            0 => align,
            value => align.min(value & value.wrapping_neg()),
        };
        let bytes = match bytes {
            _ if space == "shared" => None,
            Some(bytes) => Some(bytes.to_vec()),
            None => Some(vec![0; self.symbol.size as usize]),
        };
        Ok(Variable {
            space: Some(space.into()),
            size: Some(self.symbol.size),
            align: Some(placed),
            bytes,
            addresses: Some(self.addresses),
            ..Variable::default()
        })
    }
}

/// The effect of a relocation, from NVIDIA's name for it.
struct RelocationEffect {
    width: u8,
    byte: Option<u8>,
    /// `None` for functions.
    generic: Option<bool>,
}

impl RelocationEffect {
    fn from_name(name: &str) -> Option<RelocationEffect> {
        // Longer prefixes first.
        const FAMILIES: [(&str, Option<bool>); 4] =
            [("FUNC_DESC_", None), ("UNIFIED", None), ("G", Some(true)), ("", Some(false))];
        let name = name.strip_prefix("R_CUDA_")?;
        let (rest, generic) =
            FAMILIES.iter().find_map(|(prefix, generic)| Some((name.strip_prefix(prefix)?, *generic)))?;
        match (name, rest) {
            ("UNIFIED", _) | (_, "64") => Some(RelocationEffect { width: 8, byte: None, generic }),
            ("32", _) => Some(RelocationEffect { width: 4, byte: None, generic }),
            _ => {
                // `R_CUDA_8_16` writes one byte, which starts at bit 16.
                let bit: u8 = rest.trim_start_matches('_').strip_prefix("8_")?.parse().ok()?;
                let byte = (bit.is_multiple_of(8) && bit < 64).then_some(bit / 8)?;
                Some(RelocationEffect { width: 1, byte: Some(byte), generic })
            }
        }
    }
}

/// Returns the state space from the listing's column "Other", if it contains one.
fn stated_space(other: &str) -> Option<&'static str> {
    other.split('|').find_map(|flag| match flag {
        "GLOBAL" => Some("global"),
        "CONSTANT" => Some("const"),
        "SHARED" => Some("shared"),
        _ => None,
    })
}

/// Returns the part of the listing that a line begins, if it begins one.
fn part_beginning_at<'a>(line: &'a str, fields: &[&'a str]) -> Option<ListingPart<'a>> {
    if !line.starts_with('.') {
        return (line == "Sections:").then_some(ListingPart::Sections);
    }
    Some(match *fields {
        [".section", ".symtab"] => ListingPart::Symbols,
        [".section", name, kind @ ("REL" | "RELA")] => {
            let with_addend = kind == "RELA";
            match name.strip_prefix(if with_addend { ".rela" } else { ".rel" }) {
                Some(section) => ListingPart::Relocations { section, with_addend },
                None => ListingPart::Nothing,
            }
        }
        [name] => ListingPart::Words(name),
        _ => ListingPart::Nothing,
    })
}

/// Parses a hexadecimal number, with or without `0x`.
fn hex(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16).ok()
}
