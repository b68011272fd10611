//! Compiles the same globals with the host's compilers. CUDA C++ has the same layout (CUDA C++ Programming
//! Guide, "C++ language support"). A result counts only if g++ and clang agree on it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use object::read::elf::ElfFile64;
use object::{
    Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget, SectionKind, SymbolIndex,
    SymbolKind,
};
use ptxsmith_subject::process::{self, Cancel, Invocation, Limits, ProcessEnd};
use ptxsmith_subject::regular;

use crate::EmitError;
use crate::source::CxxGlobal;
use crate::source::print::{HOST_PRELUDE, host_declaration, prelude};

/// The bytes of a variable, with zeros in place of addresses, and its addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VariableContents {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The offset, the symbol and the addend of each address, sorted by offset.
    pub addresses: Vec<(u64, String, i64)>,
    /// The functions in the table of virtual functions that an address points into, by the offset of the address.
    pub tables: BTreeMap<u64, Vec<String>>,
}

impl VariableContents {
    /// Whether two variables have the same contents. A class that adds and overrides no virtual function may share the
    /// table of its base, as with nvcc.
    pub fn agrees_with(&self, other: &VariableContents) -> bool {
        let shares_table =
            |at: &u64| self.tables.get(at).is_some_and(|table| other.tables.get(at) == Some(table));
        let mut pairs = self.addresses.iter().zip(&other.addresses);
        self.bytes == other.bytes
            && self.addresses.len() == other.addresses.len()
            && pairs.all(|(one, another)| one == another || one.0 == another.0 && shares_table(&one.0))
    }
}

/// The beginning of the name of a table of virtual functions.
pub const FUNCTION_TABLE: &str = "_ZTV";

/// Returns the functions of a table from this place on, up to a gap; `None` if there are none. `entries` are its functions
/// by offset.
pub fn functions_from(entries: &BTreeMap<u64, &str>, addend: i64) -> Option<Vec<String>> {
    let mut next = u64::try_from(addend).ok()?;
    let mut functions = Vec::new();
    while let Some(function) = entries.get(&next) {
        functions.push((*function).to_owned());
        next += 8;
    }
    (!functions.is_empty()).then_some(functions)
}

/// Returns what takes the place of a symbol in the address of a string literal, whose name each compiler
/// chooses: its bytes up to the end of the string.
pub fn string_name(bytes: &[u8]) -> String {
    let text = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    format!("string {}", ptxsmith_oracle::hex(text))
}

/// The host's compilers.
#[derive(Debug)]
pub struct Host {
    compilers: Vec<PathBuf>,
    limits: Limits,
    cancel: Cancel,
}

/// The versions of clang to look for, from the newest, before trying one without a number.
const NEWEST_CLANG: u32 = 40;
const OLDEST_CLANG: u32 = 15;

impl Host {
    /// Finds g++ and clang on this machine; `None` if one is missing.
    pub fn find(cancel: &Cancel) -> Option<Host> {
        let clangs = (OLDEST_CLANG..=NEWEST_CLANG).rev().map(|version| format!("clang++-{version}"));
        let clang = clangs.chain(["clang++".to_owned()]).find_map(|name| which::which(name).ok())?;
        let compilers = vec![which::which("g++").ok()?, clang];
        let limits = Limits { time: std::time::Duration::from_secs(60), ..Limits::default() };
        Some(Host { compilers, limits, cancel: cancel.clone() })
    }

    /// Returns the contents of these globals on which all compilers agree. Omits a global that a compiler
    /// rejects, or on which they disagree.
    ///
    /// # Errors
    /// If this machine or our code fails.
    pub fn agreed_contents(
        &self,
        globals: &[&CxxGlobal],
    ) -> Result<BTreeMap<u64, VariableContents>, EmitError> {
        let mut agreed: Option<BTreeMap<u64, VariableContents>> = None;
        for compiler in &self.compilers {
            let compiled = self.compiled(compiler, globals)?;
            agreed = Some(keep_equal(agreed, compiled));
        }
        Ok(agreed.unwrap_or_default())
    }

    /// Returns the contents of a source's variables on which all compilers agree, or the message of a
    /// compiler that rejects the source.
    ///
    /// # Errors
    /// If this machine or our code fails.
    pub fn variables(
        &self,
        source: &str,
        names: &[&str],
    ) -> Result<Result<BTreeMap<String, VariableContents>, String>, EmitError> {
        let mut agreed: Option<BTreeMap<String, VariableContents>> = None;
        for compiler in &self.compilers {
            let object =
                match self.object(compiler, &format!("{HOST_PRELUDE}#line 1 \"{UNIT}\"\n{source}"))? {
                    Ok(object) => object,
                    Err(messages) => return Ok(Err(messages)),
                };
            let compiled: BTreeMap<String, VariableContents> =
                names.iter().filter_map(|name| Some(((*name).to_owned(), read(&object, name)?))).collect();
            agreed = Some(keep_equal(agreed, compiled));
        }
        Ok(Ok(agreed.unwrap_or_default()))
    }

    /// Compiles globals with one compiler, omitting the globals that it rejects.
    fn compiled(
        &self,
        compiler: &Path,
        globals: &[&CxxGlobal],
    ) -> Result<BTreeMap<u64, VariableContents>, EmitError> {
        let mut left = globals.to_vec();
        while !left.is_empty() {
            let lines: Vec<String> = left.iter().map(|global| host_declaration(global) + "\n").collect();
            let text = format!("{HOST_PRELUDE}{}\n#line 1 \"{UNIT}\"\n{}", prelude(), lines.concat());
            let messages = match self.object(compiler, &text)? {
                Ok(object) => {
                    let contents = left.iter().filter_map(|global| {
                        Some((global.number, read(&object, &format!("g{}", global.number))?))
                    });
                    return Ok(contents.collect());
                }
                Err(messages) => messages,
            };
            let refused = refused_lines(&messages);
            let before = left.len();
            let mut line = 0;
            left.retain(|_| {
                line += 1;
                !refused.contains(&line)
            });
            if left.len() == before {
                break;
            }
        }
        Ok(BTreeMap::new())
    }

    /// Compiles a source to an object file, or returns the message of the compiler.
    fn object(&self, compiler: &Path, text: &str) -> Result<Result<Vec<u8>, String>, EmitError> {
        let directory = process::scratch(1 << 28).map_err(EmitError::Directory)?;
        let path = directory.path();
        fs::write(path.join(UNIT), text).map_err(EmitError::Directory)?;
        let options = ["-std=c++20", "-w", "-fno-pic", "-O0", "-c", "-o", "unit.o", UNIT];
        let invocation = Invocation {
            program: compiler.to_owned(),
            args: options.iter().map(Into::into).collect(),
            directory: Some(path.to_owned()),
            temporary: path.to_owned(),
        };
        let finished = process::run(&invocation, &self.limits, &self.cancel)?;
        match finished.end {
            ProcessEnd::Exited(0) => {
                let object = regular::read_output(&path.join("unit.o"), self.limits.file);
                let object = object.map_err(EmitError::Directory)?;
                let missing = || io::Error::other("the compiler of the host wrote no object file");
                Ok(Ok(object.ok_or_else(missing).map_err(EmitError::Directory)?))
            }
            _ => Ok(Err(finished.stderr.text().into_owned())),
        }
    }
}

/// Keeps the variables for which a further compiler has the same contents; all of them for the first
/// compiler.
fn keep_equal<K: Ord>(
    agreed: Option<BTreeMap<K, VariableContents>>,
    compiled: BTreeMap<K, VariableContents>,
) -> BTreeMap<K, VariableContents> {
    let Some(mut agreed) = agreed else { return compiled };
    agreed
        .retain(|variable, contents| compiled.get(variable).is_some_and(|other| contents.agrees_with(other)));
    agreed
}

/// The file name of the source.
const UNIT: &str = "unit.cc";

/// Returns the lines in which a host compiler reports errors.
fn refused_lines(messages: &str) -> Vec<usize> {
    let errors = messages.lines().filter_map(|line| line.strip_prefix("unit.cc:"));
    errors
        .filter(|error| error.contains("error: "))
        .filter_map(|error| error.split(':').next()?.parse().ok())
        .collect()
}

/// Returns the contents of a variable in an object file.
pub fn read(data: &[u8], name: &str) -> Option<VariableContents> {
    let file: ElfFile64<'_> = ElfFile64::<'_, object::Endianness>::parse(data).ok()?;
    let symbol = file.symbols().find(|symbol| symbol.name() == Ok(name))?;
    let section = file.section_by_index(symbol.section_index()?).ok()?;
    let (start, size) = (symbol.address(), symbol.size());
    let bytes = match section.kind() {
        SectionKind::UninitializedData => vec![0; size as usize],
        _ => section.data().ok()?.get(start as usize..(start + size) as usize)?.to_vec(),
    };
    let mut contents = VariableContents { bytes, ..VariableContents::default() };
    for (place, relocation) in section.relocations() {
        if !(start..start + size).contains(&place) {
            continue;
        }
        let RelocationFlags::Elf { r_type: object::elf::R_X86_64_64 } = relocation.flags() else {
            return None;
        };
        let RelocationTarget::Symbol(target) = relocation.target() else { return None };
        if let Some(functions) = functions_of_table(&file, target, relocation.addend()) {
            contents.tables.insert(place - start, functions);
        }
        let (target, addend) = named(&file, target, relocation.addend())?;
        contents.addresses.push((place - start, target, addend));
    }
    contents.addresses.sort();
    Some(contents)
}

/// Returns the name of what lies at an address. An address in a section may be that of a variable that is not
/// visible outside, or of a string literal.
fn named(file: &ElfFile64<'_>, index: SymbolIndex, addend: i64) -> Option<(String, i64)> {
    let symbol = file.symbol_by_index(index).ok()?;
    if symbol.kind() != SymbolKind::Section {
        return Some((symbol.name().ok()?.to_owned(), addend));
    }
    let (section, place) = (symbol.section_index()?, u64::try_from(addend).ok()?);
    let around = file.symbols().find(|other| {
        other.kind() == SymbolKind::Data
            && other.section_index() == Some(section)
            && (other.address()..other.address() + other.size()).contains(&place)
    });
    if let Some(around) = around {
        return Some((around.name().ok()?.to_owned(), (place - around.address()) as i64));
    }
    let data = file.section_by_index(section).ok()?.data().ok()?;
    Some((string_name(data.get(place as usize..)?), 0))
}

/// Returns the functions in a table of virtual functions from an address on; `None` if it is no table of this file.
fn functions_of_table(file: &ElfFile64<'_>, index: SymbolIndex, addend: i64) -> Option<Vec<String>> {
    let table = file.symbol_by_index(index).ok()?;
    if !table.name().is_ok_and(|name| name.starts_with(FUNCTION_TABLE)) {
        return None;
    }
    let section = file.section_by_index(table.section_index()?).ok()?;
    let mut entries = BTreeMap::new();
    for (place, relocation) in section.relocations() {
        let RelocationTarget::Symbol(index) = relocation.target() else { continue };
        if (table.address()..table.address() + table.size()).contains(&place) {
            entries.insert(place - table.address(), file.symbol_by_index(index).ok()?.name().ok()?);
        }
    }
    functions_from(&entries, addend)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_functions_of_a_table_follow_the_address_up_to_a_gap() {
        let entries = BTreeMap::from([(16, "f"), (24, "g"), (48, "h")]);
        let from = |addend| functions_from(&entries, addend).unwrap_or_default();
        assert_eq!(
            (from(16), from(24), from(48)),
            (vec!["f".into(), "g".into()], vec!["g".into()], vec!["h".into()])
        );
        assert_eq!((from(8), from(-16)), (Vec::new(), Vec::new()));
    }

    #[test]
    fn a_table_is_that_of_the_base_where_the_functions_are_the_same() {
        let pointing = |symbol: &str, functions: &[&str]| VariableContents {
            bytes: vec![0; 8],
            addresses: vec![(0, symbol.to_owned(), 16)],
            tables: BTreeMap::from([(0, functions.iter().map(|&name| name.to_owned()).collect())]),
        };
        let base = pointing("_ZTV1B", &["f"]);
        assert!(base.agrees_with(&pointing("_ZTV1D", &["f"])));
        assert!(base.agrees_with(&pointing("_ZTV1B", &["another spelling of f"])));
        assert!(!base.agrees_with(&pointing("_ZTV1D", &["g"])));
        assert!(!base.agrees_with(&VariableContents { tables: BTreeMap::new(), ..pointing("_ZTV1D", &[]) }));
    }
}
