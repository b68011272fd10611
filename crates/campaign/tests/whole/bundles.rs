//! Bundles of findings: folders and archives of a campaign's findings and of listed deviations.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::common::bare::is_without_tools;
use crate::common::{described, implementation, module, session};
use flate2::read::GzDecoder;
use ptxsmith_campaign::Failure;
use ptxsmith_campaign::bundle::{BundleOptions, WrittenBundle, bundle};
use ptxsmith_campaign::check::{self, check};
use ptxsmith_subject::{Description, Observation, Request, SubjectSpec};
use ptxsmith_testing::{known_rules, observe, right};

/// Runs this test where it finds no tools of the user's and installs none.
fn without_tools(test: &str, body: impl FnOnce()) {
    if is_without_tools(&format!("bundles::{test}"), "", None) {
        body();
    }
}

/// A release of NVIDIA's, by its id, that has all listed deviations of its version.
fn listed(id: &str, version: &'static str) -> SubjectSpec {
    let description = Description {
        id: id.to_owned(),
        lineage: Some("nvidia".to_owned()),
        version: Some(version.to_owned()),
        relocations: Some(true),
        ..Description::default()
    };
    let maker = ptxsmith_diff::Implementation { lineage: Some("nvidia"), version: Some(version) };
    let rules = known_rules(maker);
    described(description, move |request| observe(maker, &rules, request))
}

/// Bundles these ids, with a campaign's folder and with releases.
fn bundled(
    directory: &Path,
    ids: &[&str],
    from: &Path,
    subjects: &[SubjectSpec],
) -> Result<Vec<WrittenBundle>, Failure> {
    let ids: Vec<String> = ids.iter().map(|&id| id.to_owned()).collect();
    let out = directory.join("bundles");
    bundle(&session(7).0, &BundleOptions { ids: &ids, from, subjects, out: &out })
}

/// Why nothing is bundled.
fn refused(directory: &Path, id: &str, from: &Path, subjects: &[SubjectSpec]) -> String {
    match bundled(directory, &[id], from, subjects) {
        Err(Failure::BadInput(message)) => message,
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("{id} is bundled"),
    }
}

/// The files of a folder by name, and whether each is a program. The archive has the same.
fn files(written: &WrittenBundle) -> BTreeMap<String, (String, bool)> {
    use std::os::unix::fs::PermissionsExt;
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(&written.folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let mode = path.metadata().unwrap().permissions().mode();
        files.insert(name, (std::fs::read_to_string(&path).unwrap(), mode & 0o111 != 0));
    }
    let name = written.folder.file_name().unwrap().to_str().unwrap();
    assert_eq!(written.archive, written.folder.with_file_name(format!("{name}.tar.gz")));
    let mut packed = BTreeMap::new();
    let archive = std::fs::File::open(&written.archive).unwrap();
    for entry in tar::Archive::new(GzDecoder::new(archive)).entries().unwrap() {
        let mut entry = entry.unwrap();
        let header = entry.header();
        assert_eq!(header.mtime().unwrap(), 0, "the same files are the same bytes at any time");
        let mode = header.mode().unwrap();
        assert!([0o755, 0o644].contains(&mode), "{mode:o}");
        let path = entry.path().unwrap().strip_prefix(name).unwrap().to_str().unwrap().to_owned();
        let mut text = String::new();
        entry.read_to_string(&mut text).unwrap();
        packed.insert(path, (text, mode == 0o755));
    }
    assert_eq!(packed, files);
    files
}

fn names(files: &BTreeMap<String, (String, bool)>) -> Vec<&str> {
    files.keys().map(String::as_str).collect()
}

/// The folder of a campaign that checked these declarations.
fn checked(directory: &Path, declarations: &str, subject: SubjectSpec) -> PathBuf {
    let (file, out) = (directory.join("a.ptx"), directory.join("campaign"));
    std::fs::write(&file, module(declarations)).unwrap();
    let options = check::FileCheckOptions {
        files: vec![file],
        subjects: vec![subject],
        timeout: None,
        by_case: false,
        out: Some(out.clone()),
        replace: false,
        counterpart: |_| None,
    };
    check(&session(7).0, options).unwrap();
    out
}

/// Stores 41 for each byte of a variable that is 42.
fn less_42(request: &Request<'_>) -> Observation {
    let mut seen = right(request);
    for bytes in seen.variables.values_mut().filter_map(|variable| variable.bytes.as_mut()) {
        bytes.iter_mut().filter(|byte| **byte == 42).for_each(|byte| *byte = 41);
    }
    seen
}

#[test]
fn a_finding_of_a_campaign_is_a_folder_and_an_archive_of_the_same_files() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let subject = || implementation("mine", less_42);
    let from = checked(directory, ".visible .global .u8 x = 42;", subject());
    let report = std::fs::read_to_string(from.join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let id = report["findings"][0]["id"].as_str().unwrap();
    assert!(id.starts_with("wrong-value"), "{id}");

    // The beginning of an id is enough where only one begins so, and releases play no part.
    for (id, subjects) in [(id, vec![]), ("wrong-v", vec![]), (id, vec![subject()])] {
        let written = bundled(directory, &[id], &from, &subjects).unwrap();
        let files = files(&written[0]);
        let program = format!("{}.ptx", report["findings"][0]["id"].as_str().unwrap());
        let expected = ["deviation.ptx", "ptxas.py", "report.md", "reproduce.sh", "show.py", &program];
        assert_eq!(names(&files), expected);
        assert_eq!(files[&program], (report["findings"][0]["program"].as_str().unwrap().to_owned(), false));
        let (text, executable) = &files["report.md"];
        assert!(!executable && text.contains("mine") && text.contains("silent wrong value"), "{text}");
        let (script, executable) = &files["reproduce.sh"];
        assert!(*executable && script.starts_with("#!/bin/sh\n"), "{script}");
        assert!(script.contains(r#"wrong='x {"bytes":"29""#), "{script}");
    }

    let message = refused(directory, "no-such", &from, &[]);
    let none = "no finding and no listed deviation `no-such`, or more than one; ";
    assert_eq!(message, format!("{none}{} has {id}; docs/deviations/ has the list", from.display()));
    let nowhere = directory.join("nowhere");
    let message = refused(directory, "no-such", &nowhere, &[]);
    let there = format!("{} is no folder of a campaign (--from)", nowhere.display());
    assert_eq!(message, format!("{none}{there}; docs/deviations/ has the list"));
    let empty = directory.join("other");
    std::fs::create_dir(&empty).unwrap();
    let conforming = checked(&empty, ".global .u8 x = 42;", implementation("right", right));
    assert!(refused(directory, "no-such", &conforming, &[]).contains(" has none; "));
    // A folder that holds no campaign is not taken for one without findings.
    assert!(refused(directory, id, &empty, &[]).contains("report.json"));
}

#[test]
fn a_listed_deviation_is_taken_from_the_campaign_unless_releases_are_named() {
    without_tools("a_listed_deviation_is_taken_from_the_campaign_unless_releases_are_named", || {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        let id = "remainder-unsigned";
        let declaration = ".global .s64 mine = (-9 % -5) / 2;";
        let release = || listed("ptxas@13.5", "13.5.37");
        let from = checked(directory, declaration, release());
        let program = |subjects: &[SubjectSpec]| {
            let written = bundled(directory, &[id], &from, subjects).unwrap();
            assert_eq!(written[0].folder, directory.join("bundles").join(id));
            files(&written[0])["remainder-unsigned.ptx"].0.clone()
        };
        assert!(program(&[]).contains("mine"));
        let own = program(&[release()]);
        assert!(own.contains(".global .s64 x = (-7 % -3) / 2;"), "{own}");
    });
}

#[test]
fn a_listed_deviation_is_shown_to_every_release_that_is_named() {
    without_tools("a_listed_deviation_is_shown_to_every_release_that_is_named", || {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        // Killed by a division by zero: up to 12.6.
        let id = "division-by-zero-crash";
        let releases = [
            listed("ptxas@13.5", "13.5.37"),
            listed("ptxas@12.6", "12.6.85"),
            listed("ptxas@11.7", "11.7.99"),
        ];
        let nowhere = directory.join("nowhere");
        let written = bundled(directory, &[id, "quotient-overflow-crash"], &nowhere, &releases).unwrap();
        assert_eq!(written.len(), 2);
        let files = files(&written[0]);
        let (report, _) = &files["report.md"];
        for part in [
            "# ptxas 12.6.85: ",
            "an integer division by zero crashes the compiler (SIGFPE)",
            "Cuda compilation tools, release 12.6, V12.6.85",
            "| `ptxas@11.7` | 11.7.99 | crash |\n| `ptxas@12.6` | 12.6.85 | crash |\n| `ptxas@13.5` | 13.5.37 | ",
            "| first seen | 2026-11-21 |",
        ] {
            assert!(report.contains(part), "no {part} in {report}");
        }
        assert!(files["reproduce.sh"].0.contains("128 + 8"));
        let message = refused(directory, id, &nowhere, &releases[..1]);
        let list = "which is listed for ptxas 11.7 to 12.6; name a release with --subject ptxas@RELEASE";
        assert_eq!(message, format!("ptxas@13.5 does not show {id}, {list}"));
    });
}

/// An ELF file with the code of these kernels.
fn cubin(kernels: &[(&str, &[u8])]) -> Vec<u8> {
    let mut names = vec![0];
    let (mut body, mut sections) = (Vec::new(), vec![[0_u64; 4]]);
    let kernels = kernels.iter().map(|(name, code)| (format!(".text.{name}"), code.to_vec(), 1));
    for (name, code, kind) in kernels.chain([(".shstrtab".to_owned(), Vec::new(), 3)]) {
        let at = names.len() as u64;
        names.extend(name.bytes().chain([0]));
        let data = if kind == 3 { names.clone() } else { code };
        sections.push([at, kind, 64 + body.len() as u64, data.len() as u64]);
        body.extend(data);
    }
    let table = 64 + body.len() as u64;
    let mut file = b"\x7fELF\x02\x01\x01\x33".to_vec();
    file.extend([0; 8]);
    file.extend([2_u16, 190].iter().flat_map(|half| half.to_le_bytes()));
    file.extend(1_u32.to_le_bytes());
    file.extend([0, 0, table].iter().flat_map(|long| long.to_le_bytes()));
    file.extend(0_u32.to_le_bytes());
    let halves = [64, 0, 0, 64, sections.len() as u16, sections.len() as u16 - 1];
    file.extend(halves.iter().flat_map(|half| half.to_le_bytes()));
    file.extend(body);
    for [name, kind, at, size] in sections {
        file.extend([name as u32, kind as u32].iter().flat_map(|word| word.to_le_bytes()));
        file.extend([0, 0, at, size].iter().flat_map(|long| long.to_le_bytes()));
        file.extend([0_u32; 2].iter().flat_map(|word| word.to_le_bytes()));
        file.extend([1_u64, 0].iter().flat_map(|long| long.to_le_bytes()));
    }
    file
}

/// The id of a ptxas in a folder of its own, a command that leaves this cubin whatever it is given.
fn ptxas(directory: &Path, name: &str, cubin: &[u8]) -> String {
    use std::os::unix::fs::PermissionsExt;
    let own = directory.join(name);
    std::fs::create_dir(&own).unwrap();
    let (program, output) = (own.join("ptxas"), own.join("output"));
    std::fs::write(&output, cubin).unwrap();
    let script = format!(
        "#!/bin/sh\ncase $1 in\n--version) echo 'ptxas, release 13.5, V13.5.37' ;;\n--help) echo none ;;\n\
        *) for word; do [ \"$before\" = -o ] && cat '{}' > \"$word\"; before=$word; done ;;\nesac\n",
        output.display()
    );
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    format!("ptxas:{}", program.display())
}

#[test]
fn the_code_of_a_wrong_kernel_is_told_by_its_hash_from_that_of_a_right_one() {
    without_tools("the_code_of_a_wrong_kernel_is_told_by_its_hash_from_that_of_a_right_one", || {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        let wrong: [(&str, &[u8]); 2] = [("k", b"wrong"), ("other", b"same")];
        let one = ptxas(directory, "one", &cubin(&wrong));
        let two = ptxas(directory, "two", &cubin(&wrong[..1]));
        let mended = ptxas(directory, "mended", &cubin(&[("k", b"right")]));
        let optioned = format!("{} -O0", ptxas(directory, "optioned", &cubin(&[("k", b"optioned")])));
        let unlike = Description { id: mended.clone(), relocations: Some(true), ..Description::default() };
        let releases = [
            listed(&one, "13.5.37"),
            listed(&two, "13.5.37"),
            listed(&optioned, "13.5.37"),
            described(unlike, right),
        ];
        let nowhere = directory.join("nowhere");
        let written = bundled(directory, &["negative-index-unsigned"], &nowhere, &releases).unwrap();
        let files = files(&written[0]);
        let script = &files["reproduce.sh"].0;
        let told: Vec<&str> = script.lines().filter(|line| line.contains(" 'the machine code of ")).collect();
        let hash = |code: &str| {
            use sha2::Digest;
            sha2::Sha256::digest(code).iter().map(|byte| format!("{byte:02x}")).collect::<String>()
        };
        let line = |kernel: &str, code: &str, verb: &str, of: &str, is: &str| {
            format!("  *'{kernel} {}'*) {verb} 'the machine code of {of}, which is {is}' ;;", hash(code))
        };
        let both = format!("{two} (13.5.37) and {one} (13.5.37)");
        assert_eq!(
            told,
            [
                line("k", "wrong", "reproduced", &both, "wrong"),
                line("other", "same", "reproduced", &format!("{one} (13.5.37)"), "wrong"),
                line("k", "right", "not_reproduced", &mended, "right"),
            ]
        );
    });
}
