//! Reads the machine code of a cubin, and the names of its functions.

use std::collections::{BTreeMap, BTreeSet};

use object::LittleEndian;
use object::elf::{FileHeader32, FileHeader64, STT_FUNC};
use object::read::elf::{FileHeader, SectionHeader, Sym};
use sha2::{Digest, Sha256};

use super::{Elf, LE, Sections, is_32_bit, symbol_name};

/// Returns the name and the SHA-256 of the machine code of each function; empty if the file cannot be read.
pub fn code_hashes(bytes: &[u8]) -> Vec<(String, String)> {
    if is_32_bit(bytes) {
        hash_code::<FileHeader32<LittleEndian>>(bytes)
    } else {
        hash_code::<FileHeader64<LittleEndian>>(bytes)
    }
}

fn hash_code<E: Elf>(bytes: &[u8]) -> Vec<(String, String)> {
    let Ok(header) = E::parse(bytes) else { return Vec::new() };
    let Ok(sections) = header.sections(LE, bytes) else { return Vec::new() };
    let code = sections.iter().filter_map(|section| code_of(&sections, section, bytes));
    code.map(|(function, code)| (function.to_owned(), hex::encode(Sha256::digest(code)))).collect()
}

/// Returns the function whose code a section holds, and the code; `None` for other sections.
fn code_of<'a, E: Elf>(
    sections: &Sections<'a, E>,
    section: &E::SectionHeader,
    bytes: &'a [u8],
) -> Option<(&'a str, &'a [u8])> {
    let name = std::str::from_utf8(sections.section_name(LE, section).ok()?).ok()?;
    Some((name.strip_prefix(".text.")?, section.data(LE, bytes).ok()?))
}

/// Maps each function that shares its address with another function (an alias does) to the alphabetically
/// first name at that address. Empty if the file cannot be read.
pub fn one_place(bytes: &[u8]) -> BTreeMap<String, String> {
    let shared = if is_32_bit(bytes) {
        find_shared_addresses::<FileHeader32<LittleEndian>>(bytes)
    } else {
        find_shared_addresses::<FileHeader64<LittleEndian>>(bytes)
    };
    shared.unwrap_or_default()
}

fn find_shared_addresses<E: Elf>(bytes: &[u8]) -> Option<BTreeMap<String, String>> {
    let header = E::parse(bytes).ok()?;
    let sections = header.sections(LE, bytes).ok()?;
    let symbols = sections.symbols(LE, bytes, object::elf::SHT_SYMTAB).ok()?;
    let mut by_address: BTreeMap<(u16, u64), BTreeSet<&str>> = BTreeMap::new();
    let functions = symbols.iter().filter(|symbol| symbol.st_type() == STT_FUNC);
    for symbol in functions.filter(|symbol| !symbol.is_undefined(LE)) {
        let name = symbol_name(&symbols, symbol).ok()?;
        let address = (symbol.st_shndx(LE).0, symbol.st_value(LE).into());
        by_address.entry(address).or_default().insert(name);
    }
    let mut shared = BTreeMap::new();
    for names in by_address.into_values().filter(|names| names.len() > 1) {
        let first = names.first().copied().unwrap_or_default();
        shared.extend(names.iter().map(|name| ((*name).to_owned(), first.to_owned())));
    }
    Some(shared)
}

/// Returns the sections of machine code of a 64-bit cubin by name (`.text.k`); empty if the bytes are not
/// such a cubin.
pub(crate) fn code_sections(bytes: &[u8]) -> BTreeMap<String, &[u8]> {
    let Ok(header) = FileHeader64::<LittleEndian>::parse(bytes) else { return BTreeMap::new() };
    let Ok(sections) = header.sections(LE, bytes) else { return BTreeMap::new() };
    let code = sections.iter().filter_map(|section| code_of(&sections, section, bytes));
    code.map(|(function, code)| (format!(".text.{function}"), code)).collect()
}
