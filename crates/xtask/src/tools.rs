//! Helpers shared by the tasks: running programs and rendering pages.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
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
pub fn output_of(command: &mut Command) -> Result<Output> {
    command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("{} cannot be started", command_line(command)))
}

/// Runs a command that must succeed, and returns its standard output.
pub fn stdout_of(command: &mut Command) -> Result<String> {
    let output = output_of(command)?;
    if !output.status.success() {
        bail!("{}: {}\n{}", command_line(command), output.status, String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a command that must succeed, with its output shown.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("{} cannot be started", command_line(command)))?;
    if !status.success() {
        bail!("{}: {status}", command_line(command));
    }
    Ok(())
}

fn command_line(command: &Command) -> String {
    let words = [command.get_program()].into_iter().chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Returns the exit status, or 128 plus the signal's number, as in a shell.
pub fn exit_status(output: &Output) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    output.status.code().or(output.status.signal().map(|signal| 128 + signal)).unwrap_or(-1)
}

/// Returns cargo's target directory.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// Builds with cargo, and returns the folder of the programs.
pub fn build(release: bool, words: &[&str]) -> Result<PathBuf> {
    let profile: &[&str] = if release { &["--release"] } else { &[] };
    run(command("cargo", ["build", "--quiet", "--locked"]).args(profile).args(words))?;
    Ok(target().join(if release { "release" } else { "debug" }))
}

/// Returns the program under test: `PTXSMITH` if set, otherwise a newly built one.
pub fn ptxsmith(release: bool) -> Result<PathBuf> {
    match std::env::var_os("PTXSMITH") {
        Some(named) => Ok(fs::canonicalize(&named).with_context(|| named.to_string_lossy().into_owned())?),
        None => Ok(build(release, &["-p", "ptxsmith"])?.join("ptxsmith")),
    }
}

/// Returns the folder for downloads, which the variable can override.
pub fn cache(variable: &str, name: &str) -> PathBuf {
    if let Some(folder) = std::env::var_os(variable) {
        return PathBuf::from(folder);
    }
    let user_cache = match std::env::var_os("XDG_CACHE_HOME") {
        Some(cache) => PathBuf::from(cache),
        None => PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache"),
    };
    user_cache.join("ptxsmith").join(name)
}

/// Installs missing Debian packages. Returns whether they are available.
pub fn install_debian(packages: &[String]) -> bool {
    if packages.is_empty() {
        return true;
    }
    apt_get(&["update", "-q"], &[]) && apt_get(&["install", "-q", "-y", "--no-install-recommends"], packages)
}

/// Runs `apt-get`, with `sudo` unless the user is root. Returns whether it succeeded.
fn apt_get(words: &[&str], packages: &[String]) -> bool {
    let program: &[&str] =
        if rustix::process::geteuid().is_root() { &["apt-get"] } else { &["sudo", "apt-get"] };
    let output = command(program[0], &program[1..]).args(words).args(packages).output();
    output.is_ok_and(|output| output.status.success())
}

/// Creates a Python environment in a folder.
pub fn create_venv(folder: &Path) -> Result<()> {
    stdout_of(command("python3", ["-m", "venv"]).arg(folder)).map(|_| ())
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
    let known: Value =
        serde_json::from_str(&stdout_of(&mut command(ptxsmith, ["toolchain", "list", "--json"]))?)?;
    let names = list(&known["releases"]).iter().map(|release| text(release, "release").to_owned());
    let releases: Vec<String> = names.filter(|name| name.matches('.').count() == 1).collect();
    run(command(ptxsmith, ["toolchain", "install"]).args(&releases).args(tools).stdout(Stdio::null()))?;
    Ok(releases)
}

/// Returns the page with the text between two marks replaced.
pub fn rendered(page: &Path, begin: &str, end: &str, text: &str) -> Result<String> {
    let contents = fs::read_to_string(page)?;
    let parts = contents.split_once(begin).and_then(|(before, rest)| Some((before, rest.split_once(end)?.1)));
    let (before, after) = parts.with_context(|| format!("{} has no {begin} or no {end}", page.display()))?;
    Ok(format!("{before}{begin}{text}{end}{after}"))
}

/// Writes a page. With `check`, fails instead if the page differs.
pub fn write_or_check(page: &Path, text: &str, check: bool) -> Result<u8> {
    if !check {
        fs::write(page, text)?;
        return Ok(0);
    }
    if fs::read_to_string(page)? == text {
        return Ok(0);
    }
    println!("{text}");
    eprintln!("this is not {} as it is", page.display());
    Ok(1)
}

/// The marks around measured text.
pub const MEASURED: (&str, &str) = ("<!-- measured -->\n", "<!-- end -->");

/// Formats a Markdown table.
pub fn table<H: AsRef<str>>(head: &[H], rows: &[Vec<String>]) -> String {
    let mut table = table_line(head);
    table += &table_line(&vec!["---"; head.len()]);
    for row in rows {
        table += &table_line(row);
    }
    table
}

fn table_line<C: AsRef<str>>(cells: &[C]) -> String {
    let cells: Vec<&str> = cells.iter().map(AsRef::as_ref).collect();
    format!("| {} |\n", cells.join(" | "))
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
    thread::available_parallelism().map_or(1, usize::from)
}

/// Applies `work` to each item on all cores. Returns the results in input order.
pub fn on_all_cores<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let mut results: Vec<(usize, R)> = thread::scope(|scope| {
        let threads: Vec<_> =
            (0..cores()).map(|_| scope.spawn(|| process_items(items, &next, &work))).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("a task panics")).collect()
    });
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Processes items until all threads together have started all of them. Returns the results with the items'
/// indices.
fn process_items<T, R>(items: &[T], next: &AtomicUsize, work: impl Fn(&T) -> R) -> Vec<(usize, R)> {
    let mut results = Vec::new();
    loop {
        let index = next.fetch_add(1, Ordering::Relaxed);
        let Some(item) = items.get(index) else { return results };
        results.push((index, work(item)));
    }
}

/// Returns the processor time of finished child processes, in seconds.
pub fn child_processor_seconds() -> Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    // The fields after the name begin with the state. The times of children are the 14th and 15th, in
    // hundredths of a second.
    Ok(fields.skip(13).take(2).filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / 100.0)
}
