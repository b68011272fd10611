//! Helpers shared by the tasks: running programs and rendering pages.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// The exit status of a task that could not run because something is missing.
pub const NOT_TESTED: u8 = 3;

/// The header of small PTX programs.
pub const HEADER: &str = ".version 7.8\n.target sm_80\n.address_size 64\n";

/// Returns the root of the checkout, where every task runs.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("the package is in a folder of the checkout")
}

/// Parses a path argument. It becomes absolute, because the task changes to the root directory.
pub fn path(text: &str) -> io::Result<PathBuf> {
    std::path::absolute(text)
}

/// Creates a command with these arguments.
pub fn command<I: IntoIterator<Item: AsRef<std::ffi::OsStr>>>(
    program: impl AsRef<std::ffi::OsStr>,
    words: I,
) -> Command {
    let mut command = Command::new(program);
    command.args(words);
    command
}

/// Runs a command with empty standard input and returns its output, whatever its exit status.
pub fn answer(command: &mut Command) -> Result<Output> {
    command.stdin(Stdio::null()).output().with_context(|| format!("{} cannot be started", shown(command)))
}

/// Runs a command that must succeed, and returns its standard output.
pub fn said(command: &mut Command) -> Result<String> {
    let output = answer(command)?;
    if !output.status.success() {
        bail!("{}: {}\n{}", shown(command), output.status, String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a command that must succeed, with its output shown.
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

/// Returns the exit status, or 128 plus the signal's number, as in a shell.
pub fn status(output: &Output) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    output.status.code().or(output.status.signal().map(|signal| 128 + signal)).unwrap_or(-1)
}

/// Returns cargo's target directory.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// Builds with cargo, and returns the folder of the programs.
pub fn built(release: bool, words: &[&str]) -> Result<PathBuf> {
    let profile: &[&str] = if release { &["--release"] } else { &[] };
    run(command("cargo", ["build", "--quiet", "--locked"]).args(profile).args(words))?;
    Ok(target().join(if release { "release" } else { "debug" }))
}

/// Returns the program under test: `PTXSMITH` if set, otherwise a newly built one.
pub fn ptxsmith(release: bool) -> Result<PathBuf> {
    match std::env::var_os("PTXSMITH") {
        Some(named) => Ok(fs::canonicalize(&named).with_context(|| named.to_string_lossy().into_owned())?),
        None => Ok(built(release, &["-p", "ptxsmith"])?.join("ptxsmith")),
    }
}

/// Returns the folder for downloads, which the variable can override.
pub fn cache(variable: &str, name: &str) -> PathBuf {
    let user = || match std::env::var_os("XDG_CACHE_HOME") {
        Some(cache) => PathBuf::from(cache),
        None => PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache"),
    };
    std::env::var_os(variable).map_or_else(|| user().join("ptxsmith").join(name), PathBuf::from)
}

/// Installs missing Debian packages. Returns whether they are available.
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

/// Reads a JSON file.
pub fn json(path: &Path) -> Result<Value> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    serde_json::from_str(&text).with_context(|| path.display().to_string())
}

/// Returns the string at `key`, or an empty string.
pub fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

/// Returns the entries of an array, or an empty slice.
pub fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Installs all minor releases of ptxas and the given tools. Returns the releases.
pub fn minor_releases(ptxsmith: &Path, tools: &[&str]) -> Result<Vec<String>> {
    let known: Value = serde_json::from_str(&said(&mut command(ptxsmith, ["toolchain", "list", "--json"]))?)?;
    let names = list(&known["releases"]).iter().map(|release| text(release, "release").to_owned());
    let releases: Vec<String> = names.filter(|name| name.matches('.').count() == 1).collect();
    run(command(ptxsmith, ["toolchain", "install"]).args(&releases).args(tools).stdout(Stdio::null()))?;
    Ok(releases)
}

/// Returns the page with the text between two marks replaced.
pub fn rendered(page: &Path, begin: &str, end: &str, text: &str) -> Result<String> {
    let was = fs::read_to_string(page)?;
    let marked = || {
        let (before, rest) = was.split_once(begin)?;
        let (_, after) = rest.split_once(end)?;
        Some(format!("{before}{begin}{text}{end}{after}"))
    };
    marked().with_context(|| format!("{} has no {begin} or no {end}", page.display()))
}

/// Writes a page. With `check`, fails instead if the page differs.
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

/// The marks around measured text.
pub const MEASURED: (&str, &str) = ("<!-- measured -->\n", "<!-- end -->");

/// Formats a Markdown table.
pub fn table<H: AsRef<str>>(head: &[H], rows: &[Vec<String>]) -> String {
    let line = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
    let mut table = line(head.iter().map(AsRef::as_ref).collect());
    table += &line(head.iter().map(|_| "---").collect());
    rows.iter().fold(table, |table, row| table + &line(row.iter().map(String::as_str).collect()))
}

/// Returns today's date, such as `2026-11-26`.
pub fn today() -> String {
    now()[..10].to_owned()
}

/// Returns the current time in RFC 3339 format.
pub fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

/// Returns the number of cores.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Applies `work` to each item on all cores. Returns the results in input order.
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

/// Returns the processor time of finished child processes, in seconds.
pub fn used() -> Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    // The fields after the name begin with the state. The times of children are the 14th and 15th, in hundredths of a
    // second.
    Ok(fields.skip(13).take(2).filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / 100.0)
}
