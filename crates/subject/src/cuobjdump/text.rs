//! Parses the output of `cuobjdump -elf` into variables.
//!
//! Shares nothing with [`crate::cubin`] except the type of the result, so that the two can check each other:
//! relocations are identified by NVIDIA's names instead of their numbers, and state spaces by the types that the
//! listing gives to sections and symbols. The input is the listing of one cubin: its section table, its symbol table,
//! the words of each section, and the relocations of each section. The rest of the listing is skipped.

use std::collections::BTreeMap;

use super::TextError;
use ptxsmith_syntax::Text;

use ptxsmith_model::{Address, Variable, Variables};

/// Reads every variable of the one cubin in a listing, with its bytes and addresses, by name.
///
/// The listing is untrusted: for any input, the result is variables or an error, in time and memory proportional to the
/// listing and the storage that it declares (at most [`MAX_ZEROS`]).
pub fn read(text: &str) -> Result<Variables, TextError> {
    read_within(text, MAX_ZEROS)
}

/// Reads as [`read`] does; the listing may declare at most `most` bytes of storage without contents.
pub fn read_within(text: &str, most: u64) -> Result<Variables, TextError> {
    let listing = Listing::parse(text)?;
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
            variables.push(Placed { symbol, home, addresses: Vec::new() });
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
struct Listing<'a> {
    sections: BTreeMap<u64, Section<'a>>,
    symbols: Vec<Symbol<'a>>,
    /// Contents of each section, by its name.
    words: BTreeMap<&'a str, Vec<u8>>,
    /// Each relocation, with the name of the section that holds its slot.
    relocations: Vec<(&'a str, Relocation<'a>)>,
}

/// A row of the section table.
struct Section<'a> {
    size: u64,
    align: u64,
    kind: &'a str,
    name: &'a str,
}

/// A row of the symbol table.
struct Symbol<'a> {
    value: u64,
    size: u64,
    kind: &'a str,
    other: &'a str,
    section: u64,
    name: &'a str,
}

/// A row of a relocation list.
struct Relocation<'a> {
    offset: u64,
    symbol: &'a str,
    kind: &'a str,
    addend: i64,
}

/// The storage of a symbol's variable.
struct Home<'a> {
    space: &'static str,
    /// Alignment of the section, or of the variable itself if there is no section.
    align: u64,
    /// Whether `align` is the variable's own alignment, independent of its offset.
    own_align: bool,
    /// Contents; `None` for storage that is zero or has no value.
    bytes: Option<&'a [u8]>,
}

struct Placed<'t, 'a> {
    symbol: &'t Symbol<'a>,
    home: Home<'t>,
    addresses: Vec<Address>,
}

/// The part of the listing that a line belongs to.
enum Part<'a> {
    Nothing,
    Sections,
    Symbols,
    Words(&'a str),
    Relocations { of: &'a str, with_addend: bool },
}

impl<'a> Listing<'a> {
    fn parse(text: &'a str) -> Result<Self, TextError> {
        let mut listing = Listing::default();
        let mut part = Part::Nothing;
        let mut cubins = 0;
        for (index, line) in text.lines().enumerate() {
            let bad = || TextError::Line { line: index + 1, text: line.chars().take(200).collect() };
            let fields: Vec<&str> = line.split_whitespace().collect();
            if let Some(next) = part_of(line, &fields) {
                cubins += u32::from(matches!(next, Part::Sections));
                part = next;
                continue;
            }
            match (&part, fields.as_slice()) {
                (_, []) | (Part::Nothing, _) => {}
                (Part::Sections, ["Index", ..]) | (Part::Symbols, ["Num", ..]) => {}
                // A type without a name is printed as two words: `UNKNOWN: 130`.
                (Part::Sections, &[index, _, size, _, align, kind, .., _, _, _, name]) => {
                    let section = Section { size: hex(size, bad)?, align: hex(align, bad)?, kind, name };
                    listing.sections.insert(hex(index, bad)?, section);
                }
                // Skip a symbol without a name.
                (Part::Symbols, &[_, _, _, _, _, _, _, _]) => {}
                (Part::Symbols, &[_, value, size, kind, _, _, other, section, name]) => {
                    let (value, size) = (hex(value, bad)?, hex(size, bad)?);
                    let section = hex(section, bad)?;
                    listing.symbols.push(Symbol { value, size, kind, other, section, name });
                }
                (Part::Words(_), ["No", "data", ..]) => {}
                (Part::Words(of), words) if words[0].starts_with("0x") => {
                    let bytes = listing.words.entry(of).or_default();
                    for word in words {
                        let value = hex(word, bad)?;
                        // An incomplete last word is printed byte by byte.
                        match word.len() {
                            10 => bytes.extend_from_slice(&(value as u32).to_le_bytes()),
                            4 => bytes.push(value as u8),
                            _ => return Err(bad()),
                        }
                    }
                }
                // cuobjdump decodes this section instead of printing words.
                (Part::Words(_), _) => part = Part::Nothing,
                (Part::Relocations { of, with_addend: false }, &[offset, symbol, kind]) => {
                    let offset = hex(offset, bad)?;
                    listing.relocations.push((of, Relocation { offset, symbol, kind, addend: 0 }));
                }
                (Part::Relocations { of, with_addend: true }, &[offset, symbol, kind, addend]) => {
                    let (offset, addend) = (hex(offset, bad)?, hex(addend, bad)? as i64);
                    listing.relocations.push((of, Relocation { offset, symbol, kind, addend }));
                }
                (Part::Sections | Part::Symbols | Part::Relocations { .. }, _) => return Err(bad()),
            }
        }
        match cubins {
            1 => Ok(listing),
            other => Err(TextError::NotOneCubin(other)),
        }
    }

    /// Returns the storage of a symbol's variable; `None` if the symbol is not a variable of the module.
    fn home(&self, symbol: &Symbol<'a>) -> Result<Option<Home<'_>>, TextError> {
        // Section 0: declared here and defined elsewhere. Names that begin with `.nv.` are created by the assembler.
        let is_object = ["OBJECT", "CUDA_OBJECT"].contains(&symbol.kind);
        if !is_object || symbol.section == 0 || symbol.name.starts_with(".nv.") {
            return Ok(None);
        }
        let told = told_space(symbol.other);
        if symbol.section == COMMON {
            return match told {
                Some(space @ "global") => symbol.placed_by_linker(space).map(Some),
                other => Err(symbol.contradiction(format!("common, in {other:?}"))),
            };
        }
        let Some(section) = self.sections.get(&symbol.section) else {
            return Err(symbol.contradiction(format!("no section {:#x}", symbol.section)));
        };
        if section.kind == "CUDA_SHARED" && symbol.kind == "CUDA_OBJECT" && told == Some("shared") {
            return symbol.placed_by_linker("shared").map(Some);
        }
        let Some((space, has_bytes)) = section.holds(symbol)? else { return Ok(None) };
        if let Some(told) = told.filter(|told| *told != space) {
            let what = format!("said to be in {told}, but its section is {}", section.name);
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
        Ok(Some(Home { space, align, own_align: false, bytes }))
    }

    /// Attaches each relocation to the variable that holds its first byte.
    fn relocate(&self, variables: &mut [Placed<'_, 'a>]) -> Result<(), TextError> {
        let number: BTreeMap<&str, u64> =
            self.sections.iter().map(|(number, section)| (section.name, *number)).collect();
        let symbols: BTreeMap<&str, &Symbol<'a>> =
            self.symbols.iter().map(|symbol| (symbol.name, symbol)).collect();
        let spaces: BTreeMap<&str, &'static str> =
            variables.iter().map(|placed| (placed.symbol.name, placed.home.space)).collect();
        let with_variables: std::collections::BTreeSet<u64> =
            variables.iter().map(|placed| placed.symbol.section).collect();
        for (of, relocation) in &self.relocations {
            let contradiction = |what: &str| {
                Err(TextError::Contradiction(format!("relocation at {of}+{:#x}: {what}", relocation.offset)))
            };
            let Some(section) = number.get(of).filter(|section| with_variables.contains(section)) else {
                continue;
            };
            let Some(written) = Written::by(relocation.kind) else {
                return Err(TextError::UnknownRelocation {
                    kind: relocation.kind.to_owned(),
                    place: format!("{of}+{:#x}", relocation.offset),
                });
            };
            let at = (*section, relocation.offset);
            let after =
                variables.partition_point(|placed| (placed.symbol.section, placed.symbol.value) <= at);
            let Some(placed) = variables[..after].last_mut().filter(|placed| {
                placed.symbol.section == *section
                    && relocation.offset - placed.symbol.value < placed.symbol.size
            }) else {
                return contradiction("in no variable");
            };
            let Some(target) = symbols.get(relocation.symbol) else { return contradiction("of no symbol") };
            let generic = match written.generic {
                _ if target.kind == "FUNC" => None,
                Some(true) => match spaces.get(target.name).copied().or_else(|| told_space(target.other)) {
                    None | Some("global") => None,
                    Some(_) => Some(true),
                },
                said => said,
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

impl Symbol<'_> {
    fn contradiction(&self, what: String) -> TextError {
        TextError::Contradiction(format!("symbol `{}`: {what}", self.name))
    }

    /// Returns the storage of a variable that the linker places: its value is the alignment.
    fn placed_by_linker(&self, space: &'static str) -> Result<Home<'static>, TextError> {
        let (align, size) = (self.value, self.size);
        if !align.is_power_of_two() || size == 0 {
            return Err(self.contradiction(format!("{size} bytes, aligned to {align}")));
        }
        Ok(Home { space, align, own_align: true, bytes: None })
    }
}

impl Section<'_> {
    /// Returns the state space of the variables in this section and whether it has their bytes; `None` for objects of
    /// the assembler.
    fn holds(&self, symbol: &Symbol<'_>) -> Result<Option<(&'static str, bool)>, TextError> {
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

impl Placed<'_, '_> {
    fn finish(mut self) -> Result<Variable, TextError> {
        self.addresses.sort_by_key(|address| address.offset);
        if let Some(pair) = self.addresses.windows(2).find(|pair| pair[0].offset == pair[1].offset) {
            let (name, offset) = (self.symbol.name, pair[0].offset);
            return Err(TextError::Contradiction(format!("two relocations at byte {offset} of `{name}`")));
        }
        let Home { space, align, own_align, bytes } = self.home;
        let placed = match self.symbol.value {
            _ if own_align => align,
            0 => align,
            value => align.min(value & value.wrapping_neg()),
        };
        let zeros = || vec![0; self.symbol.size as usize];
        Ok(Variable {
            space: Some(space.into()),
            size: Some(self.symbol.size),
            align: Some(placed),
            bytes: (space != "shared").then(|| bytes.map_or_else(zeros, <[u8]>::to_vec)),
            addresses: Some(self.addresses),
            ..Variable::default()
        })
    }
}

/// The effect of a relocation, from NVIDIA's name for it.
struct Written {
    width: u8,
    byte: Option<u8>,
    /// `None` for functions.
    generic: Option<bool>,
}

impl Written {
    fn by(name: &str) -> Option<Written> {
        // Longer prefixes first.
        const FAMILIES: [(&str, Option<bool>); 4] =
            [("FUNC_DESC_", None), ("UNIFIED", None), ("G", Some(true)), ("", Some(false))];
        let name = name.strip_prefix("R_CUDA_")?;
        let (rest, generic) =
            FAMILIES.iter().find_map(|(prefix, generic)| Some((name.strip_prefix(prefix)?, *generic)))?;
        match (name, rest) {
            ("UNIFIED", _) | (_, "64") => Some(Written { width: 8, byte: None, generic }),
            ("32", _) => Some(Written { width: 4, byte: None, generic }),
            _ => {
                // `R_CUDA_8_16` writes one byte, which starts at bit 16.
                let bit: u8 = rest.trim_start_matches('_').strip_prefix("8_")?.parse().ok()?;
                let byte = (bit.is_multiple_of(8) && bit < 64).then_some(bit / 8)?;
                Some(Written { width: 1, byte: Some(byte), generic })
            }
        }
    }
}

/// Returns the state space from the listing's column "Other", if it contains one.
fn told_space(other: &str) -> Option<&'static str> {
    other.split('|').find_map(|flag| match flag {
        "GLOBAL" => Some("global"),
        "CONSTANT" => Some("const"),
        "SHARED" => Some("shared"),
        _ => None,
    })
}

/// Returns the part of the listing that a line begins, if it begins one.
fn part_of<'a>(line: &'a str, fields: &[&'a str]) -> Option<Part<'a>> {
    if !line.starts_with('.') {
        return (line == "Sections:").then_some(Part::Sections);
    }
    Some(match *fields {
        [".section", ".symtab"] => Part::Symbols,
        [".section", name, kind @ ("REL" | "RELA")] => {
            let with_addend = kind == "RELA";
            match name.strip_prefix(if with_addend { ".rela" } else { ".rel" }) {
                Some(of) => Part::Relocations { of, with_addend },
                None => Part::Nothing,
            }
        }
        [name] => Part::Words(name),
        _ => Part::Nothing,
    })
}

fn hex(text: &str, bad: impl Fn() -> TextError) -> Result<u64, TextError> {
    u64::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16).map_err(|_| bad())
}
