//! `check-emitters`: prints the globals of corpus/emitters/*.ll as PTX with LLVM's NVPTX back end, and compares three
//! answers for each: the IR's data layout (bytes and relocations of the same global in an object file of LLVM's x86-64
//! back end, which shares the layout code but not the printing code), the specification's expectation for the PTX
//! (`ptxsmith eval`), and the output of ptxas.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use object::read::elf::ElfFile64;
use object::{Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget, SectionKind};
use serde_json::{Value, json};

use crate::tools::{self, MEASURED, NOT_TESTED, command, list, text};

const PAGE: &str = "docs/reference/emitters.md";
const NVPTX: &str = "target triple = \"nvptx64-nvidia-cuda\"\n\
    target datalayout = \"e-i64:64-i128:128-v16:16-v32:32-n16:32:64\"\n";
const X86: &str = "target triple = \"x86_64-unknown-linux-gnu\"\n";
const AGREE: &str = "IR = oracle = ptxas";

/// What is checked, and with which LLVMs.
#[derive(clap::Args)]
pub struct Arguments {
    /// Put the table into docs/reference/emitters.md instead of comparing it
    #[arg(long)]
    write: bool,
    /// Write the answers of IR and specification there, as a campaign for `ptxsmith atlas`; no ptxas is asked
    #[arg(long, value_name = "DIR", value_parser = tools::path)]
    report: Option<PathBuf>,
    /// Which of Debian's LLVMs
    #[arg(long, value_delimiter = ' ', default_value = "14 19")]
    llvm: Vec<u32>,
}

pub fn run(arguments: &Arguments) -> Result<u8> {
    let lacks = |version: &&u32| which::which(format!("llc-{version}")).is_err();
    let missing: Vec<String> =
        arguments.llvm.iter().filter(lacks).map(|version| format!("llvm-{version}")).collect();
    if !tools::debian(&missing) {
        eprintln!("NOT TESTED: {} cannot be installed", missing.join(", "));
        return Ok(NOT_TESTED);
    }
    let ptxsmith = tools::ptxsmith(false)?;
    if let Some(folder) = &arguments.report {
        return report(&ptxsmith, &arguments.llvm, folder).map(|()| 0);
    }
    tools::said(&mut command(&ptxsmith, ["toolchain", "install", "13.5"]))?;
    let observe =
        tools::built(false, &["-p", "ptxsmith-subject", "--example", "observe"])?.join("examples/observe");
    let (mut lines, mut columns) = (String::new(), Vec::new());
    for &version in &arguments.llvm {
        let verdicts = check(&ptxsmith, &observe, version)?;
        let agree = verdicts.values().filter(|verdict| *verdict == AGREE).count();
        lines += &format!("LLVM {version}: {agree} of {} globals agree in all three.\n", verdicts.len());
        columns.push(verdicts);
    }
    let head: Vec<String> = ["file".to_owned(), "global".to_owned()]
        .into_iter()
        .chain(arguments.llvm.iter().map(|version| format!("LLVM {version}")))
        .collect();
    let row = |global: &Global| {
        let key = (global.file.clone(), global.name.clone());
        let verdict = |verdicts: &Verdicts| verdicts[&key].replace('|', "\\|");
        let cells = columns.iter().map(verdict);
        [global.file.clone(), format!("`{}`", global.name)].into_iter().chain(cells).collect()
    };
    let rows: Vec<Vec<String>> = globals()?.iter().map(row).collect();
    let table = format!("{lines}\n{}", tools::table(&head, &rows));
    let page = tools::rendered(Path::new(PAGE), MEASURED.0, MEASURED.1, &table)?;
    tools::write_or_check(Path::new(PAGE), &page, !arguments.write)
}

/// A global, with the IR that declares it, without header.
struct Global {
    file: String,
    name: String,
    ir: String,
}

impl Global {
    /// Returns true if the IR contains an undefined value. Any value is then correct, so that only sizes are compared.
    fn is_open(&self) -> bool {
        let line = self.ir.lines().last().unwrap_or_default();
        line.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == "undef" || word == "poison")
    }
}

fn globals() -> Result<Vec<Global>> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir("corpus/emitters")?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "ll"));
    paths.sort();
    let mut globals = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path)?;
        let parts = text.split_once("; shared\n").and_then(|(_, rest)| rest.split_once("; globals\n"));
        let (shared, own) = parts.with_context(|| format!("{} has no two parts", path.display()))?;
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for line in own.lines() {
            let name = line.split(' ').next().unwrap_or_default().trim_start_matches('@').to_owned();
            globals.push(Global { file: file.clone(), name, ir: format!("{shared}{line}\n") });
        }
    }
    Ok(globals)
}

fn llc(version: u32, ir: &Path, out: &Path, options: &[&str]) -> Result<std::result::Result<(), String>> {
    let old: &[&str] = if version < 15 { &["-opaque-pointers"] } else { &[] };
    let mut llc = command(format!("llc-{version}"), old);
    let done = tools::answer(llc.args(options).arg("-o").arg(out).arg(ir))?;
    let stderr = String::from_utf8_lossy(&done.stderr);
    let first = stderr.lines().map(str::trim).find(|line| !line.is_empty());
    let why = || first.map_or_else(|| format!("llc: status {}", tools::status(&done)), str::to_owned);
    Ok(if done.status.success() { Ok(()) } else { Err(why()) })
}

/// The contents of a global: its bytes, and its addresses as offset, symbol, addend and the included bytes of the
/// address (empty if all).
#[derive(Clone, PartialEq, Eq, Debug)]
struct Held {
    bytes: String,
    addresses: Vec<(i64, String, i64, Vec<u64>)>,
}

impl Held {
    /// Formats the contents for a table.
    fn shown(&self) -> String {
        let cut = self.bytes.len() > 48;
        let mut out = if cut { format!("{}…", &self.bytes[..44]) } else { self.bytes.clone() };
        for (offset, symbol, addend, bytes) in &self.addresses {
            out += &if *addend == 0 {
                format!(" [{offset}]={symbol}")
            } else {
                format!(" [{offset}]={symbol}{addend:+}")
            };
            if !bytes.is_empty() {
                out += &format!(" bytes {bytes:?}");
            }
        }
        format!("`{out}`")
    }

    /// Compares contents; for a global with undefined values, only the sizes and addresses.
    fn is(&self, other: &Held, is_open: bool) -> bool {
        let same = if is_open { self.bytes.len() == other.bytes.len() } else { self.bytes == other.bytes };
        same && self.addresses == other.addresses
    }
}

/// Reads the global from an object file of the x86-64 back end, or returns the reason for a failure.
fn from_object(version: u32, global: &Global, work: &Path) -> Result<std::result::Result<Held, String>> {
    let (source, made) = (work.join("x86.ll"), work.join("x86.o"));
    fs::write(&source, format!("{X86}{}", global.ir))?;
    if let Err(why) = llc(version, &source, &made, &["-filetype=obj", "-relocation-model=static"])? {
        return Ok(Err(why));
    }
    let data = fs::read(&made)?;
    let file: ElfFile64<'_> = ElfFile64::<'_, object::Endianness>::parse(&*data)?;
    held_in(&file, &global.name)
}

fn held_in(file: &ElfFile64<'_>, name: &str) -> Result<std::result::Result<Held, String>> {
    let own = file
        .symbols()
        .find(|symbol| symbol.name() == Ok(name))
        .with_context(|| format!("no symbol {name}"))?;
    let home = own.section_index().context("a symbol without a section")?;
    let section = file.section_by_index(home)?;
    let (start, size) = (own.address(), own.size());
    let bytes = match section.kind() {
        SectionKind::UninitializedData => vec![0; size as usize],
        _ => section.data()?[start as usize..(start + size) as usize].to_vec(),
    };
    let mut addresses = Vec::new();
    for (place, relocation) in section.relocations() {
        if !(start..start + size).contains(&place) {
            continue;
        }
        let RelocationFlags::Elf { r_type } = relocation.flags() else { bail!("a relocation of no ELF") };
        if r_type != object::elf::R_X86_64_64 {
            return Ok(Err(format!("relocation {r_type:?} is not R_X86_64_64")));
        }
        let RelocationTarget::Symbol(target) = relocation.target() else {
            bail!("a relocation without a symbol")
        };
        let target = file.symbol_by_index(target)?;
        let (mut symbol, mut addend) = (target.name()?.to_owned(), relocation.addend());
        if symbol.is_empty() {
            // The relocation refers to a section: find the last symbol at or before the addend.
            let before = file.symbols().filter(|other| {
                other.section_index() == target.section_index()
                    && other.name().is_ok_and(|name| !name.is_empty())
                    && other.address() as i64 <= addend
            });
            let nearest = before.max_by_key(|other| other.address()).context("an address of no symbol")?;
            symbol = nearest.name()?.to_owned();
            addend -= nearest.address() as i64;
        }
        addresses.push(((place - start) as i64, symbol, addend, Vec::new()));
    }
    addresses.sort();
    let bytes = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Ok(Held { bytes, addresses }))
}

/// An observation or expectation of one global.
enum Told {
    Holds(Held),
    /// The outcome and the reason.
    Other(String, String),
}

impl Told {
    fn of(observation: &Value, name: &str) -> Told {
        let outcome = text(observation, "outcome");
        if outcome != "accepted" {
            let refusal = &observation["refusal"];
            let first = text(&observation["diagnostics"][0], "message");
            let all = [text(refusal, "message"), text(refusal, "class"), text(observation, "reason"), first];
            let why = all.into_iter().find(|why| !why.is_empty()).unwrap_or_default();
            return Told::Other(outcome.to_owned(), why.to_owned());
        }
        let variable = &observation["variables"][name];
        match variable["bytes"].as_str() {
            Some(bytes) => {
                Told::Holds(Held { bytes: bytes.to_owned(), addresses: whole_addresses(variable) })
            }
            None => Told::Other("unobserved".to_owned(), String::new()),
        }
    }
}

/// Returns the addresses of a variable. Masked bytes of the same address are combined.
fn whole_addresses(variable: &Value) -> Vec<(i64, String, i64, Vec<u64>)> {
    let (mut found, mut lanes) = (Vec::new(), BTreeMap::<_, Vec<u64>>::new());
    for address in list(&variable["addresses"]) {
        let number = |key: &str| address[key].as_i64().unwrap_or_default();
        let (symbol, addend) = (text(address, "symbol").to_owned(), number("addend"));
        match address["byte"].as_u64() {
            None => found.push((number("offset"), symbol, addend, Vec::new())),
            Some(byte) => {
                lanes.entry((number("offset") - byte as i64, symbol, addend)).or_default().push(byte)
            }
        }
    }
    for ((offset, symbol, addend), mut bytes) in lanes {
        bytes.sort_unstable();
        let is_whole = bytes.iter().copied().eq(0..8);
        found.push((offset, symbol, addend, if is_whole { Vec::new() } else { bytes }));
    }
    found.sort();
    found
}

/// A global with its PTX and both predictions, or the reason why LLVM does not print it.
struct Emitted {
    global: Global,
    printed: std::result::Result<Printed, String>,
}

struct Printed {
    path: PathBuf,
    ir: std::result::Result<Held, String>,
    oracle: Value,
}

fn emit_all(ptxsmith: &Path, version: u32, work: &Path) -> Result<Vec<Emitted>> {
    let globals = globals()?;
    let printed = tools::on_all_cores(&globals, |global| {
        // Use a separate folder, because llc deletes the output file when it fails.
        let own = work.join(format!("{version}-{}", global.name));
        fs::create_dir_all(&own)?;
        let (source, path) = (own.join("nvptx.ll"), work.join(format!("{version}-{}.ptx", global.name)));
        fs::write(&source, format!("{NVPTX}{}", global.ir))?;
        if let Err(why) = llc(version, &source, &path, &["-march=nvptx64", "-mcpu=sm_80", "-mattr=+ptx75"])? {
            return Ok(Err(format!("LLVM fails: {why}")));
        }
        let told = tools::answer(command(ptxsmith, ["eval", "--json"]).arg(&path))?;
        let unread = || json!({"outcome": "refused", "reason": "it does not parse"});
        let oracle = serde_json::from_slice(&told.stdout).unwrap_or_else(|_| unread());
        Ok(Ok(Printed { path, ir: from_object(version, global, &own)?, oracle }))
    });
    let printed: Vec<_> = printed.into_iter().collect::<Result<_>>()?;
    Ok(globals.into_iter().zip(printed).map(|(global, printed)| Emitted { global, printed }).collect())
}

/// The verdicts by file and global.
type Verdicts = BTreeMap<(String, String), String>;

fn check(ptxsmith: &Path, observe: &Path, version: u32) -> Result<Verdicts> {
    let work = tempfile::tempdir()?;
    let emitted = emit_all(ptxsmith, version, work.path())?;
    let files: Vec<&PathBuf> =
        emitted.iter().filter_map(|one| Some(&one.printed.as_ref().ok()?.path)).collect();
    let seen = tools::said(command(observe, ["ptxas@13.5", "--relocatable"]).args(&files))?;
    let mut judge_all = command(ptxsmith, ["check", "--subject", "ptxas@13.5", "--out"]);
    let judged = tools::answer(judge_all.arg(work.path().join("check")).args(&files))?;
    if !matches!(tools::status(&judged), 0 | 1) {
        bail!("ptxsmith check: {}", String::from_utf8_lossy(&judged.stderr));
    }
    eprintln!("LLVM {version}: ptxsmith check says:\n{}", String::from_utf8_lossy(&judged.stdout));
    let mut observations = seen.lines().map(serde_json::from_str::<Value>);
    let mut verdicts = Verdicts::new();
    for Emitted { global, printed } in emitted {
        let verdict = match printed {
            Err(why) => why,
            Ok(Printed { ir, oracle, .. }) => {
                let seen = observations.next().context("an observation is missing")??;
                verdict(
                    &ir,
                    &Told::of(&oracle, &global.name),
                    &Told::of(&seen, &global.name),
                    global.is_open(),
                )
            }
        };
        verdicts.insert((global.file, global.name), verdict);
    }
    Ok(verdicts)
}

fn verdict(ir: &std::result::Result<Held, String>, oracle: &Told, ptxas: &Told, is_open: bool) -> String {
    let ir = match ir {
        Ok(ir) => ir,
        Err(why) => return format!("no IR prediction: {why}"),
    };
    let oracle = match oracle {
        Told::Holds(oracle) => oracle,
        Told::Other(outcome, why) => {
            let breaks = if outcome == "refused" { "breaks the specification" } else { "is not modelled" };
            let ptxas = match ptxas {
                Told::Holds(held) => format!("ptxas takes it as {}, IR {}", held.shown(), ir.shown()),
                Told::Other(..) => "ptxas refuses it".to_owned(),
            };
            return format!("the PTX {breaks} ({why}); {ptxas}");
        }
    };
    let ptxas = match ptxas {
        Told::Holds(ptxas) => ptxas,
        Told::Other(outcome, why) => return format!("ptxas parts: {outcome}, {why}"),
    };
    let zeros = |held: &Held| held.bytes.trim_end_matches('0').to_owned();
    let shown = (ir.shown(), oracle.shown(), ptxas.shown());
    match (ir.is(oracle, is_open), oracle == ptxas) {
        (true, true) => AGREE.to_owned(),
        (false, true) if ir.addresses == ptxas.addresses && zeros(ir) == zeros(ptxas) => {
            let [of_ir, of_ptxas] = [ir, ptxas].map(|held| held.bytes.len() / 2);
            format!("LLVM differs in size: {of_ir} bytes in the IR, {of_ptxas} for oracle = ptxas")
        }
        (false, true) => format!("LLVM differs: IR {}, oracle = ptxas {}", shown.0, shown.2),
        (true, false) => format!("ptxas parts: IR = oracle {}, ptxas {}", shown.0, shown.2),
        (false, false) => format!("all part: IR {}, oracle {}, ptxas {}", shown.0, shown.1, shown.2),
    }
}

/// Returns the clauses that determine the expectation for a global.
fn clauses_of(oracle: &Value, name: &str) -> Vec<String> {
    let refused = text(oracle, "outcome") == "refused";
    let clauses = if refused { &oracle["refusal"]["clauses"] } else { &oracle["variables"][name]["clauses"] };
    list(clauses).iter().filter_map(|clause| clause.as_str().map(str::to_owned)).collect()
}

/// Writes a campaign that compares the IR with the expectation for the PTX. A version of LLVM deviates if its PTX has
/// contents other than the IR, or is rejected.
pub fn report(ptxsmith: &Path, versions: &[u32], folder: &Path) -> Result<()> {
    let (mut subjects, mut cases, mut findings) = (Vec::new(), Vec::new(), BTreeMap::<String, Value>::new());
    let mut all = (0, 0);
    for (nth, &version) in versions.iter().enumerate() {
        let work = tempfile::tempdir()?;
        let (mut compared, mut conform, mut unsupported) = (0, 0, 0);
        let mut by_clause = BTreeMap::<String, [u64; 2]>::new();
        for Emitted { global, printed } in emit_all(ptxsmith, version, work.path())? {
            let (program, standing) = match &printed {
                Err(why) => (format!("// {why}\n"), "u"),
                Ok(Printed { path, ir, oracle }) => {
                    let told = Told::of(oracle, &global.name);
                    let refused = matches!(&told, Told::Other(outcome, _) if outcome == "refused");
                    let program = fs::read_to_string(path)?;
                    match (ir, &told) {
                        (Ok(ir), Told::Holds(held)) if ir.is(held, global.is_open()) => (program, "c"),
                        (Ok(ir), told) if refused || matches!(told, Told::Holds(_)) => {
                            let found = || finding(&global, ir, oracle, &program, refused);
                            let entry = findings.entry(id_of(&global)).or_insert_with(found);
                            entry["count"] = (entry["count"].as_u64().unwrap_or_default() + 1).into();
                            if let Some(subjects) = entry["subjects"].as_array_mut() {
                                subjects.push(format!("llvm@{version}").into());
                            }
                            (program, "d")
                        }
                        _ => (program, "n"),
                    }
                }
            };
            match (standing, &printed) {
                ("c" | "d", Ok(printed)) => {
                    compared += 1;
                    conform += u64::from(standing == "c");
                    let refused = text(&printed.oracle, "outcome") == "refused";
                    if standing == "c" || refused {
                        for clause in clauses_of(&printed.oracle, &global.name) {
                            by_clause.entry(clause).or_default()[usize::from(standing == "d")] += 1;
                        }
                    }
                }
                _ => unsupported += 1,
            }
            let of_all: String =
                (0..versions.len()).map(|at| if at == nth { standing } else { "n" }).collect();
            let name = format!("emitted/llvm-{version}/{}.ptx", global.name);
            cases.push(json!({"name": name, "program": program, "standings": of_all}));
        }
        all = (all.0 + compared, all.1 + conform);
        let told = tools::said(&mut command(format!("llc-{version}"), ["--version"]))?;
        let number = told.split_once("LLVM version ").and_then(|(_, rest)| rest.split_whitespace().next());
        let clauses: serde_json::Map<String, Value> = by_clause
            .into_iter()
            .map(|(clause, [conform, deviates])| {
                (clause, json!({"compared": conform + deviates, "conform": conform, "deviates": deviates}))
            })
            .collect();
        subjects.push(json!({
            "id": format!("llvm@{version}"), "version": number, "lineage": "llvm", "available": true, "compared": compared,
            "conform": conform, "clauses": clauses, "not_compared": {"unsupported": unsupported},
        }));
    }
    if all.0 == 0 {
        bail!("nothing was compared");
    }
    cases.sort_by_key(|case| text(case, "name").to_owned());
    let version = tools::said(&mut command(ptxsmith, ["--version"]))?;
    let version = version.split_whitespace().nth(1).unwrap_or_default();
    let made = json!({
        "schema": "ptxsmith.report/1", "ptxsmith": version, "command": "check-emitters", "complete": true, "subjects": subjects,
        "compared": all.0, "conform": all.1, "findings": findings.into_values().collect::<Vec<_>>(), "cases": cases,
    });
    let now = tools::now();
    let manifest = json!({
        "schema": "ptxsmith.manifest/1", "started": now, "ended": now, "command_line": ["cargo", "xtask", "check-emitters"],
    });
    fs::create_dir_all(folder)?;
    fs::write(folder.join("report.json"), serde_json::to_string_pretty(&made)? + "\n")?;
    fs::write(folder.join("manifest.json"), serde_json::to_string_pretty(&manifest)? + "\n")?;
    Ok(())
}

fn id_of(global: &Global) -> String {
    format!("llvm-{}", global.name.replace('_', "-"))
}

fn finding(global: &Global, ir: &Held, oracle: &Value, program: &str, refused: bool) -> Value {
    let what = match refused {
        true => "is printed as PTX that the specification refuses",
        false => "is printed with other contents",
    };
    let addresses: Vec<Value> = ir
        .addresses
        .iter()
        .map(|(offset, symbol, addend, _)| {
            json!({"offset": offset, "width": 8, "symbol": symbol, "addend": addend, "generic": false, "byte": null})
        })
        .collect();
    let clauses = if refused { clauses_of(oracle, &global.name) } else { Vec::new() };
    let meant = ir.shown();
    let variable = json!({
        "space": "global", "size": ir.bytes.len() / 2, "align": null, "bytes": ir.bytes, "addresses": addresses,
    });
    json!({
        "id": id_of(global), "status": "known", "class": "wrong-value", "subjects": [], "clauses": clauses, "count": 0,
        "program": program, "variable": global.name, "expected": oracle, "repeat": "cargo xtask check-emitters",
        "title": format!("the global {} of corpus/emitters/{} {what}: its IR means {}", global.name, global.file, meant.trim_matches('`')),
        "observed": {"schema": "ptxsmith.module/1", "outcome": "accepted", "diagnostics": [], "variables": {&*global.name: variable}},
    })
}
