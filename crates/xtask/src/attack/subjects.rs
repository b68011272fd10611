//! Attacks with misbehaving implementations and compilers, and with mutated cubins.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use anyhow::Result;

use super::{Attack, AttackRun, path_text, words};
use crate::tools::{self, HEADER, command};

const GOOD: &str =
    r#"{"schema": "ptxsmith.module/1", "outcome": "accepted", "diagnostics": [], "variables": {}}"#;
/// Shell scripts for `exec:` subjects; `GOOD` stands for an observation.
const EXEC: [&str; 20] = [
    "kill -SEGV $$",
    "kill -9 $$",
    "kill -STOP $$",
    "sleep 1000",
    "sleep 1000 & exit 0",
    "setsid sleep 3 & exit 0",
    "exit 3",
    "true",
    "head -c 100000 /dev/urandom",
    "yes | head -c 50000000",
    "echo 'GOOD'",
    "echo 'GOOD'; echo 'GOOD'",
    "echo 'GOOD' | head -c 40",
    r#"echo '{"outcome": "refused", "diagnostics": [{"severity": "error", "message": "'$(head -c 3000000 /dev/zero | tr '\0' x)'"}]}'"#,
    r"printf '\033[2J\342\200\256'; exit 1",
    "yes >&2 & yes; wait",
    "dd if=/dev/zero of=big bs=1M count=4000 2>/dev/null; rm -f big",
    r#"echo '{"outcome": "accepted", "variables": {"a": {"size": 18446744073709551615, "bytes": "zz"}}}'"#,
    "echo 'null'",
    "trap '' TERM INT; sleep 1000",
];
/// Shell scripts for `serve:` subjects.
const SERVE: [&str; 10] = [
    "while read x; do echo nonsense; done",
    r#"while read x; do echo '{"id": 77, "observation": {"outcome": "refused"}}'; done"#,
    "exit 0",
    "read x; kill -SEGV $$",
    "yes",
    "while read x; do head -c 100000000 /dev/zero; done",
    "sleep 1000",
    "read x; exit 5",
    "exec 0<&-; sleep 1000",
    r#"while read x; do echo '{"id": null}'; done"#,
];

/// Shell scripts for a compiler that prints PTX into `$out`.
const COMPILERS: [&str; 16] = [
    "kill -SEGV $$",
    "kill -9 $$",
    "sleep 1000",
    "trap '' TERM INT; sleep 1000",
    "setsid sleep 3 & exit 0",
    "exit 3",
    "true",
    "head -c 100000 /dev/urandom > $out",
    "yes '.global .u8 a;' | head -c 20000000 > $out",
    "yes > $out",
    "yes >&2",
    "mkfifo $out",
    "ln -s /dev/zero $out",
    "ln -s /etc/passwd $out",
    r"printf 'x.cu:1:1: error: \033[2J\342\200\256\n' >&2; exit 1",
    "printf '.version 7.8\n.target sm_80\n.address_size 64\n.visible .global .u32 t[99999999999];' > $out",
];

/// A compiler that misbehaves is asked for globals of its own, and for those of a source.
pub fn compilers(attack: &mut Attack) -> Result<()> {
    const PART: &str = "hostile compilers";
    let version = "[ \"$1\" = --version ] && echo 'clang version 19.1.0' && exit 0";
    let find = "for word; do [ \"$before\" = -o ] && out=$word; before=$word; done";
    let [path, source] = ["clang++", "table.cu"].map(|name| attack.work.join(name));
    fs::write(&source, "__device__ int t[2] = {1, 2};\n")?;
    let [subject, source] = [format!("clang:{}", path.display()), path_text(&source)];
    for number in 0..attack.times(64) as usize {
        let body = COMPILERS[number / 2 % COMPILERS.len()];
        fs::write(&path, format!("#!/bin/sh\n{version}\n{find}\n{body}\n"))?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        let common = words(["--timeout", "1s", "--subject", &subject]);
        let arguments = match number % 2 {
            0 => [words(["emit", "check", &source]), common].concat(),
            _ => {
                let out = path_text(&attack.work.join("emitted"));
                [words(["emit", "run", "-q", "--time", "5s", "--out", &out]), common].concat()
            }
        };
        let what = format!("{}: {body}", arguments[1]);
        attack.run(PART, &AttackRun::new(&arguments, &[0, 1, 3], &what))?;
    }
    Ok(())
}

pub fn subjects(attack: &mut Attack) -> Result<()> {
    const PART: &str = "hostile implementations";
    let module = attack.work.join("module.ptx");
    fs::write(&module, format!("{HEADER}.global .s32 a = 5;\n.global .u64 p = a;\n"))?;
    let mut forms = Vec::new();
    for (kind, bodies) in [("exec", &EXEC[..]), ("serve", &SERVE[..])] {
        forms.extend(bodies.iter().map(|body| (kind, "spawn", body.replace("GOOD", GOOD))));
    }
    let ptxas = hostile_ptxas(attack)?;
    if ptxas.is_some() {
        for start in ["spawn", "fork"] {
            forms.extend((0..13).map(|behaviour| ("ptxas", start, behaviour.to_string())));
        }
    } else {
        attack.note(PART, "NOT TESTED as ptxas: cc is missing or does not build it");
    }
    for number in 0..attack.times(300) as usize {
        let (kind, start, behaviour) = &forms[number % forms.len()];
        let subject = match &ptxas {
            Some(path) if *kind == "ptxas" => format!("ptxas:{}", path.display()),
            _ => format!("{kind}:sh {}", path_text(&attack.script("subject.sh", behaviour)?)),
        };
        let arguments =
            words(["check", "--start", start, "--timeout", "1s", "--subject", &subject, &path_text(&module)]);
        let allowed: &[i32] = if *kind == "ptxas" { &[0, 1, 3] } else { &[0, 1, 2, 3] };
        let what: String = format!("{subject} {start}: {behaviour}").chars().take(200).collect();
        let run = AttackRun {
            environment: Some(("HOSTILE", behaviour)),
            ..AttackRun::new(&arguments, allowed, &what)
        };
        attack.run(PART, &run)?;
    }
    Ok(())
}

/// Builds a program that identifies itself as ptxas.
fn hostile_ptxas(attack: &Attack) -> Result<Option<PathBuf>> {
    let source = attack.work.join("ptxas.c");
    let path = attack.work.join("ptxas");
    fs::write(&source, include_str!("hostile_ptxas.c"))?;
    let output = command("cc", ["-O1", "-w", "-o"]).args([&path, &source]).output();
    Ok(output.is_ok_and(|output| output.status.success()).then_some(path))
}

pub fn cubins(attack: &mut Attack) -> Result<()> {
    const PART: &str = "mutated cubins";
    const SOURCES: [&str; 2] = [
        ".global .s32 a[4] = {1, 2, 3, 4};\n.global .u64 p[2] = {a, generic(a)+4};\n.const .f32 c = 1.5;\n",
        ".visible .entry k(.param .u64 o) { .reg .u64 r; ld.param.u64 r, [o]; st.global.u64 [r], r; ret; }\n.global .u8 x = 7;\n",
    ];
    let output = tools::output_of(&mut command(&attack.program, ["toolchain", "path", "13.5"]))?;
    if !output.status.success() {
        attack.note(PART, "NOT TESTED: ptxas 13.5 is not installed");
        return Ok(());
    }
    let ptxas = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let mut originals = Vec::new();
    for (nth, declarations) in SOURCES.into_iter().enumerate() {
        let source = attack.work.join(format!("source-{nth}.ptx"));
        fs::write(&source, format!("{HEADER}{declarations}"))?;
        let cubin = source.with_extension("cubin");
        tools::stdout_of(command(&ptxas, ["-c", "-arch", "sm_80", "-o"]).args([&cubin, &source]))?;
        originals.push((declarations, fs::read(cubin)?));
    }
    let [folder, programs, fake] = ["cubins", "programs", "fake-ptxas"].map(|name| attack.work.join(name));
    fs::create_dir(&folder)?;
    fs::create_dir(&programs)?;
    let real = shell_words::quote(&ptxas);
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *--version*|*--help*) exec {real} \"$@\";; esac\nout= in=\nwhile [ $# -gt 0 ]; do\n\
         case \"$1\" in -o|--output-file) out=$2; shift;; *.ptx) in=$1;; esac\nshift\ndone\n\
         number=$(sed -n 's/.*cubin_\\([0-9]*\\).*/\\1/p' \"$in\" | head -1)\n\
         [ -n \"$number\" ] && [ -n \"$out\" ] && cp {}/\"$number\" \"$out\"\nexit 0\n",
        shell_words::quote(&path_text(&folder))
    );
    fs::write(&fake, script)?;
    fs::set_permissions(&fake, fs::Permissions::from_mode(0o755))?;
    let number = attack.times(2000);
    for nth in 0..number {
        let (declarations, cubin) = attack.pick(&originals);
        let mut cubin = cubin.clone();
        for _ in 0..attack.random.usize(1..=8) {
            let start = attack.random.usize(..cubin.len());
            let end = (start + attack.pick(&[1, 2, 4, 8])).min(cubin.len());
            let byte = vec![attack.random.u8(..)];
            let piece = attack.pick(&[byte, vec![0xff; 8], vec![0; 8], vec![0xff, 0xff, 0xff, 0x7f]]).clone();
            cubin.splice(start..end, piece);
        }
        if nth % 20 == 0 {
            cubin.truncate(attack.random.usize(..cubin.len()));
        }
        fs::write(folder.join(nth.to_string()), cubin)?;
        fs::write(
            programs.join(format!("{nth}.ptx")),
            format!("{HEADER}.global .u8 cubin_{nth};\n{declarations}"),
        )?;
    }
    let numbers: Vec<u32> = (0..number).collect();
    for group in numbers.chunks(250) {
        let first = words(["check", "-q", "--subject", &format!("ptxas:{}", fake.display())]);
        let paths = group.iter().map(|nth| path_text(&programs.join(format!("{nth}.ptx"))));
        let arguments: Vec<String> = first.into_iter().chain(paths).collect();
        attack.run(PART, &AttackRun::new(&arguments, &[0, 1, 3], &format!("cubins from {}", group[0])))?;
    }
    attack.note(PART, &format!("{number} cubins in groups of 250"));
    Ok(())
}
