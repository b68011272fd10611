//! Runs clang and reads its dump while it is being written.
//!
//! With the headers of the standard library a dump is hundreds of megabytes, nearly all of it declarations of no
//! interest here. clang prints the dump with one declaration of the translation unit after the other at the same
//! indentation, so declarations in system headers are passed over line by line, and only the others are parsed. Places
//! are printed as differences to the one printed before; they are completed on the way.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::ast::Node;

/// What came of a run of clang.
#[derive(Debug, Default)]
pub struct Dump {
    /// The declarations of the translation unit that are not in system headers, in order.
    pub declarations: Vec<Node>,
    /// Its errors, as it printed them.
    pub errors: Vec<String>,
    /// Why the dump is not whole, if so.
    pub incomplete: Option<String>,
}

/// Runs clang with these arguments. A file is in a system header if `is_system` says so.
pub fn run(
    clang: &Path,
    args: &[OsString],
    directory: &Path,
    timeout: Duration,
    is_system: &dyn Fn(&str) -> bool,
) -> std::io::Result<Dump> {
    let mut command = Command::new(clang);
    command
        .args(args)
        .current_dir(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let stdout = child.stdout.take().ok_or_else(|| std::io::Error::other("no pipe"))?;
    let mut stderr = child.stderr.take().ok_or_else(|| std::io::Error::other("no pipe"))?;
    let errors = thread::spawn(move || {
        let mut text = Vec::new();
        // A pipe that breaks ends the text: what was read is still worth telling.
        let _ = stderr.by_ref().take(8 << 20).read_to_end(&mut text);
        let _ = std::io::copy(&mut stderr, &mut std::io::sink());
        String::from_utf8_lossy(&text).into_owned()
    });
    // Whoever waits too long for the end is killed.
    let (ended, wait) = mpsc::channel::<()>();
    let pid = child.id();
    let watch = thread::spawn(move || {
        let late = wait.recv_timeout(timeout) == Err(mpsc::RecvTimeoutError::Timeout);
        if late && let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
        late
    });
    let mut reader = Reader::new(is_system);
    let read = reader.read(BufReader::with_capacity(1 << 20, stdout));
    // The child is reaped only after the watch is over: until then nobody else can have its number.
    drop(ended);
    let late = watch.join().unwrap_or(false);
    let status = child.wait()?;
    let errors = errors.join().unwrap_or_default();
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    let incomplete = match (late, signal, read) {
        (true, ..) => Some(format!("clang did not end within {timeout:?}")),
        (_, Some(signal), _) => Some(format!("clang died of signal {signal}")),
        (_, _, Err(error)) => Some(format!("clang's dump cannot be read: {error}")),
        _ => None,
    };
    let errors = errors.lines().filter(|line| line.contains("error: ")).map(str::to_owned).collect();
    Ok(Dump { declarations: reader.declarations, errors, incomplete })
}

/// Where the reader is in the translation unit.
struct Reader<'a> {
    is_system: &'a dyn Fn(&str) -> bool,
    declarations: Vec<Node>,
    file: String,
    line: String,
    /// Whether the file of the declaration being read is known yet, and is a system header.
    skip: Option<bool>,
    system: bool,
    text: String,
    /// The fields of the place being read that clang has printed.
    printed_file: bool,
    printed_line: bool,
    /// Whether the next file is only the one that includes the other.
    in_included_from: bool,
}

impl<'a> Reader<'a> {
    fn new(is_system: &'a dyn Fn(&str) -> bool) -> Self {
        Reader {
            is_system,
            declarations: Vec::new(),
            file: String::new(),
            line: String::new(),
            skip: None,
            system: false,
            text: String::new(),
            printed_file: false,
            printed_line: false,
            in_included_from: false,
        }
    }

    fn read(&mut self, mut input: impl BufRead) -> std::io::Result<()> {
        let mut line = Vec::with_capacity(1 << 12);
        let mut inside = false;
        loop {
            line.clear();
            if input.read_until(b'\n', &mut line)? == 0 {
                return if inside { Err(std::io::Error::other("it ends in the middle")) } else { Ok(()) };
            }
            match (&line[..], inside) {
                (b"    {\n", false) => {
                    inside = true;
                    self.skip = None;
                    self.text.clear();
                    self.text.push_str("{\n");
                }
                (b"    }\n" | b"    },\n", true) => {
                    inside = false;
                    if self.skip == Some(false) {
                        self.text.push('}');
                        self.parse()?;
                    }
                }
                (_, true) => self.line(&line),
                _ => {}
            }
        }
    }

    fn parse(&mut self) -> std::io::Result<()> {
        let mut deserializer = serde_json::Deserializer::from_str(&self.text);
        deserializer.disable_recursion_limit();
        let node = serde::Deserialize::deserialize(&mut deserializer).map_err(std::io::Error::other)?;
        self.declarations.push(node);
        Ok(())
    }

    fn line(&mut self, line: &[u8]) {
        let start = line.iter().position(|&byte| byte != b' ').unwrap_or(line.len());
        let rest = &line[start..];
        let value = |key: &[u8]| {
            let value = rest.strip_prefix(key)?;
            let value = value.strip_suffix(b"\n").unwrap_or(value);
            Some(String::from_utf8_lossy(value.strip_suffix(b",").unwrap_or(value)).into_owned())
        };
        if rest.starts_with(b"\"offset\": ") {
            (self.printed_file, self.printed_line) = (false, false);
        } else if rest.starts_with(b"\"includedFrom\": ") {
            self.in_included_from = true;
        } else if rest.starts_with(b"\"file\": ") {
            if self.in_included_from {
                self.in_included_from = false;
            } else if let Some(file) = value(b"\"file\": ") {
                self.system = serde_json::from_str::<String>(&file).is_ok_and(|name| (self.is_system)(&name));
                self.file = file;
                self.printed_file = true;
            }
        } else if rest.starts_with(b"\"line\": ") {
            if let Some(line) = value(b"\"line\": ") {
                self.line = line;
                self.printed_line = true;
            }
        } else if rest.starts_with(b"\"col\": ") {
            if self.skip != Some(true) {
                if !self.printed_file {
                    self.text.push_str("\"file\": ");
                    self.text.push_str(&self.file);
                    self.text.push_str(",\n");
                }
                if !self.printed_line {
                    self.text.push_str("\"line\": ");
                    self.text.push_str(&self.line);
                    self.text.push_str(",\n");
                }
            }
        } else if self.skip.is_none() && start == 6 && rest.starts_with(b"\"range\": ") {
            // Before it comes the place of the name; of a macro, last where it is used.
            self.skip = Some(self.system);
        }
        if self.skip != Some(true) {
            self.text.push_str(&String::from_utf8_lossy(rest));
        }
    }
}
