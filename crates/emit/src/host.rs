//! Compiles the same globals with the host's compilers. CUDA C++ has the same layout (CUDA C++ Programming Guide, "C++
//! language support"). A result counts only if g++ and clang agree on it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use object::read::elf::ElfFile64;
use object::{Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget, SectionKind};
use ptxsmith_subject::process::{self, Cancel, End, Invocation, Limits};

use crate::Error;
use crate::source::Global;
use crate::source::print::{HOST_PRELUDE, declaration, prelude};

/// The bytes of a variable, with zeros in place of addresses, and its addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The offset, the symbol and the addend of each address, sorted by offset.
    pub addresses: Vec<(u64, String, i64)>,
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

    /// Returns the contents of these globals on which all compilers agree. Omits a global that a compiler rejects, or on
    /// which they disagree.
    ///
    /// # Errors
    /// If this machine or our code fails.
    pub fn held(&self, globals: &[&Global]) -> Result<BTreeMap<u64, Held>, Error> {
        let mut all: Option<BTreeMap<u64, Held>> = None;
        for compiler in &self.compilers {
            let own = self.compiled(compiler, globals)?;
            all = Some(match all {
                None => own,
                Some(all) => all.into_iter().filter(|(number, held)| own.get(number) == Some(held)).collect(),
            });
        }
        Ok(all.unwrap_or_default())
    }

    /// Returns the contents of a source's variables on which all compilers agree, or the message of a compiler that
    /// rejects the source.
    ///
    /// # Errors
    /// If this machine or our code fails.
    pub fn variables(
        &self,
        source: &str,
        names: &[&str],
    ) -> Result<Result<BTreeMap<String, Held>, String>, Error> {
        let mut all: Option<BTreeMap<String, Held>> = None;
        for compiler in &self.compilers {
            let object =
                match self.object(compiler, &format!("{HOST_PRELUDE}#line 1 \"{UNIT}\"\n{source}"))? {
                    Ok(object) => object,
                    Err(said) => return Ok(Err(said)),
                };
            let own: BTreeMap<String, Held> =
                names.iter().filter_map(|name| Some(((*name).to_owned(), read(&object, name)?))).collect();
            all = Some(match all {
                None => own,
                Some(all) => all.into_iter().filter(|(name, held)| own.get(name) == Some(held)).collect(),
            });
        }
        Ok(Ok(all.unwrap_or_default()))
    }

    /// Compiles globals with one compiler, omitting those that it rejects.
    fn compiled(&self, compiler: &Path, globals: &[&Global]) -> Result<BTreeMap<u64, Held>, Error> {
        let mut left = globals.to_vec();
        while !left.is_empty() {
            let lines: Vec<String> = left.iter().map(|global| declaration(global) + "\n").collect();
            let text = format!("{HOST_PRELUDE}{}\n#line 1 \"{UNIT}\"\n{}", prelude(), lines.concat());
            let said = match self.object(compiler, &text)? {
                Ok(object) => {
                    let held = left.iter().filter_map(|global| {
                        Some((global.number, read(&object, &format!("g{}", global.number))?))
                    });
                    return Ok(held.collect());
                }
                Err(said) => said,
            };
            let refused = refused_lines(&said);
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
    fn object(&self, compiler: &Path, text: &str) -> Result<Result<Vec<u8>, String>, Error> {
        let directory = process::scratch(1 << 28).map_err(Error::Directory)?;
        let at = directory.path();
        fs::write(at.join(UNIT), text).map_err(Error::Directory)?;
        let options = ["-std=c++20", "-w", "-fno-pic", "-O0", "-c", "-o", "unit.o", UNIT];
        let invocation = Invocation {
            program: compiler.to_owned(),
            args: options.iter().map(Into::into).collect(),
            directory: Some(at.to_owned()),
            temporary: at.to_owned(),
        };
        let finished = process::run(&invocation, &self.limits, &self.cancel)?;
        match finished.end {
            End::Exited(0) => Ok(Ok(fs::read(at.join("unit.o")).map_err(Error::Directory)?)),
            _ => Ok(Err(finished.stderr.text().into_owned())),
        }
    }
}

/// The file name of the source.
const UNIT: &str = "unit.cc";

/// Returns the lines in which a host compiler reports errors.
fn refused_lines(said: &str) -> Vec<usize> {
    let line = |text: &str| {
        let rest = text.strip_prefix("unit.cc:")?;
        rest.contains("error: ").then(|| rest.split(':').next()?.parse().ok())?
    };
    said.lines().filter_map(line).collect()
}

/// Returns the contents of a variable in an object file.
pub fn read(data: &[u8], name: &str) -> Option<Held> {
    let file: ElfFile64<'_> = ElfFile64::<'_, object::Endianness>::parse(data).ok()?;
    let symbol = file.symbols().find(|symbol| symbol.name() == Ok(name))?;
    let section = file.section_by_index(symbol.section_index()?).ok()?;
    let (start, size) = (symbol.address(), symbol.size());
    let bytes = match section.kind() {
        SectionKind::UninitializedData => vec![0; size as usize],
        _ => section.data().ok()?.get(start as usize..(start + size) as usize)?.to_vec(),
    };
    let mut held = Held { bytes, addresses: Vec::new() };
    for (place, relocation) in section.relocations() {
        if !(start..start + size).contains(&place) {
            continue;
        }
        let RelocationFlags::Elf { r_type: object::elf::R_X86_64_64 } = relocation.flags() else {
            return None;
        };
        let RelocationTarget::Symbol(target) = relocation.target() else { return None };
        let target = file.symbol_by_index(target).ok()?.name().ok()?.to_owned();
        held.addresses.push((place - start, target, relocation.addend()));
    }
    held.addresses.sort();
    Some(held)
}
