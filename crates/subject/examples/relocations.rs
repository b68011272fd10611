//! Measures how each installed release of ptxas encodes each kind of address, and writes the table of
//! `docs/reference/relocations.md` to standard output. `cargo xtask relocations` installs what it needs and
//! puts the table there.
//!
//! The relocations are read here as they stand in the file, so that the table does not depend on our reader
//! of cubins. That our reader takes each of these cubins is checked on the way: one that it does not take
//! fails the run.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use object::LittleEndian as LE;
use object::elf::FileHeader64;
use object::read::elf::{FileHeader, SectionHeader};
use ptxsmith_subject::toolchain::Toolchains;
use ptxsmith_subject::toolchain::max_ptx;
use ptxsmith_subject::{Cancel, Limits, OutputForm, Ptxas, Request, Subject, cubin};

/// What the rows refer to; each row declares `x`.
const COMMON: &str = ".visible .global .align 16 .u32 g = 5;
.weak .global .u32 w = 3;
.common .global .u32 com[4];
.global .attribute(.managed) .u32 man = 7;
.const .u32 c[4] = {7, 8, 9, 10};
.visible .func f() { ret; }
.visible .entry kern() { ret; }
";

/// Kind of address, and the statements that hold it.
const ROWS: [(&str, &str); 36] = [
    ("`g`", ".visible .global .u64 x = g;"),
    ("`g+8`", ".visible .global .u64 x = g+8;"),
    ("`g+-8`", ".visible .global .u64 x = g+-8;"),
    ("`generic(g)`", ".visible .global .u64 x = generic(g);"),
    ("`generic(g)+8`", ".visible .global .u64 x = generic(g)+8;"),
    ("a `.weak` variable", ".visible .global .u64 x = w;"),
    ("a `.common` variable", ".visible .global .u64 x = com;"),
    ("an `.extern` variable", ".extern .global .u32 ext; .visible .global .u64 x = ext;"),
    ("a `.managed` variable", ".visible .global .u64 x = man;"),
    (
        "a `.unified` variable",
        ".global .attribute(.unified(19, 95)) .u32 u = 1; .visible .global .u64 x = u;",
    ),
    ("`c`", ".visible .global .u64 x = c;"),
    ("`c+4`", ".visible .global .u64 x = c+4;"),
    ("`generic(c)`", ".visible .global .u64 x = generic(c);"),
    ("`generic(c)+4`", ".visible .global .u64 x = generic(c)+4;"),
    (
        "`generic` of an `.extern .const` variable",
        ".extern .const .u32 ec; .visible .global .u64 x = generic(ec);",
    ),
    ("a device function", ".visible .global .u64 x = f;"),
    ("an `.extern` device function", ".extern .func ef(); .visible .global .u64 x = ef;"),
    (
        "a `.unified` device function",
        ".visible .func .attribute(.unified(19, 95)) uf() { ret; } .visible .global .u64 x = uf;",
    ),
    ("a kernel", ".visible .global .u64 x = kern;"),
    ("itself: `x+8`", ".visible .global .u64 x = x+8;"),
    ("in a `.const`: `g`", ".visible .const .u64 x = g;"),
    ("in a `.const`: `generic(c)+4`", ".visible .const .u64 x = generic(c)+4;"),
    ("in a `.const`: `c+4`", ".visible .const .u64 x = c+4;"),
    ("in a `.const`: a kernel", ".visible .const .u64 x = kern;"),
    ("in a `.u32`: `{g, 0}`", ".visible .global .u32 x[2] = {g, 0};"),
    ("in a `.u32`: `{g, 5}`", ".visible .global .u32 x[2] = {g, 5};"),
    ("in a `.u32`, last of all: `{g, g}`", ".visible .const .u32 x[2] = {g, g};"),
    ("in a `.u32`: `{c+4, 0}`", ".visible .global .u32 x[2] = {c+4, 0};"),
    ("in a `.u32`: a device function", ".visible .global .u32 x[2] = {f, 0};"),
    ("in a `.u32`: a kernel", ".visible .global .u32 x[2] = {kern, 0};"),
    ("masks of `g`", "(g)"),
    ("masks of `g+260`", "(g+260)"),
    ("masks of `generic(c)+260`", "(generic(c)+260)"),
    ("masks of `c+260`", "(c+260)"),
    ("masks of a device function", "(f)"),
    ("masks of a kernel", "(kern)"),
];

const TARGETS: [&str; 6] = ["sm_50", "sm_75", "sm_80", "sm_90", "sm_100", "sm_120"];

fn statements(row: &str) -> String {
    if !row.starts_with('(') {
        return row.to_owned();
    }
    let lanes: Vec<String> = (0..8).map(|byte| format!("0xff{}{row}", "00".repeat(byte))).collect();
    format!(".visible .global .u8 x[8] = {{{}}};", lanes.join(", "))
}

fn main() -> ExitCode {
    match table() {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("relocations: {error}");
            ExitCode::FAILURE
        }
    }
}

/// One run of ptxas: which row, for which target, in which form of output.
struct Run {
    row: usize,
    release: usize,
    target: &'static str,
    form: OutputForm,
}

/// Where an encoding was seen: by target, the releases.
type Seen = BTreeMap<usize, Vec<usize>>;

fn table() -> Result<String, Box<dyn Error>> {
    let toolchains = Toolchains::for_user()?;
    let mut subjects = Vec::new();
    for listed in toolchains.list() {
        // The newest of each minor.
        if let (Some(path), true) = (listed.path, listed.release.name() == listed.release.minor()) {
            subjects.push(Ptxas::open(listed.release.name(), &path, Limits::default(), Cancel::new())?);
        }
    }
    if subjects.is_empty() {
        return Err("no release is installed: ptxsmith toolchain install 13.5".into());
    }
    let mut runs = Vec::new();
    for (release, subject) in subjects.iter().enumerate() {
        for row in 0..ROWS.len() {
            for target in TARGETS {
                if subject.description().targets.iter().any(|known| known == target) {
                    let forms = [OutputForm::Executable, OutputForm::Relocatable];
                    runs.extend(forms.map(|form| Run { row, release, target, form }));
                }
            }
        }
    }
    let (next, cells) =
        (AtomicUsize::new(0), Mutex::new(BTreeMap::<(usize, OutputForm, String), Seen>::new()));
    let work = || -> Result<(), String> {
        while let Some(run) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let subject = &subjects[run.release];
            let encoding = encoding(subject, run)?;
            let target = TARGETS.iter().position(|target| *target == run.target).unwrap_or_default();
            let mut cells = cells.lock().map_err(|error| error.to_string())?;
            let seen = cells.entry((run.row, run.form, encoding)).or_default();
            seen.entry(target).or_default().push(run.release);
        }
        Ok(())
    };
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| -> Result<(), String> {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| "a thread panicked")?)
    })?;

    let names: Vec<&str> = subjects.iter().map(|subject| subject.id()).collect();
    let mut text = format!(
        "Measured with ptxas {}; {} programs assembled.\n\n\
         | address | output | encoding | by target and release |\n| --- | --- | --- | --- |\n",
        names.join(", "),
        runs.len()
    );
    let cells = cells.into_inner()?;
    let mut lines: BTreeMap<(usize, String, String), Vec<&str>> = BTreeMap::new();
    for ((row, form, encoding), seen) in cells {
        let output = if form == OutputForm::Relocatable { "relocatable" } else { "executable" };
        lines.entry((row, encoding, places(seen, &names))).or_default().push(output);
    }
    let mut previous = None;
    for ((row, encoding, places), outputs) in lines {
        let kind = if previous == Some(row) { "" } else { ROWS[row].0 };
        previous = Some(row);
        let output = if outputs.len() == 2 { "both" } else { outputs[0] };
        writeln!(text, "| {kind} | {output} | {encoding} | {places} |")?;
    }
    Ok(text)
}

/// `sm_75, sm_80: 11.7–13.5; sm_90: 12.0`.
fn places(seen: Seen, names: &[&str]) -> String {
    let mut by_releases: Vec<(String, Vec<&str>)> = Vec::new();
    for (target, mut releases) in seen {
        releases.sort_unstable();
        let mut ranges: Vec<(usize, usize)> = Vec::new();
        for release in releases {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == release => *last = release,
                _ => ranges.push((release, release)),
            }
        }
        let shown = ranges.iter().map(|&(first, last)| match first == last {
            true => names[first].to_owned(),
            false => format!("{}–{}", names[first], names[last]),
        });
        let shown = shown.collect::<Vec<_>>().join(", ");
        match by_releases.iter_mut().find(|(releases, _)| *releases == shown) {
            Some((_, targets)) => targets.push(TARGETS[target]),
            None => by_releases.push((shown, vec![TARGETS[target]])),
        }
    }
    let parts: Vec<String> =
        by_releases.iter().map(|(releases, targets)| format!("{}: {releases}", targets.join(", "))).collect();
    parts.join("; ")
}

/// How `x` holds its addresses.
fn encoding(subject: &Ptxas, run: &Run) -> Result<String, String> {
    let first = assemble(subject, run)?;
    // Below eight bytes ptxas may look past the end of what it has, and see something else the next time.
    let look_again = matches!(&first, Encoding::Relocations(all) if all.iter().any(|(_, _, addend)| addend.unsigned_abs() > 260));
    let second = if look_again { assemble(subject, run)? } else { first.clone() };
    Ok(match (first, second) {
        (Encoding::Other(text), _) => text,
        (Encoding::Relocations(first), Encoding::Relocations(second)) => {
            let shown = first.iter().zip(&second).map(|(a, b)| match a == b {
                true => shown(*a),
                false => format!("{} + another addend in each run", shown((a.0, a.1, 0))),
            });
            let shown: Vec<String> = shown.collect();
            // The eight lanes of one family: the first and the last tell them.
            match first[..] {
                [(from, form, addend), .., to]
                    if first.len() == 8
                        && (from..).zip(&first).all(|(r_type, lane)| *lane == (r_type, form, addend))
                        && name(to.0).ends_with("8_56") =>
                {
                    format!("{} … {}", shown[0], shown[7])
                }
                _ => shown.join(", "),
            }
        }
        (Encoding::Relocations(_), Encoding::Other(text)) => return Err(format!("the second time: {text}")),
    })
}

/// Type, REL or RELA, and addend.
type Relocation = (u32, &'static str, i64);

/// What became of the addresses of `x`.
#[derive(Clone)]
enum Encoding {
    /// Sorted.
    Relocations(Vec<Relocation>),
    /// A refusal, or bytes.
    Other(String),
}

fn assemble(subject: &Ptxas, run: &Run) -> Result<Encoding, String> {
    let version = subject.description().version.as_deref().and_then(max_ptx).unwrap_or("7.8");
    let statements = statements(ROWS[run.row].1);
    let ptx = format!(".version {version}\n.target {}\n.address_size 64\n{COMMON}{statements}\n", run.target);
    let failed =
        |error: &dyn Error| format!("{} for {} cannot be read: {error}\n{ptx}", subject.id(), run.target);
    let (finished, bytes) = subject
        .assemble(&Request::new(&ptx, run.target).in_form(run.form))
        .map_err(|error| failed(&error))?;
    let Some(bytes) = bytes else {
        let stderr = finished.stderr.text();
        let first = stderr.lines().next().unwrap_or("without a word");
        let message = first.split_once(':').map_or(first, |(_, message)| message).trim();
        return Ok(Encoding::Other(format!("refused: {message}")));
    };
    let variables = cubin::read(&bytes).map_err(|error| failed(&error))?;
    let x = variables.get("x").ok_or("no x")?;
    let relocations = relocations_of_user_data(&bytes).map_err(|error| failed(&*error))?;
    // What our reader tells must be as many: no other variable holds an address.
    if x.addresses.as_ref().map(Vec::len) != Some(relocations.len()) {
        return Err(format!("{} for {}: {x:?}\n{ptx}", subject.id(), run.target));
    }
    if !relocations.is_empty() {
        return Ok(Encoding::Relocations(relocations));
    }
    let bytes = x.bytes.iter().flatten().map(|byte| format!("{byte:02x}")).collect::<String>();
    Ok(Encoding::Other(format!("no relocation, bytes `{bytes}`")))
}

/// The relocations in the initial values of variables.
fn relocations_of_user_data(cubin: &[u8]) -> Result<Vec<Relocation>, Box<dyn Error>> {
    let header = FileHeader64::<LE>::parse(cubin)?;
    let sections = header.sections(LE, cubin)?;
    let mut found = Vec::new();
    for section in sections.iter() {
        let of = sections.section(object::SectionIndex(section.sh_info(LE) as usize));
        let of = of.and_then(|of| sections.section_name(LE, of)).unwrap_or_default();
        if ![&b".nv.global.init"[..], b".nv.constant3", b".nv.udt"].contains(&of) {
            continue;
        }
        for rel in section.rel(LE, cubin)?.map_or(&[][..], |(rels, _)| rels) {
            found.push((rel.r_info.get(LE) as u32, "REL", 0));
        }
        for rela in section.rela(LE, cubin)?.map_or(&[][..], |(relas, _)| relas) {
            found.push((rela.r_info.get(LE) as u32, "RELA", rela.r_addend.get(LE)));
        }
    }
    found.sort_unstable_by_key(|(r_type, form, addend)| (*r_type, *form, addend.unsigned_abs()));
    Ok(found)
}

/// `R_CUDA_G64` RELA +8
fn shown((r_type, form, addend): (u32, &str, i64)) -> String {
    match addend {
        0 => format!("`{}` {form}", name(r_type)),
        addend => format!("`{}` {form} {addend:+}", name(r_type)),
    }
}

/// NVIDIA's name of a relocation type, as its `cuobjdump` prints it.
fn name(r_type: u32) -> String {
    let family = |first: u32, name: &str| format!("R_CUDA_{name}8_{}", 8 * (r_type - first));
    match r_type {
        1 => "R_CUDA_32".to_owned(),
        2 => "R_CUDA_64".to_owned(),
        4 => "R_CUDA_G64".to_owned(),
        35 => "R_CUDA_FUNC_DESC_64".to_owned(),
        76..=83 => family(76, ""),
        84..=91 => family(84, "G"),
        92..=99 => family(92, "FUNC_DESC_"),
        102 => "R_CUDA_UNIFIED".to_owned(),
        104..=111 => family(104, "UNIFIED_"),
        other => format!("type {other}"),
    }
}
