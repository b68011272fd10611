//! What cubins of real releases hold, on machines that have them. Elsewhere these tests say that they tested
//! nothing.

use ptxsmith_subject::cuobjdump::Cuobjdump;
use ptxsmith_subject::toolchain::max_ptx;
use ptxsmith_subject::toolchain::{Tool, ToolKind, Toolchains};
use ptxsmith_subject::{Cancel, Limits, Observation, Outcome, OutputForm, Ptxas, Request, Subject, cubin};

/// Every installed release, or a line that says that there is none.
fn releases(test: &str) -> Vec<Ptxas> {
    let Ok(toolchains) = Toolchains::for_user() else {
        eprintln!("NOT TESTED: {test}: no home directory");
        return Vec::new();
    };
    let installed = toolchains.list().into_iter().filter_map(|listed| Some((listed.release, listed.path?)));
    let open = |(release, path): (&ptxsmith_subject::toolchain::Release, _)| {
        Ptxas::open(release.name(), path, Limits::default(), Cancel::new()).unwrap()
    };
    let releases: Vec<_> = installed.map(open).collect();
    if releases.is_empty() {
        eprintln!("NOT TESTED: {test}: no release is installed");
    }
    releases
}

fn version(subject: &Ptxas) -> &str {
    subject.description().version.as_deref().and_then(max_ptx).unwrap()
}

/// Everything that this package knows to be in a cubin, as far as a release and a target take it.
fn everything(version: &str, target: &str, relocatable: bool) -> String {
    let mut text = format!(
        ".version {version}\n.target {target}\n.address_size 64\n
        .extern .global .u32 ext; .extern .const .u32 extc;
        .visible .global .align 16 .u32 g = 5; .weak .global .u32 w = 3; .global .u8 zero[24];
        .common .global .align 32 .u32 com[4]; .global .attribute(.managed) .u32 man = 7;
        .const .align 8 .u8 c[40] = {{7}}; .weak .const .u32 wc = 8; .global .texref tex;
        .visible .func f() {{ .global .u32 inner = 1; ret; }} .weak .func wf() {{ ret; }} .func sf() {{ ret; }}
        .visible .entry kern() {{ .shared .align 64 .u8 s[3]; .shared .u64 t; st.shared.u8 [s], 1; ret; }}
        .shared .u32 shared_of_all; .shared .align 16 .u16 and_another;
        .visible .global .u64 whole[16] = {{g, g+8, g+-8, generic(g)+8, w, com+4, man, c+4, generic(c)+4, wc, f, wf, sf,
            kern, ext, generic(extc)}};
        .visible .const .u64 in_const[4] = {{g, generic(c), c+4, kern}};
        .visible .global .u32 narrow[4] = {{g, 0, generic(c), 0}};\n"
    );
    for of in ["g", "g+260", "generic(c)+4", "c+260", "kern", "f"] {
        let name: String = of.chars().filter(char::is_ascii_alphanumeric).collect();
        let lanes: Vec<_> = (0..8).map(|byte| format!("0xff{}({of})", "00".repeat(byte))).collect();
        text += &format!(".visible .global .u8 lanes_{name}[8] = {{{}}};\n", lanes.join(", "));
    }
    let number: u32 = target.trim_start_matches("sm_").parse().unwrap();
    if relocatable && number >= 90 && !version.starts_with("7.") {
        text += ".global .attribute(.unified(1, 2)) .u64 uni = g; .visible .global .u64 of_uni = uni;\n";
    }
    text
}

#[test]
fn every_installed_release_is_read_completely_and_by_both_readers() {
    let cuobjdump = Toolchains::for_user().ok().and_then(|toolchains| {
        let path = toolchains.tool_path(Tool::newest(ToolKind::Cuobjdump)?)?;
        Some(Cuobjdump::new(path, Cancel::new()))
    });
    if cuobjdump.is_none() {
        eprintln!("NOT TESTED: the second reader of cubins: ptxsmith toolchain install cuobjdump");
    }
    for subject in releases("complete reading") {
        let name = subject.id().to_owned();
        let targets = subject.description().targets.clone();
        // In executable output of these releases a link between sections is wrong, which cuobjdump does not
        // take.
        let links_broken = |relocatable: bool| !relocatable && ["12.0", "12.1", "12.2"].contains(&&*name);
        let version = version(&subject).to_owned();
        for form in [OutputForm::Executable, OutputForm::Relocatable] {
            let relocatable = form == OutputForm::Relocatable;
            for target in ["sm_50", "sm_75", "sm_80", "sm_90", "sm_100", "sm_120"] {
                if !targets.iter().any(|known| known == target) {
                    continue;
                }
                let text = everything(&version, target, relocatable);
                let (finished, bytes) = subject.assemble(&Request::new(&text, target).in_form(form)).unwrap();
                let bytes = bytes.unwrap_or_else(|| panic!("{name} {target}: {}", finished.stderr.text()));
                let variables =
                    cubin::read(&bytes).unwrap_or_else(|error| panic!("{name} {target}: {error}"));
                let whole = variables["whole"].addresses.as_ref().unwrap();
                // `.const` and device functions are bytes in executable output.
                assert_eq!(whole.len(), if relocatable { 16 } else { 11 }, "{name} {target}: {whole:?}");
                assert_eq!(variables.contains_key("uni"), text.contains(" uni "), "{name} {target}");
                if target != "sm_50"
                    && !links_broken(relocatable)
                    && let Some(cuobjdump) = &cuobjdump
                {
                    assert_eq!(cuobjdump.read(&bytes).unwrap(), variables, "{name} {target} {relocatable}");
                }
            }
        }
    }
}

#[test]
fn an_address_that_overreaches_its_variable_shows_with_its_neighbour_unharmed_in_the_file() {
    for subject in releases("canaries") {
        let header = ".version 7.7\n.target sm_80\n.address_size 64\n";
        for body in [
            ".global .u32 g; .global .u32 low = 0x11111111; .global .u32 a = g; .global .u32 high = 0x22222222;",
            ".global .u32 g; .global .u32 high = 0x22222222; .global .u32 a = g; .global .u32 low = 0x11111111;",
        ] {
            let ptx = format!("{header}{body}\n");
            let Observation { outcome, variables, .. } =
                subject.observe(&Request::new(&ptx, "sm_80")).unwrap();
            assert_eq!(outcome, Outcome::Accepted, "{}", subject.id());
            let over: Vec<_> =
                variables["a"].overreaching().map(|address| (address.offset, address.width)).collect();
            assert_eq!((variables["a"].size, over), (Some(4), vec![(0, 8)]), "{}", subject.id());
            assert_eq!(variables["low"].bytes.as_deref(), Some(&[0x11; 4][..]), "{}", subject.id());
            assert_eq!(variables["high"].bytes.as_deref(), Some(&[0x22; 4][..]), "{}", subject.id());
        }
    }
}

#[test]
fn the_table_of_encodings_was_measured_with_every_known_minor_release() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/relocations.md");
    let page = std::fs::read_to_string(page).unwrap();
    let measured = page.lines().find_map(|line| line.strip_prefix("Measured with ptxas ")).unwrap();
    let (releases, _) = measured.split_once(';').unwrap();
    let measured: Vec<&str> = releases.split(", ").collect();
    let mut known: Vec<&str> =
        ptxsmith_subject::toolchain::RELEASES.iter().map(|release| release.minor()).collect();
    known.dedup();
    assert_eq!(measured, known, "cargo xtask relocations measures them again");
}
