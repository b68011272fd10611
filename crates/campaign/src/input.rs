//! Reads the user's programs from files or standard input.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use ptxsmith_report::harmless::line;
use ptxsmith_syntax::{Module, ParseError, ParseErrorKind, Span};
use walkdir::WalkDir;

use crate::failure::Failure;

/// The largest program to read, in bytes. Compilers emit at most a few megabytes. The tree of a program needs
/// about ten times its size in memory.
pub const MAX_BYTES: u64 = 64 << 20;

/// A program as the user supplied it.
pub struct InputProgram {
    /// The name in messages; safe to print.
    pub name: String,
    /// The source.
    pub text: String,
    /// The parsed source.
    pub module: Module,
}

impl InputProgram {
    /// Reads a program; `-` is standard input. Every failure is an error of the user, with a message in a
    /// single line. The source line follows for a syntax error.
    pub fn read(path: &Path) -> Result<InputProgram, Failure> {
        let (name, text) = read_text(path)?;
        InputProgram::parse(name, text)
    }

    /// Parses a program; `name` is its name in messages.
    pub fn parse(name: String, text: String) -> Result<InputProgram, Failure> {
        if let Some(line) = dumped_from(&text) {
            return Err(Failure::BadInput(format!(
                "{name}: output of cuobjdump -ptx, whose line {line} is no PTX; write each module to a file of its \
                 own with `cuobjdump -xptx all FILE`"
            )));
        }
        match ptxsmith_syntax::parse(&text) {
            Ok(module) if module.version().is_none() => Err(Failure::BadInput(format!(
                "{name}: no PTX module: it has no .version MAJOR.MINOR, with which every module begins"
            ))),
            Ok(module) => Ok(InputProgram { name, text, module }),
            Err(error) => Err(Failure::Rendered(error.render(&name, &text))),
        }
    }
}

/// Returns the line of the first heading that `cuobjdump -ptx` prints above a module, if the source begins
/// like its output.
fn dumped_from(text: &str) -> Option<usize> {
    let mut lines = text.lines().enumerate().skip_while(|(_, line)| line.trim().is_empty());
    // For an archive, the name of the member comes first.
    let (number, first) = lines.next()?;
    let is_dump = is_dump_heading(first)
        || first.starts_with("member ") && lines.take(3).any(|(_, line)| is_dump_heading(line));
    is_dump.then_some(number + 1)
}

fn is_dump_heading(line: &str) -> bool {
    line.starts_with("Fatbin ") && line.trim_end().ends_with(" code:")
}

/// Reads a file that need not be a program, and returns its name in messages with its contents; `-` is
/// standard input.
pub fn read_text(path: &Path) -> Result<(String, String), Failure> {
    let (name, bytes) = if path == Path::new("-") {
        let name = "standard input";
        (name.to_owned(), read_limited(io::stdin().lock(), name)?)
    } else {
        let name = line(&path.to_string_lossy()).into_owned();
        let bytes = read_file(path, &name)?;
        (name, bytes)
    };
    match text_of(bytes) {
        Ok(text) => Ok((name, text)),
        Err(problem) => Err(Failure::BadInput(format!("{name}: {problem}; give a text"))),
    }
}

fn read_file(path: &Path, name: &str) -> Result<Vec<u8>, Failure> {
    let metadata = fs::metadata(path).map_err(|error| cannot_read(name, &error))?;
    if metadata.is_dir() {
        return Err(Failure::BadInput(format!("{name}: a directory; give a file")));
    }
    // Check the size before reading, because a file may be larger than memory.
    if metadata.len() > MAX_BYTES {
        return Err(too_large(name));
    }
    read_limited(File::open(path).map_err(|error| cannot_read(name, &error))?, name)
}

/// Reads at most the limit, which also applies to pipes and devices, whose size is unknown.
fn read_limited(from: impl Read, name: &str) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    from.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| cannot_read(name, &error))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(too_large(name));
    }
    Ok(bytes)
}

fn too_large(name: &str) -> Failure {
    Failure::BadInput(format!("{name}: larger than {} MiB, the most that is read", MAX_BYTES >> 20))
}

fn cannot_read(name: &str, error: &io::Error) -> Failure {
    let what = match error.kind() {
        io::ErrorKind::NotFound => "no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "not allowed to read it".to_owned(),
        _ => format!("cannot be read: {error}"),
    };
    Failure::BadInput(format!("{name}: {what}; give a file, or - for standard input"))
}

/// Returns the bytes as text, or describes why they are not the text of a program.
fn text_of(bytes: Vec<u8>) -> Result<String, String> {
    if bytes.starts_with(b"\x7fELF") {
        return Err("an ELF file, as compiled programs and cubins are".to_owned());
    }
    if bytes.starts_with("\u{feff}".as_bytes()) {
        return Err("it begins with a byte order mark, which no PTX module does".to_owned());
    }
    if let Some(offset) = bytes.iter().position(|&byte| byte == 0) {
        let is_at_end = bytes[offset..].iter().all(|&byte| byte == 0 || byte.is_ascii_whitespace());
        // The size that NVRTC returns includes the zero byte at the end.
        if is_at_end && offset > 0 {
            return Err(format!(
                "it ends in a zero byte, as strings in C do (offset {offset}): leave it out"
            ));
        }
        return Err(format!("a binary file (zero byte at offset {offset})"));
    }
    String::from_utf8(bytes).map_err(|error| {
        format!("not UTF-8 text (first bad byte at offset {})", error.utf8_error().valid_up_to())
    })
}

/// Returns the source line at a position, with a marker below it. The result is safe to print.
pub fn excerpt(text: &str, span: Span) -> String {
    // Reuse the renderer of syntax errors and drop its first line, which is about the error.
    let error = ParseError { kind: ParseErrorKind::TooDeep, span };
    let rendered = error.render("", text);
    rendered.split_once('\n').map(|(_, excerpt)| excerpt.to_owned()).unwrap_or_default()
}

/// Expands paths to programs: a file is itself, a directory contributes every `.ptx` file below it, sorted by
/// name.
pub fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let before = files.len();
        // Skip the reproducers of known deviations in the corpus: some use up all memory.
        let entries = WalkDir::new(path)
            .sort_by_file_name()
            .into_iter()
            .filter_entry(|entry| entry.depth() == 0 || entry.file_name() != "deviations");
        for entry in entries {
            let entry = entry.map_err(|error| {
                Failure::BadInput(line(&format!("{}: {error}", path.display())).into_owned())
            })?;
            // Follow links, so that a link to a program counts.
            if entry.path().extension().is_some_and(|extension| extension == "ptx") && entry.path().is_file()
            {
                files.push(entry.into_path());
            }
        }
        if files.len() == before {
            let name = path.to_string_lossy();
            return Err(Failure::BadInput(format!("{}: no .ptx file in this directory", line(&name))));
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(failure: Failure) -> String {
        match failure {
            Failure::BadInput(message) => message,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_no_text_is_told_apart() {
        let told = |bytes: &[u8]| text_of(bytes.to_vec()).unwrap_err();
        assert!(told(b"\x7fELF\x02").starts_with("an ELF file"));
        assert!(told(b"ab\0c").contains("zero byte at offset 2"));
        assert!(told(b"\0").contains("a binary file (zero byte at offset 0)"));
        assert!(told(b"ab\0").contains("ends in a zero byte, as strings in C do (offset 2)"));
        assert!(told("\u{feff}.version 7.8".as_bytes()).contains("byte order mark"));
        assert!(told(b"abc\xff").contains("first bad byte at offset 3"));
        assert_eq!(text_of("é".into()).unwrap(), "é");
    }

    #[test]
    fn a_dump_is_told_from_a_module() {
        const MODULE: &str = ".version 7.5\n.target sm_75\n.address_size 64\n";
        let told =
            |text: &str| InputProgram::parse("f".to_owned(), text.to_owned()).map(|_| ()).map_err(message);
        let heading =
            |kind: &str| format!("Fatbin {kind} code:\n================\narch = sm_75\ncompressed\n");
        let elf_first = format!("\n{}\n{}\n{MODULE}", heading("elf"), heading("ptx"));
        let message = told(&elf_first).unwrap_err();
        assert!(message.starts_with("f: output of cuobjdump -ptx, whose line 2 is no PTX"), "{message}");
        assert!(message.contains("cuobjdump -xptx all"), "{message}");
        assert!(told(&format!("{}\n{MODULE}", heading("ptx"))).unwrap_err().contains("whose line 1 is"));
        let member = format!("member libx.a:x.o:\n\n{}\n{MODULE}", heading("ptx"));
        assert!(told(&member).unwrap_err().contains("output of cuobjdump -ptx"));
        assert_eq!(told(MODULE), Ok(()));
        assert_eq!(told(&format!("// Fatbin ptx code:\n{MODULE}")), Ok(()));
        assert!(!told("Fatbinary\n").unwrap_err().contains("cuobjdump"));
    }

    #[test]
    fn an_endless_input_is_too_large() {
        assert!(message(read_limited(io::repeat(b' '), "f").unwrap_err()).contains("larger than 64 MiB"));
    }

    #[test]
    fn a_file_is_read_up_to_the_largest_size() {
        let directory = tempfile::tempdir().unwrap();
        let told = |bytes: &[u8], size: u64| -> Result<String, String> {
            let path = directory.path().join("f");
            fs::write(&path, bytes).unwrap();
            File::options().write(true).open(&path).unwrap().set_len(size).unwrap();
            let (name, text) = read_text(&path).map_err(message)?;
            assert_eq!(name, path.to_string_lossy());
            Ok(text)
        };
        assert_eq!(told(b"text", 4), Ok("text".to_owned()));
        // The file is sparse after its first bytes, so it uses no disk space.
        assert!(told(b"\x7fELF", MAX_BYTES).unwrap_err().contains("an ELF file"));
        assert!(told(b"\x7fELF", MAX_BYTES + 1).unwrap_err().contains("larger than 64 MiB"));
        assert!(message(read_text(directory.path()).unwrap_err()).contains("a directory"));
        assert!(message(read_text(&directory.path().join("none")).unwrap_err()).contains("no such file"));
    }

    #[test]
    fn an_excerpt_is_the_line_and_a_marker() {
        let text = ".version 7.8\n.global .s32 x = 1.0;\n";
        let start = text.find("1.0").unwrap() as u32;
        let span = Span { start, end: start + 3 };
        assert_eq!(excerpt(text, span), ".global .s32 x = 1.0;\n                 ^^^\n");
    }

    #[test]
    fn a_directory_is_its_programs_in_order() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["b.ptx", "a/c.ptx", "a.txt"] {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let found = files(&[directory.path().to_owned()]).unwrap();
        let found: Vec<_> = found.iter().map(|path| path.strip_prefix(directory.path()).unwrap()).collect();
        assert_eq!(found, [Path::new("a/c.ptx"), Path::new("b.ptx")]);
        fs::create_dir(directory.path().join("empty")).unwrap();
        assert!(message(files(&[directory.path().join("empty")]).unwrap_err()).contains("no .ptx file"));
    }
}
