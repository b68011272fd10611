//! What the tasks share: programs that they start, and pages that they render.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// The status of a task that lacks something.
pub const NOT_TESTED: u8 = 3;

/// The header of small programs.
pub const HEADER: &str = ".version 7.8\n.target sm_80\n.address_size 64\n";

/// The root of the checkout, where every task runs.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("the package is in a folder of the checkout")
}

/// A path of the command line, before the task moves to the root.
pub fn path(text: &str) -> io::Result<PathBuf> {
    std::path::absolute(text)
}

/// A command of these words.
pub fn command<I: IntoIterator<Item: AsRef<std::ffi::OsStr>>>(
    program: impl AsRef<std::ffi::OsStr>,
    words: I,
) -> Command {
    let mut command = Command::new(program);
    command.args(words);
    command
}

/// What a command answers, whatever its status. Nothing is on its standard input.
pub fn answer(command: &mut Command) -> Result<Output> {
    command.stdin(Stdio::null()).output().with_context(|| format!("{} cannot be started", shown(command)))
}

/// Runs a command that has to succeed, and gives what it prints.
pub fn said(command: &mut Command) -> Result<String> {
    let output = answer(command)?;
    if !output.status.success() {
        bail!("{}: {}\n{}", shown(command), output.status, String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a command that has to succeed, in sight.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("{} cannot be started", shown(command)))?;
    if !status.success() {
        bail!("{}: {status}", shown(command));
    }
    Ok(())
}

fn shown(command: &Command) -> String {
    let words = [command.get_program()].into_iter().chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// The exit status of an answer; that of a shell for a signal.
pub fn status(output: &Output) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    output.status.code().or(output.status.signal().map(|signal| 128 + signal)).unwrap_or(-1)
}

/// Where cargo builds.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// Builds with cargo, and gives the folder of the programs.
pub fn built(release: bool, words: &[&str]) -> Result<PathBuf> {
    let profile: &[&str] = if release { &["--release"] } else { &[] };
    run(command("cargo", ["build", "--quiet", "--locked"]).args(profile).args(words))?;
    Ok(target().join(if release { "release" } else { "debug" }))
}

/// The program under test: the one that `PTXSMITH` names, else one that is built.
pub fn ptxsmith(release: bool) -> Result<PathBuf> {
    match std::env::var_os("PTXSMITH") {
        Some(named) => Ok(fs::canonicalize(&named).with_context(|| named.to_string_lossy().into_owned())?),
        None => Ok(built(release, &["-p", "ptxsmith"])?.join("ptxsmith")),
    }
}

/// Where downloads are kept, unless the variable names another place.
pub fn cache(variable: &str, name: &str) -> PathBuf {
    let user = || match std::env::var_os("XDG_CACHE_HOME") {
        Some(cache) => PathBuf::from(cache),
        None => PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache"),
    };
    std::env::var_os(variable).map_or_else(|| user().join("ptxsmith").join(name), PathBuf::from)
}

/// Installs packages of Debian that are missing. Gives whether they are there.
pub fn debian(packages: &[String]) -> bool {
    if packages.is_empty() {
        return true;
    }
    let words: &[&str] = if rustix::process::geteuid().is_root() { &[] } else { &["sudo"] };
    let apt = |more: &[&str]| {
        let words = [words, &["apt-get"], more].concat();
        let done =
            command(words[0], &words[1..]).args(if more[0] == "install" { packages } else { &[] }).output();
        done.is_ok_and(|output| output.status.success())
    };
    apt(&["update", "-q"]) && apt(&["install", "-q", "-y", "--no-install-recommends"])
}

/// Reads a file of JSON.
pub fn json(path: &Path) -> Result<Value> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    serde_json::from_str(&text).with_context(|| path.display().to_string())
}

/// A text of JSON, or nothing.
pub fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

/// The entries of a list, or none.
pub fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The minor releases of ptxas that ptxsmith knows, after installing them and these tools.
pub fn minor_releases(ptxsmith: &Path, tools: &[&str]) -> Result<Vec<String>> {
    let known: Value = serde_json::from_str(&said(&mut command(ptxsmith, ["toolchain", "list", "--json"]))?)?;
    let names = list(&known["releases"]).iter().map(|release| text(release, "release").to_owned());
    let releases: Vec<String> = names.filter(|name| name.matches('.').count() == 1).collect();
    run(command(ptxsmith, ["toolchain", "install"]).args(&releases).args(tools).stdout(Stdio::null()))?;
    Ok(releases)
}

/// The page with this text between two marks.
pub fn rendered(page: &Path, begin: &str, end: &str, text: &str) -> Result<String> {
    let was = fs::read_to_string(page)?;
    let marked = || {
        let (before, rest) = was.split_once(begin)?;
        let (_, after) = rest.split_once(end)?;
        Some(format!("{before}{begin}{text}{end}{after}"))
    };
    marked().with_context(|| format!("{} has no {begin} or no {end}", page.display()))
}

/// Writes a page, or, to check it, fails where it is another.
pub fn write_or_check(page: &Path, now: &str, check: bool) -> Result<u8> {
    if !check {
        fs::write(page, now)?;
        return Ok(0);
    }
    if fs::read_to_string(page)? == now {
        return Ok(0);
    }
    println!("{now}");
    eprintln!("this is not {} as it is", page.display());
    Ok(1)
}

/// The marks around what is measured.
pub const MEASURED: (&str, &str) = ("<!-- measured -->\n", "<!-- end -->");

/// A table in Markdown.
pub fn table<H: AsRef<str>>(head: &[H], rows: &[Vec<String>]) -> String {
    let line = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
    let mut table = line(head.iter().map(AsRef::as_ref).collect());
    table += &line(head.iter().map(|_| "---").collect());
    rows.iter().fold(table, |table, row| table + &line(row.iter().map(String::as_str).collect()))
}

/// Today, as 2026-11-26.
pub fn today() -> String {
    now()[..10].to_owned()
}

/// The time, as RFC 3339 has it.
pub fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

/// How many cores there are.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Does something with each item on all cores, and gives the answers in order.
pub fn on_all_cores<T: Sync, A: Send>(items: &[T], work: impl Fn(&T) -> A + Sync) -> Vec<A> {
    let next = AtomicUsize::new(0);
    let take = || {
        let mut answers = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return answers };
            answers.push((at, work(item)));
        }
    };
    let mut all: Vec<(usize, A)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cores()).map(|_| scope.spawn(take)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("a task panics")).collect()
    });
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, answer)| answer).collect()
}

/// Processor seconds of the children that have ended.
pub fn used() -> Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    // Behind the name: the state first, the times of children as 14th and 15th, in hundredths.
    Ok(fields.skip(13).take(2).filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / 100.0)
}
