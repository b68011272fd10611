//! `check-emitters`: prints the globals of corpus/emitters/*.ll as PTX with LLVM's NVPTX back end, and
//! compares three answers for each: the IR's data layout (bytes and relocations of the same global in an
//! object file of LLVM's x86-64 back end, which shares the layout code but not the printing code), the
//! specification's expectation for the PTX (`ptxsmith eval`), and the output of ptxas.

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

/// The versions of LLVM, and the output.
#[derive(clap::Args)]
pub struct EmittersArguments {
    /// Put the table into docs/reference/emitters.md instead of comparing it
    #[arg(long)]
    write: bool,
    /// Write the answers of IR and specification to a folder, as a campaign for `ptxsmith atlas`; needs no
    /// ptxas
    #[arg(long, value_name = "DIR", value_parser = tools::path)]
    report: Option<PathBuf>,
    /// The versions of Debian's LLVM
    #[arg(long, value_delimiter = ' ', default_value = "14 19")]
    llvm: Vec<u32>,
}

pub fn run(arguments: &EmittersArguments) -> Result<u8> {
    let versions = arguments.llvm.iter();
    let missing = versions.filter(|version| which::which(format!("llc-{version}")).is_err());
    let missing: Vec<String> = missing.map(|version| format!("llvm-{version}")).collect();
    if !tools::install_debian(&missing) {
        eprintln!("NOT TESTED: {} cannot be installed", missing.join(", "));
        return Ok(NOT_TESTED);
    }
    let ptxsmith = tools::ptxsmith(false)?;
    if let Some(folder) = &arguments.report {
        return report(&ptxsmith, &arguments.llvm, folder).map(|()| 0);
    }
    tools::stdout_of(&mut command(&ptxsmith, ["toolchain", "install", "13.5"]))?;
    let observe =
        tools::build(false, &["-p", "ptxsmith-subject", "--example", "observe"])?.join("examples/observe");
    let mut lines = String::new();
    let mut columns = Vec::new();
    for &version in &arguments.llvm {
        let verdicts = check(&ptxsmith, &observe, version)?;
        let agree = verdicts.values().filter(|verdict| *verdict == AGREE).count();
        lines += &format!("LLVM {version}: {agree} of {} globals agree in all three.\n", verdicts.len());
        columns.push(verdicts);
    }
    let mut head = vec!["file".to_owned(), "global".to_owned()];
    head.extend(arguments.llvm.iter().map(|version| format!("LLVM {version}")));
    let mut rows = Vec::new();
    for IrGlobal { file, name, .. } in globals()? {
        let mut row = vec![file.clone(), format!("`{name}`")];
        let key = (file, name);
        row.extend(columns.iter().map(|verdicts: &Verdicts| verdicts[&key].replace('|', "\\|")));
        rows.push(row);
    }
    let table = format!("{lines}\n{}", tools::table(&head, &rows));
    let page = tools::rendered(Path::new(PAGE), MEASURED.0, MEASURED.1, &table)?;
    tools::write_or_check(Path::new(PAGE), &page, !arguments.write)
}

/// A global, with the IR that declares it, without header.
struct IrGlobal {
    file: String,
    name: String,
    ir: String,
}

impl IrGlobal {
    /// Returns true if the IR contains an undefined value. Any value is then correct, so that only sizes are
    /// compared.
    fn is_open(&self) -> bool {
        let line = self.ir.lines().last().unwrap_or_default();
        line.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == "undef" || word == "poison")
    }
}

fn globals() -> Result<Vec<IrGlobal>> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir("corpus/emitters")?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "ll"));
    paths.sort();
    let mut globals = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path)?;
        let parts = text.split_once("; shared\n").and_then(|(_, rest)| rest.split_once("; globals\n"));
        let (shared, lines) = parts.with_context(|| format!("{} has no two parts", path.display()))?;
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for line in lines.lines() {
            let name = line.split(' ').next().unwrap_or_default().trim_start_matches('@').to_owned();
            globals.push(IrGlobal { file: file.clone(), name, ir: format!("{shared}{line}\n") });
        }
    }
    Ok(globals)
}

fn llc(version: u32, ir: &Path, out: &Path, options: &[&str]) -> Result<std::result::Result<(), String>> {
    let pointers: &[&str] = if version < 15 { &["-opaque-pointers"] } else { &[] };
    let mut llc = command(format!("llc-{version}"), pointers);
    let output = tools::output_of(llc.args(options).arg("-o").arg(out).arg(ir))?;
    if output.status.success() {
        return Ok(Ok(()));
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Ok(Err(match stderr.lines().map(str::trim).find(|line| !line.is_empty()) {
        Some(line) => line.to_owned(),
        None => format!("llc: status {}", tools::exit_status(&output)),
    }))
}

/// The contents of a global: its bytes, and its addresses as offset, symbol, addend and the included bytes of
/// the address (empty if all).
#[derive(Clone, PartialEq, Eq, Debug)]
struct GlobalContents {
    bytes: String,
    addresses: Vec<(i64, String, i64, Vec<u64>)>,
}

impl GlobalContents {
    /// Formats the contents for a table.
    fn display(&self) -> String {
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
    fn matches(&self, other: &GlobalContents, is_open: bool) -> bool {
        let same = if is_open { self.bytes.len() == other.bytes.len() } else { self.bytes == other.bytes };
        same && self.addresses == other.addresses
    }

    /// Whether the contents are equal except for zeros at the end.
    fn differs_in_zeros(&self, other: &GlobalContents) -> bool {
        self.addresses == other.addresses
            && self.bytes.trim_end_matches('0') == other.bytes.trim_end_matches('0')
    }
}

/// Reads the global from an object file of the x86-64 back end, or returns the reason for a failure.
fn from_object(
    version: u32,
    global: &IrGlobal,
    work: &Path,
) -> Result<std::result::Result<GlobalContents, String>> {
    let source = work.join("x86.ll");
    let object = work.join("x86.o");
    fs::write(&source, format!("{X86}{}", global.ir))?;
    if let Err(why) = llc(version, &source, &object, &["-filetype=obj", "-relocation-model=static"])? {
        return Ok(Err(why));
    }
    let data = fs::read(&object)?;
    let file: ElfFile64<'_> = ElfFile64::<'_, object::Endianness>::parse(&*data)?;
    contents_in(&file, &global.name)
}

fn contents_in(file: &ElfFile64<'_>, name: &str) -> Result<std::result::Result<GlobalContents, String>> {
    let symbol = file.symbols().find(|symbol| symbol.name() == Ok(name));
    let symbol = symbol.with_context(|| format!("no symbol {name}"))?;
    let section = symbol.section_index().context("a symbol without a section")?;
    let section = file.section_by_index(section)?;
    let start = symbol.address();
    let size = symbol.size();
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
        let mut symbol = target.name()?.to_owned();
        let mut addend = relocation.addend();
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
    Ok(Ok(GlobalContents { bytes, addresses }))
}

/// The observed or expected contents of a global.
enum GlobalAnswer {
    Contents(GlobalContents),
    /// The outcome and the reason.
    Other(String, String),
}

impl GlobalAnswer {
    fn read(observation: &Value, name: &str) -> GlobalAnswer {
        let outcome = text(observation, "outcome");
        if outcome != "accepted" {
            let refusal = &observation["refusal"];
            let first = text(&observation["diagnostics"][0], "message");
            let reasons =
                [text(refusal, "message"), text(refusal, "class"), text(observation, "reason"), first];
            let reason = reasons.into_iter().find(|reason| !reason.is_empty()).unwrap_or_default();
            return GlobalAnswer::Other(outcome.to_owned(), reason.to_owned());
        }
        let variable = &observation["variables"][name];
        match variable["bytes"].as_str() {
            Some(bytes) => GlobalAnswer::Contents(GlobalContents {
                bytes: bytes.to_owned(),
                addresses: combine_addresses(variable),
            }),
            None => GlobalAnswer::Other("unobserved".to_owned(), String::new()),
        }
    }
}

/// Returns the addresses of a variable. Masked bytes of the same address are combined.
fn combine_addresses(variable: &Value) -> Vec<(i64, String, i64, Vec<u64>)> {
    let mut addresses = Vec::new();
    let mut masked: BTreeMap<_, Vec<u64>> = BTreeMap::new();
    for address in list(&variable["addresses"]) {
        let symbol = text(address, "symbol").to_owned();
        let addend = address["addend"].as_i64().unwrap_or_default();
        let offset = address["offset"].as_i64().unwrap_or_default();
        match address["byte"].as_u64() {
            None => addresses.push((offset, symbol, addend, Vec::new())),
            Some(byte) => masked.entry((offset - byte as i64, symbol, addend)).or_default().push(byte),
        }
    }
    for ((offset, symbol, addend), mut bytes) in masked {
        bytes.sort_unstable();
        let is_whole = bytes.iter().copied().eq(0..8);
        addresses.push((offset, symbol, addend, if is_whole { Vec::new() } else { bytes }));
    }
    addresses.sort();
    addresses
}

/// A global with its PTX and both predictions, or the reason why LLVM does not print it.
struct EmittedGlobal {
    global: IrGlobal,
    printed: std::result::Result<PrintedGlobal, String>,
}

/// The PTX of a global, with the contents according to its IR and according to the specification.
struct PrintedGlobal {
    path: PathBuf,
    ir: std::result::Result<GlobalContents, String>,
    oracle: Value,
}

fn emit_all(ptxsmith: &Path, version: u32, work: &Path) -> Result<Vec<EmittedGlobal>> {
    let globals = globals()?;
    let printed = tools::on_all_cores(&globals, |global| {
        // Use a separate folder, because llc deletes the output file when it fails.
        let folder = work.join(format!("{version}-{}", global.name));
        fs::create_dir_all(&folder)?;
        let source = folder.join("nvptx.ll");
        let path = work.join(format!("{version}-{}.ptx", global.name));
        fs::write(&source, format!("{NVPTX}{}", global.ir))?;
        if let Err(why) = llc(version, &source, &path, &["-march=nvptx64", "-mcpu=sm_80", "-mattr=+ptx75"])? {
            return Ok(Err(format!("LLVM fails: {why}")));
        }
        let output = tools::output_of(command(ptxsmith, ["eval", "--json"]).arg(&path))?;
        let oracle = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| json!({"outcome": "refused", "reason": "it does not parse"}));
        Ok(Ok(PrintedGlobal { path, ir: from_object(version, global, &folder)?, oracle }))
    });
    let printed: Vec<_> = printed.into_iter().collect::<Result<_>>()?;
    Ok(globals.into_iter().zip(printed).map(|(global, printed)| EmittedGlobal { global, printed }).collect())
}

/// The verdicts by file and global.
type Verdicts = BTreeMap<(String, String), String>;

fn check(ptxsmith: &Path, observe: &Path, version: u32) -> Result<Verdicts> {
    let work = tempfile::tempdir()?;
    let emitted = emit_all(ptxsmith, version, work.path())?;
    let printed = emitted.iter().filter_map(|global| global.printed.as_ref().ok());
    let files: Vec<&PathBuf> = printed.map(|printed| &printed.path).collect();
    let observed = tools::stdout_of(command(observe, ["ptxas@13.5", "--relocatable"]).args(&files))?;
    let mut check = command(ptxsmith, ["check", "--subject", "ptxas@13.5", "--out"]);
    let output = tools::output_of(check.arg(work.path().join("check")).args(&files))?;
    if !matches!(tools::exit_status(&output), 0 | 1) {
        bail!("ptxsmith check: {}", String::from_utf8_lossy(&output.stderr));
    }
    eprintln!("LLVM {version}: ptxsmith check says:\n{}", String::from_utf8_lossy(&output.stdout));
    let mut observations = observed.lines().map(serde_json::from_str::<Value>);
    let mut verdicts = Verdicts::new();
    for EmittedGlobal { global, printed } in emitted {
        let verdict = match printed {
            Err(reason) => reason,
            Ok(PrintedGlobal { ir, oracle, .. }) => {
                let observation = observations.next().context("an observation is missing")??;
                verdict(
                    &ir,
                    &GlobalAnswer::read(&oracle, &global.name),
                    &GlobalAnswer::read(&observation, &global.name),
                    global.is_open(),
                )
            }
        };
        verdicts.insert((global.file, global.name), verdict);
    }
    Ok(verdicts)
}

fn verdict(
    ir: &std::result::Result<GlobalContents, String>,
    oracle: &GlobalAnswer,
    ptxas: &GlobalAnswer,
    is_open: bool,
) -> String {
    let ir = match ir {
        Ok(ir) => ir,
        Err(reason) => return format!("no IR prediction: {reason}"),
    };
    let oracle = match oracle {
        GlobalAnswer::Contents(oracle) => oracle,
        GlobalAnswer::Other(outcome, reason) => {
            let breaks = if outcome == "refused" { "breaks the specification" } else { "is not modelled" };
            let ptxas = match ptxas {
                GlobalAnswer::Contents(contents) => {
                    format!("ptxas takes it as {}, IR {}", contents.display(), ir.display())
                }
                GlobalAnswer::Other(..) => "ptxas refuses it".to_owned(),
            };
            return format!("the PTX {breaks} ({reason}); {ptxas}");
        }
    };
    let ptxas = match ptxas {
        GlobalAnswer::Contents(ptxas) => ptxas,
        GlobalAnswer::Other(outcome, reason) => return format!("ptxas parts: {outcome}, {reason}"),
    };
    match (ir.matches(oracle, is_open), oracle == ptxas) {
        (true, true) => AGREE.to_owned(),
        (false, true) if ir.differs_in_zeros(ptxas) => {
            let [ir_size, ptxas_size] = [ir, ptxas].map(|contents| contents.bytes.len() / 2);
            format!("LLVM differs in size: {ir_size} bytes in the IR, {ptxas_size} for oracle = ptxas")
        }
        (false, true) => format!("LLVM differs: IR {}, oracle = ptxas {}", ir.display(), ptxas.display()),
        (true, false) => format!("ptxas parts: IR = oracle {}, ptxas {}", ir.display(), ptxas.display()),
        (false, false) => {
            format!("all part: IR {}, oracle {}, ptxas {}", ir.display(), oracle.display(), ptxas.display())
        }
    }
}

/// Returns the clauses that determine the expectation for a global.
fn clauses_of(oracle: &Value, name: &str) -> Vec<String> {
    let refused = text(oracle, "outcome") == "refused";
    let clauses = if refused { &oracle["refusal"]["clauses"] } else { &oracle["variables"][name]["clauses"] };
    list(clauses).iter().filter_map(|clause| clause.as_str().map(str::to_owned)).collect()
}

/// Writes a campaign that compares the IR with the expectation for the PTX. A version of LLVM deviates if its
/// PTX has contents other than the IR, or is rejected.
pub fn report(ptxsmith: &Path, versions: &[u32], folder: &Path) -> Result<()> {
    let mut campaign = EmitterCampaign::default();
    for (index, &version) in versions.iter().enumerate() {
        let work = tempfile::tempdir()?;
        let mut subject = LlvmCounts::default();
        for emitted in emit_all(ptxsmith, version, work.path())? {
            let (program, standing) = campaign.compare(&emitted, version)?;
            subject.add(&emitted, standing);
            let standings: String = (0..versions.len())
                .map(|other| if other == index { standing } else { NOT_REACHED })
                .collect();
            let name = format!("emitted/llvm-{version}/{}.ptx", emitted.global.name);
            campaign.cases.push(json!({"name": name, "program": program, "standings": standings}));
        }
        campaign.compared += subject.compared;
        campaign.conform += subject.conform;
        campaign.subjects.push(subject.json(version)?);
    }
    if campaign.compared == 0 {
        bail!("nothing was compared");
    }
    campaign.write(ptxsmith, folder)
}

/// The letters of standings in reports; see `Standing::letter` in crates/report/src/matrix.rs.
const CONFORMS: char = 'c';
const DEVIATES: char = 'd';
const UNSUPPORTED: char = 'u';
const NOT_REACHED: char = 'n';

/// The campaign that [`report`] writes.
#[derive(Default)]
struct EmitterCampaign {
    subjects: Vec<Value>,
    cases: Vec<Value>,
    /// The findings by id.
    findings: BTreeMap<String, Value>,
    compared: u64,
    conform: u64,
}

impl EmitterCampaign {
    /// Compares the PTX of a global with its IR. Returns the program and its standing, and records a
    /// deviation.
    fn compare(&mut self, emitted: &EmittedGlobal, version: u32) -> Result<(String, char)> {
        let EmittedGlobal { global, printed } = emitted;
        let PrintedGlobal { path, ir, oracle } = match printed {
            Ok(printed) => printed,
            Err(reason) => return Ok((format!("// {reason}\n"), UNSUPPORTED)),
        };
        let program = fs::read_to_string(path)?;
        let answer = GlobalAnswer::read(oracle, &global.name);
        let refused = matches!(&answer, GlobalAnswer::Other(outcome, _) if outcome == "refused");
        match (ir, &answer) {
            (Ok(ir), GlobalAnswer::Contents(contents)) if ir.matches(contents, global.is_open()) => {
                Ok((program, CONFORMS))
            }
            (Ok(ir), answer) if refused || matches!(answer, GlobalAnswer::Contents(_)) => {
                let finding = self.findings.entry(finding_id(global));
                let finding = finding.or_insert_with(|| finding_json(global, ir, oracle, &program, refused));
                finding["count"] = (finding["count"].as_u64().unwrap_or_default() + 1).into();
                if let Some(subjects) = finding["subjects"].as_array_mut() {
                    subjects.push(format!("llvm@{version}").into());
                }
                Ok((program, DEVIATES))
            }
            _ => Ok((program, NOT_REACHED)),
        }
    }

    fn write(mut self, ptxsmith: &Path, folder: &Path) -> Result<()> {
        self.cases.sort_by_key(|case| text(case, "name").to_owned());
        let version = tools::stdout_of(&mut command(ptxsmith, ["--version"]))?;
        let version = version.split_whitespace().nth(1).unwrap_or_default();
        let report = json!({
            "schema": "ptxsmith.report/1", "ptxsmith": version, "command": "check-emitters", "complete": true,
            "subjects": self.subjects, "compared": self.compared, "conform": self.conform,
            "findings": self.findings.into_values().collect::<Vec<_>>(), "cases": self.cases,
        });
        let now = tools::now();
        let manifest = json!({
            "schema": "ptxsmith.manifest/1", "started": now, "ended": now,
            "command_line": ["cargo", "xtask", "check-emitters"],
        });
        fs::create_dir_all(folder)?;
        fs::write(folder.join("report.json"), serde_json::to_string_pretty(&report)? + "\n")?;
        fs::write(folder.join("manifest.json"), serde_json::to_string_pretty(&manifest)? + "\n")?;
        Ok(())
    }
}

/// The counts of standings for a version of LLVM.
#[derive(Default)]
struct LlvmCounts {
    compared: u64,
    conform: u64,
    unsupported: u64,
    /// The numbers of conforming and of deviating programs by clause.
    by_clause: BTreeMap<String, [u64; 2]>,
}

impl LlvmCounts {
    fn add(&mut self, EmittedGlobal { global, printed }: &EmittedGlobal, standing: char) {
        let Ok(printed) = printed else {
            self.unsupported += 1;
            return;
        };
        let deviates = standing == DEVIATES;
        if !deviates && standing != CONFORMS {
            self.unsupported += 1;
            return;
        }
        self.compared += 1;
        self.conform += u64::from(!deviates);
        if !deviates || text(&printed.oracle, "outcome") == "refused" {
            for clause in clauses_of(&printed.oracle, &global.name) {
                self.by_clause.entry(clause).or_default()[usize::from(deviates)] += 1;
            }
        }
    }

    /// Returns the entry of the version in the report.
    fn json(self, version: u32) -> Result<Value> {
        let output = tools::stdout_of(&mut command(format!("llc-{version}"), ["--version"]))?;
        let number = output.split_once("LLVM version ").and_then(|(_, rest)| rest.split_whitespace().next());
        let mut clauses = serde_json::Map::new();
        for (clause, [conform, deviates]) in self.by_clause {
            let counts = json!({"compared": conform + deviates, "conform": conform, "deviates": deviates});
            clauses.insert(clause, counts);
        }
        Ok(json!({
            "id": format!("llvm@{version}"), "version": number, "lineage": "llvm", "available": true,
            "compared": self.compared, "conform": self.conform, "clauses": clauses,
            "not_compared": {"unsupported": self.unsupported},
        }))
    }
}

fn finding_id(global: &IrGlobal) -> String {
    format!("llvm-{}", global.name.replace('_', "-"))
}

fn finding_json(
    global: &IrGlobal,
    ir: &GlobalContents,
    oracle: &Value,
    program: &str,
    refused: bool,
) -> Value {
    let deviation = if refused {
        "is printed as PTX that the specification refuses"
    } else {
        "is printed with other contents"
    };
    let mut addresses = Vec::new();
    for (offset, symbol, addend, _) in &ir.addresses {
        addresses.push(json!({
            "offset": offset, "width": 8, "symbol": symbol, "addend": addend, "generic": false, "byte": null,
        }));
    }
    let clauses = if refused { clauses_of(oracle, &global.name) } else { Vec::new() };
    let meaning = ir.display();
    let title = format!(
        "the global {} of corpus/emitters/{} {deviation}: its IR means {}",
        global.name,
        global.file,
        meaning.trim_matches('`')
    );
    let variable = json!({
        "space": "global", "size": ir.bytes.len() / 2, "align": null, "bytes": ir.bytes, "addresses": addresses,
    });
    json!({
        "id": finding_id(global), "status": "known", "class": "wrong-value", "subjects": [], "clauses": clauses, "count": 0,
        "program": program, "variable": global.name, "expected": oracle, "repeat": "cargo xtask check-emitters",
        "title": title,
        "observed": {"schema": "ptxsmith.module/1", "outcome": "accepted", "diagnostics": [], "variables": {&*global.name: variable}},
    })
}
