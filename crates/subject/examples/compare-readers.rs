//! Makes the two readers of cubins read the same ones, and reports where they tell different things.
//!
//! ```text
//! compare-readers COUNT < MODULES
//! ```
//!
//! The modules on standard input (`ptxsmith gen`, a comment `// note: ` before each) are assembled with every
//! installed release in turn, for several targets, as executable and as relocatable output. Every other
//! module is one made here instead: addresses of every kind in every sort of variable, attributes and linking
//! directives included. It ends when COUNT cubins were compared. A module that a release refuses leaves no
//! cubin, and is only counted.
//!
//! Exit status 0: both told the same of each. 1: they did not; the module and both answers are printed.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::io::Read as _;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use ptxsmith_subject::cuobjdump::Cuobjdump;
use ptxsmith_subject::toolchain::max_ptx;
use ptxsmith_subject::toolchain::{Tool, ToolKind, Toolchains};
use ptxsmith_subject::{Cancel, Limits, OutputForm, Ptxas, Request, Subject, cubin};

/// cuobjdump lists no cubins for earlier ones.
const TARGETS: [&str; 6] = ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120", "sm_86"];

fn main() -> ExitCode {
    match compare() {
        Ok(disagreements) => ExitCode::from(u8::from(disagreements > 0)),
        Err(error) => {
            eprintln!("compare-readers: {error}");
            ExitCode::from(4)
        }
    }
}

/// What was counted so far.
#[derive(Default)]
struct Counts {
    by_release: BTreeMap<String, usize>,
    refused: usize,
    variables: usize,
    addresses: usize,
    disagreements: usize,
}

fn compare() -> Result<usize, Box<dyn Error>> {
    let count: usize = std::env::args().nth(1).ok_or("how many cubins?")?.parse()?;
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let modules: Vec<&str> = text.split("// note: ").filter(|module| module.contains(".version")).collect();
    if modules.is_empty() {
        return Err("no modules on standard input".into());
    }
    let toolchains = Toolchains::for_user()?;
    let tool = Tool::newest(ToolKind::Cuobjdump).and_then(|tool| toolchains.tool_path(tool));
    let tool = tool.ok_or("no cuobjdump is installed: ptxsmith toolchain install cuobjdump")?;
    let cuobjdump = Cuobjdump::new(tool, Cancel::new());
    let mut subjects = Vec::new();
    for listed in toolchains.list() {
        if let Some(path) = listed.path {
            subjects.push(Ptxas::open(listed.release.name(), &path, Limits::default(), Cancel::new())?);
        }
    }
    if subjects.len() < 5 {
        eprintln!("compare-readers: only {} releases are installed", subjects.len());
    }
    let (next, counts) = (AtomicUsize::new(0), Mutex::new(Counts::default()));
    let work = || -> Result<(), String> {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let compared: usize = counts.lock().map_err(|error| error.to_string())?.by_release.values().sum();
            if compared >= count || index > 100 * count.max(100) {
                return Ok(());
            }
            let subject = &subjects[index % subjects.len()];
            let round = index / subjects.len();
            let form = if round % 2 == 0 { OutputForm::Executable } else { OutputForm::Relocatable };
            let targets: Vec<&str> = (TARGETS.iter().copied())
                .filter(|target| subject.description().targets.iter().any(|known| known == target))
                .collect();
            let target = targets[round / 2 % targets.len()];
            let version = subject.description().version.as_deref().and_then(max_ptx).unwrap_or("7.7");
            let ptx = match index % 2 {
                0 => woven(index as u64, version, target),
                _ => with_target(modules[index / 2 % modules.len()], version, target),
            };
            let found = look(subject, &cuobjdump, Request::new(&ptx, target).in_form(form))?;
            let mut counts = counts.lock().map_err(|error| error.to_string())?;
            match found {
                None => counts.refused += 1,
                Some(found) => {
                    *counts.by_release.entry(subject.id().to_owned()).or_default() += 1;
                    counts.variables += found.variables;
                    counts.addresses += found.addresses;
                    if let Some(difference) = found.difference {
                        counts.disagreements += 1;
                        println!("{} for {target} of:\n{ptx}\n{difference}\n", subject.id());
                    }
                }
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| -> Result<(), String> {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| "a thread panicked")?)
    })?;
    let counts = counts.into_inner()?;
    let compared: usize = counts.by_release.values().sum();
    println!(
        "{compared} cubins of {} releases compared, {} variables and {} addresses in them; {} modules refused; \
         {} disagreements",
        counts.by_release.len(),
        counts.variables,
        counts.addresses,
        counts.refused,
        counts.disagreements
    );
    if compared < count {
        return Err(format!("only {compared} cubins came about").into());
    }
    Ok(counts.disagreements)
}

struct Found {
    variables: usize,
    addresses: usize,
    difference: Option<String>,
}

/// Assembles one module and compares what the readers tell; `None` for one that is refused.
fn look(subject: &Ptxas, cuobjdump: &Cuobjdump, request: Request<'_>) -> Result<Option<Found>, String> {
    let Request { ptx, target, .. } = request;
    let failed = |error: &dyn Error| format!("{} for {target}: {error}\n{ptx}", subject.id());
    let (_, cubin) = subject.assemble(&request).map_err(|error| failed(&error))?;
    let Some(cubin) = cubin else { return Ok(None) };
    let one = cubin::read(&cubin);
    let other = cuobjdump.read(&with_links_mended(cubin));
    let (variables, addresses, difference) = match (one, other) {
        (Ok(one), Ok(other)) => {
            let addresses =
                one.values().filter_map(|variable| variable.addresses.as_ref()).map(Vec::len).sum();
            let mut difference = String::new();
            for name in one.keys().chain(other.keys()) {
                if one.get(name) != other.get(name) && difference.len() < 2000 {
                    let (one, other) = (one.get(name), other.get(name));
                    let _ = writeln!(difference, "{name}:\n  cubin:     {one:?}\n  cuobjdump: {other:?}");
                }
            }
            (one.len(), addresses, (!difference.is_empty()).then_some(difference))
        }
        (one, other) => {
            let one = one.map_or_else(|error| error.to_string(), |_| "read".to_owned());
            let other = other.map_or_else(|error| error.to_string(), |_| "read".to_owned());
            (0, 0, Some(format!("  cubin:     {one}\n  cuobjdump: {other}")))
        }
    };
    Ok(Some(Found { variables, addresses, difference }))
}

/// The same cubin with links between sections that mean something.
///
/// In executable output of 12.0, 12.1 and 12.2 sections name another section than the symbol table as theirs:
/// the one that was there before something in between was left out. Our reader needs no other tool; cuobjdump
/// refuses such a file.
fn with_links_mended(mut cubin: Vec<u8>) -> Vec<u8> {
    const SYMTAB: u32 = 2;
    fn number<const N: usize>(bytes: &[u8], at: usize) -> u64 {
        (0..N).fold(0, |sum, byte| sum | u64::from(bytes.get(at + byte).copied().unwrap_or(0)) << (8 * byte))
    }
    let (headers, count) = (number::<8>(&cubin, 40) as usize, number::<2>(&cubin, 60) as usize);
    let kind = |cubin: &[u8], section: usize| number::<4>(cubin, headers + 64 * section + 4) as u32;
    let Some(table) = (0..count).find(|section| kind(&cubin, *section) == SYMTAB) else { return cubin };
    for section in 0..count {
        let at = headers + 64 * section + 40;
        let link = number::<4>(&cubin, at) as usize;
        if link != 0 && kind(&cubin, section) != SYMTAB && link < count && kind(&cubin, link) != SYMTAB {
            cubin[at..at + 4].copy_from_slice(&(table as u32).to_le_bytes());
        }
    }
    cubin
}

/// The module with another header.
fn with_target(module: &str, version: &str, target: &str) -> String {
    let lines = module.lines().skip(1).map(|line| match line.split_whitespace().next() {
        Some(".version") => format!(".version {version}\n"),
        Some(".target") => format!(".target {target}\n"),
        _ => format!("{line}\n"),
    });
    lines.collect()
}

/// A module of variables that hold numbers and addresses, the same for the same index.
fn woven(index: u64, version: &str, target: &str) -> String {
    let mut state = index;
    let mut below = move |bound: u64| {
        // SplitMix64
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    };
    let unified = target != "sm_75" && target != "sm_80" && target != "sm_86" && !version.starts_with("7.");
    let mut text = format!(".version {version}\n.target {target}\n.address_size 64\n");
    text += ".visible .func f() { ret; }\n.weak .func wf() { ret; }\n.visible .entry kern() { ret; }\n";
    text += ".const .align 8 .u8 c[40] = {1, 2, 3};\n.extern .global .u32 ext;\n";
    // Only some modules have what executable output cannot hold.
    let unified = unified && below(3) == 0;
    let mut variables = vec!["c".to_owned(), "ext".to_owned()];
    for number in 0..2 + below(12) {
        let name = format!("v{number}");
        let linking = ["", ".visible ", ".weak ", ".common "][below(4) as usize];
        let attribute = match below(8) {
            0 => ".attribute(.managed) ",
            1 if unified => ".attribute(.unified(7, 9)) ",
            _ => "",
        };
        let constant = below(4) == 0;
        let (linking, attribute) = match (constant, linking) {
            (true, ".common ") => ("", ""),
            (true, linking) => (linking, ""),
            (false, ".common ") => (".common ", ""),
            (false, linking) => (linking, attribute),
        };
        let space = if constant { ".const" } else { ".global" };
        let align = ["", ".align 16 ", ".align 64 ", ""][below(4) as usize];
        let length = 1 + below(6);
        let mut address = |masked: bool| {
            let of = &variables[below(variables.len() as u64) as usize];
            let offset = ["", "+4", "+260", "+-8", "+65536"][below(5) as usize];
            match below(8) {
                0 => "f".to_owned(),
                1 => "kern".to_owned(),
                2 => "wf".to_owned(),
                3 if !masked => below(1 << 20).to_string(),
                4 | 5 => format!("generic({of}){offset}"),
                _ => format!("{of}{offset}"),
            }
        };
        let (ty, values): (&str, Vec<String>) = match number % 3 {
            0 => (".u64", (0..length).map(|_| address(false)).collect()),
            1 => (".u32", (0..length).map(|_| address(false)).collect()),
            _ => {
                let lane = |byte: u64| format!("0xff{}", "00".repeat(byte as usize));
                (".u8", (0..length).map(|byte| format!("{}({})", lane(byte), address(true))).collect())
            }
        };
        let values = if linking == ".common " || index % 7 == number {
            String::new()
        } else {
            format!(" = {{{}}}", values.join(", "))
        };
        // Some room behind the values, not always a multiple of a word.
        let room = length + number % 4;
        let _ = writeln!(text, "{linking}{space} {attribute}{align}{ty} {name}[{room}]{values};");
        variables.push(name);
    }
    text +=
        ".visible .entry user() { .shared .u32 s[3]; .global .u32 inner = 4; st.shared.u32 [s], 1; ret; }\n";
    text
}
