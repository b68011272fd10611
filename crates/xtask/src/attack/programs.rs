//! Attacks with hostile PTX, hostile sources of CUDA and a hostile editor.

use std::fs;
use std::path::PathBuf;

use anyhow::Result;
use serde_json::json;

use super::{Attack, AttackRun, path_text, words};
use crate::headers;
use crate::tools::HEADER;

/// Returns the programs of the corpus.
fn corpus() -> Vec<PathBuf> {
    walkdir::WalkDir::new("corpus")
        .sort_by_file_name()
        .into_iter()
        .flatten()
        .map(walkdir::DirEntry::into_path)
        .filter(|path| path.extension().is_some_and(|extension| extension == "ptx"))
        .collect()
}

pub fn ptx(attack: &mut Attack) -> Result<()> {
    let corpus = corpus();
    let path = attack.work.join("a.ptx");
    for number in 0..attack.times(500) {
        let text = if number % 10 == 0 { large(attack, number) } else { mutated(attack, &corpus)? };
        fs::write(&path, &text)?;
        let mut arguments = words(["eval", &path_text(&path)]);
        arguments.extend((number % 2 == 1).then(|| "--json".to_owned()));
        let what = format!("program {number}: {:?}", String::from_utf8_lossy(&text[..text.len().min(200)]));
        attack.run("hostile PTX", &AttackRun::new(&arguments, &[0, 2], &what))?;
    }
    Ok(())
}

/// Links mutated modules, without a linker and with one if it is installed.
pub fn links(attack: &mut Attack) -> Result<()> {
    const PART: &str = "hostile modules that are linked";
    let corpus = corpus();
    let paths = ["first.ptx", "second.ptx"].map(|name| attack.work.join(name));
    for number in 0..attack.times(200) {
        fs::copy(attack.pick(&corpus), &paths[0])?;
        fs::write(&paths[1], mutated(attack, &corpus)?)?;
        let [first, second] = paths.each_ref().map(|path| path_text(path));
        let arguments = match number % 4 {
            0 => words(["check", "--link", &first, &second, "--subject", "nvlink@13.5"]),
            _ => words(["eval", &first, "--link", &second]),
        };
        // Status 3 also says that the linker is not here.
        attack.run(PART, &AttackRun::new(&arguments, &[0, 1, 2, 3], &format!("modules {number}")))?;
    }
    Ok(())
}

/// Sends mutated messages of an editor.
pub fn editor(attack: &mut Attack) -> Result<()> {
    const PART: &str = "a hostile editor";
    const URI: &str = "file:///a.ptx";
    let corpus = corpus();
    let path = attack.work.join("messages");
    for number in 0..attack.times(200) {
        let text = String::from_utf8_lossy(&mutated(attack, &corpus)?).into_owned();
        let [line, character] = [(); 2].map(|()| attack.random.u32(..) >> attack.random.u32(..32));
        let document = json!({"uri": URI, "languageId": "ptx", "version": 1, "text": text});
        let at = json!({"textDocument": {"uri": URI}, "position": {"line": line, "character": character}});
        let messages = [
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}),
            json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}),
            json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": document}}),
            json!({"jsonrpc": "2.0", "id": 2, "method": "textDocument/hover", "params": at}),
            json!({"jsonrpc": "2.0", "id": 3, "method": "shutdown"}),
            json!({"jsonrpc": "2.0", "method": "exit"}),
        ];
        let framed = messages.iter().map(|message| {
            let body = message.to_string();
            format!("Content-Length: {}\r\n\r\n{body}", body.len())
        });
        let mut bytes = framed.collect::<String>().into_bytes();
        if number % 2 == 1 {
            let start = attack.random.usize(..bytes.len());
            let piece = attack.pick(&[&b"9"[..], b"\0", b"{", b"\r\n\r\n", b"Content-Length: 5"]).to_vec();
            bytes.splice(start..(start + attack.random.usize(..4)).min(bytes.len()), piece);
        }
        fs::write(&path, bytes)?;
        let before = format!("exec < {}", path_text(&path));
        let arguments = words(["lsp"]);
        let run = AttackRun::new(&arguments, &[0, 2], "messages");
        attack.run(PART, &AttackRun { before: &before, ..run })?;
    }
    Ok(())
}

/// Returns a very long or very deeply nested program.
fn large(attack: &mut Attack, number: u32) -> Vec<u8> {
    let size = *attack.pick(&[1_000, 10_000, 50_000]);
    let text = match number / 10 % 10 {
        0 => repeat_numbered(size, ".func f#() { ret; }\n"),
        1 => repeat_numbered(size, ".global .s32 a# = #;\n"),
        2 => (0..size).fold(".global .u64 a0;\n".to_owned(), |text, n| {
            text + &format!(".global .u64 a{} = a{n};\n", n + 1)
        }),
        3 => format!(".entry k() {{{}{}ret;}}\n", "{".repeat(size), "}".repeat(size)),
        4 => format!(".global .s32 a{};\n", "[1]".repeat(size)),
        5 => format!(".global .s32 a = {}1{};\n", "(".repeat(size), ")".repeat(size)),
        6 => format!(".global .s32 a[{}] = {{{}", "9".repeat(size), "{".repeat(size)),
        7 => format!(".entry k() {{{}{}ret;}}\n", repeat_numbered(size, ".reg .b32 r#; {"), "}".repeat(size)),
        8 => format!(".global .s32 {} = {}1;\n", "n".repeat(size), "1+".repeat(size)),
        _ => "/*".repeat(size),
    };
    format!("{HEADER}{text}").into_bytes()
}

/// Repeats a text, with `#` replaced by the number of the repetition.
fn repeat_numbered(count: usize, text: &str) -> String {
    (0..count).map(|number| text.replace('#', &number.to_string())).collect()
}

fn mutated(attack: &mut Attack, corpus: &[PathBuf]) -> Result<Vec<u8>> {
    let mut text = fs::read(attack.pick(corpus))?;
    for _ in 0..attack.random.usize(1..=12) {
        let start = attack.random.usize(..=text.len());
        let other = attack.random.usize(..=text.len());
        let first = start.min(other);
        let last = start.max(other);
        let cut = text[first..last.min(first + 80)].to_vec();
        let noise = attack.bytes(4);
        let piece =
            attack.pick(&[noise, cut.clone(), cut.repeat(3), b"{".repeat(50), "\u{202e}".into()]).clone();
        let end = (start + attack.random.usize(..=8)).min(text.len());
        text.splice(start..end, piece);
    }
    Ok(text)
}

/// A valid source file.
const USE: &str = "const int v = 1;\n__device__ const int *f() { return &v; }\n";

pub fn cuda(attack: &mut Attack) -> Result<()> {
    const PART: &str = "hostile CUDA projects";
    let Some(clang) = headers::clang() else {
        attack.note(PART, "NOT TESTED: there is no clang in PATH");
        return Ok(());
    };
    let canary = path_text(&attack.canary);
    let flags = attack.work.join("flags");
    fs::write(&flags, format!("x -MD -MF {canary}"))?;
    let sources = hostile_sources(&canary);
    for number in 0..attack.times(30) as usize {
        let project = attack.work.join(format!("cuda-{number}"));
        fs::create_dir(&project)?;
        fs::write(project.join("ok.cu"), USE)?;
        let (more, what) = if number % 2 == 0 {
            let options = hostile_options(&path_text(&flags), &canary, &path_text(&project));
            let options = &options[number / 2 % options.len()];
            let line = [words(["nvcc"]), options.clone(), words(["ok.cu"])].concat();
            let mut entry = json!({"directory": ".", "file": "ok.cu", "arguments": line});
            if number % 10 == 8 {
                entry = json!({"directory": ".", "file": "ok.cu", "command": "nvcc 'ok.cu"});
            }
            fs::write(project.join("compile_commands.json"), json!([entry]).to_string())?;
            (words(["--compile-commands", "."]), entry.to_string().chars().take(200).collect())
        } else {
            let (name, text) = &sources[number / 2 % sources.len()];
            fs::write(project.join(name), text)?;
            let path = if name.starts_with('-') { format!("./{name}") } else { (*name).to_owned() };
            (words([&path, "ok.cu"]), (*name).to_owned())
        };
        let arguments =
            [words(["cuda", "check", "--clang", &path_text(&clang), "--timeout", "20s"]), more].concat();
        let run = AttackRun::new(&arguments, &[0, 1, 2], &what);
        attack.run(PART, &AttackRun { directory: Some(&project), ..run })?;
    }
    Ok(())
}

/// Returns compiler options that read `flags` as options, write to the canary, or are malformed.
fn hostile_options(flags: &str, canary: &str, project: &str) -> [Vec<String>; 15] {
    let flags_file = format!("@{flags}");
    [
        words(["-I", &flags_file]),
        words(["-include", &flags_file]),
        words(["-isystem", &flags_file]),
        words([&flags_file]),
        words(["-MD", "-MF", canary]),
        words(["-o", canary]),
        words([&format!("-fplugin={flags}")]),
        words(["-Xclang", "-load", "-Xclang", flags]),
        words(["--config", flags]),
        words(["-D", "a\0b"]),
        words([&format!("-save-temps={canary}")]),
        words(["-B", project]),
        words(["-D", &format!("v={}", "(".repeat(5000))]),
        words(["-include", "/dev/zero"]),
        words([&format!("-I{}", "x".repeat(100_000))]),
    ]
}

/// Returns source files with hostile names or contents.
fn hostile_sources(canary: &str) -> [(&'static str, String); 11] {
    let sum = vec!["k"; 1500].join("+");
    let ifs: Vec<String> = (0..400).map(|n| format!("if (x=={n}) *p=k;")).collect();
    let ifs = ifs.join(" else ");
    [
        ("deep.cu", format!("const int k=1;\n__device__ int f() {{ return {sum}; }}\n")),
        ("ifs.cu", format!("const int k=1;\n__device__ void f(int*p,int x) {{{ifs}}}\n")),
        ("braces.cu", format!("__device__ void f() {{{}", "{".repeat(3000))),
        ("@flags.cu", USE.to_owned()),
        ("-x.cu", USE.to_owned()),
        ("zero.cu", "#include \"/dev/zero\"\n".to_owned()),
        ("self.cu", "#include \"self.cu\"\n".to_owned()),
        ("macros.cu", format!("#define A(x) x x x x\nint a = {}+1{};\n", "A(".repeat(25), ")".repeat(25))),
        ("empty.cu", String::new()),
        ("line.cu", format!("#line 1 \"{canary}\"\n{USE}")),
        ("odd\u{202e}\u{1b}.cu", USE.to_owned()),
    ]
}
