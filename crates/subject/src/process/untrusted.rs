//! Users' programs start under their limits from the first instruction.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::{Invocation, Limits};

/// Sets the limits on memory, in KiB, and on files, in blocks of 512 bytes, and becomes the program. A limit
/// that the system does not allow is set as far as possible from outside, like those of other programs.
const SET_LIMITS: &str =
    r#"{ ulimit -c 0; ulimit -v "$1"; ulimit -f "$2"; } 2> /dev/null; shift 2; exec "$@""#;

impl Invocation {
    /// Returns an invocation that starts the program by way of a shell, which sets the limits first. Limits
    /// that are set from outside come too late for children of a program that forks at once.
    ///
    /// A file that the system would not start stays as it is, because a shell would take it for a script.
    pub fn limited_from_start(self, limits: &Limits) -> Invocation {
        if !is_program(&self.program) {
            return self;
        }
        let shell = ["-c", SET_LIMITS, "sh", &amount(limits.memory, 1024), &amount(limits.file, 512)];
        let shell = shell.map(Into::into).into_iter().chain([self.program.into_os_string()]);
        Invocation { program: "/bin/sh".into(), args: shell.chain(self.args).collect(), ..self }
    }
}

/// Returns a limit as `ulimit` expects it, in units of this size.
fn amount(bytes: u64, unit: u64) -> String {
    if bytes == u64::MAX { "unlimited".to_owned() } else { (bytes / unit).to_string() }
}

/// Returns true if the file is executable and the system can start it: an ELF file, or a script that names its
/// interpreter.
fn is_program(path: &Path) -> bool {
    let mut start = [0; 4];
    let is_executable = path.metadata().is_ok_and(|file| file.permissions().mode() & 0o111 != 0);
    let read = File::open(path).and_then(|mut file| file.read(&mut start));
    is_executable && read.is_ok() && (start == *b"\x7fELF" || start.starts_with(b"#!"))
}
