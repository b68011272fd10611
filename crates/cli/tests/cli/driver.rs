//! The subject `driver`, with a stub of the driver library. No device is needed, and none is tested.

use std::path::{Path, PathBuf};
use std::process::Output;

use crate::common::*;
use assert_cmd::Command;
use ptxsmith_suite::selfcheck;
use serde_json::Value;

/// Returns the stub, a library that is built with the tests.
fn stub() -> PathBuf {
    let name =
        format!("{}ptxsmith_driver_stub{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    std::env::current_exe().unwrap().with_file_name(name)
}

/// Returns the program under test, with the stub and the given script as driver.
fn on_stub(directory: &Path, script: &str) -> Command {
    let path = file(directory, "script", script);
    let mut command = ptxsmith();
    command.env("PTXSMITH_DRIVER_STUB", path).env("PTXSMITH_LIBCUDA", stub());
    command
}

const DEVICE: &str = "version 12040\ndevices 1\ndevice 9.0 Stub Device\n";

fn check(directory: &Path, script: &str, modules: &[(&str, &str)], more: &[&str]) -> (Output, Value) {
    let folder = directory.join("modules");
    std::fs::create_dir_all(&folder).unwrap();
    for (name, text) in modules {
        file(&folder, name, &module(text));
    }
    let out = directory.join("out");
    let mut command = on_stub(directory, &format!("{DEVICE}{script}"));
    command.args(["check", "--quiet", "--jobs", "1", "--subject", "driver", "--out"]);
    let output = command.args([&out, &folder]).args(more).output().unwrap();
    let report = std::fs::read(out.join("report.json")).unwrap_or_default();
    (output, serde_json::from_slice(&report).unwrap_or_default())
}

fn described(command: &mut Command) -> Value {
    let output = command.args(["subjects", "--subject", "driver", "--json"]).output().unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    json["subjects"][0].clone()
}

#[test]
fn what_stands_in_the_way_of_a_device_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let reason = |command: &mut Command, kind: &str| {
        let entry = described(command);
        assert_eq!((&entry["available"], &entry["unavailable"]), (&false.into(), &kind.into()), "{entry}");
        entry["reason"].as_str().unwrap().to_owned()
    };
    let no_library = reason(ptxsmith().env("PTXSMITH_LIBCUDA", "/nonexistent/libcuda.so.1"), "not-found");
    assert!(no_library.starts_with("/nonexistent/libcuda.so.1 cannot be loaded: "), "{no_library}");
    let no_driver = file(directory.path(), "libcuda.so.1", "no library");
    reason(ptxsmith().env("PTXSMITH_LIBCUDA", no_driver), "cannot-run");
    let no_device = reason(&mut on_stub(directory.path(), ""), "no-device");
    assert!(no_device.contains("CUDA_ERROR_NO_DEVICE"), "{no_device}");
    reason(&mut on_stub(directory.path(), &format!("{DEVICE}error cuInit 999")), "cannot-run");
    reason(&mut on_stub(directory.path(), "this makes no sense"), "cannot-run");
}

#[test]
fn a_run_without_a_driver_compares_nothing() {
    let directory = tempfile::tempdir().unwrap();
    for subject in ["driver", "driver:ptxas@13.5"] {
        let output = ptxsmith()
            .args(["run", "--libcuda", "/nonexistent/libcuda.so.1", "--quiet", "--cases", "10"])
            .args(["--subject", subject, "--out"])
            .arg(directory.path().join("out"))
            // Nothing may be installed or downloaded.
            .env("PATH", "/nonexistent")
            .output()
            .unwrap();
        assert_eq!(status(&output), 3, "{}", stderr(&output));
        assert!(stderr(&output).contains(&format!("{subject} is not available: ")), "{}", stderr(&output));
    }
}

#[test]
fn the_device_is_described() {
    let directory = tempfile::tempdir().unwrap();
    let entry = described(&mut on_stub(directory.path(), DEVICE));
    assert_eq!(entry["available"], true, "{entry}");
    assert_eq!((&entry["version"], &entry["max_ptx"]), (&"12.4".into(), &"8.4".into()));
    assert_eq!(entry["machine"]["device"], "Stub Device");
    assert_eq!(entry["machine"]["compute capability"], "9.0");
    assert_eq!(entry["machine"]["highest clock of the memory"], "2000000 kHz");
    assert_eq!(entry["targets"].as_array().unwrap().last().unwrap(), "sm_90");
    assert_eq!(entry["relocations"], false);
}

#[test]
fn values_and_addresses_are_read_back_from_memory() {
    let directory = tempfile::tempdir().unwrap();
    let text = ".global .u32 a[2] = {5, 6};\n.const .u16 c = 7;\n.global .u64 p[2] = {a+4, 1};";
    let good = "variable a 0500000006000000\nvariable c 0700\nvariable p 00000000000000000100000000000000\n";
    let conforming = format!("{good}address p 0 8 a 4\n");
    let (output, report) = check(directory.path(), &conforming, &[("a.ptx", text)], &[]);
    assert_eq!(status(&output), 0, "{}{}", stdout(&output), stderr(&output));
    assert_eq!((&report["compared"], &report["conform"]), (&3.into(), &3.into()), "{report}");

    for (script, class) in [
        (good.replace("0500", "0400") + "address p 0 8 a 4\n", "wrong-value"),
        (format!("{good}address p 0 8 a 5\n"), "wrong-address"),
        (format!("{good}address p 0 8 c 4\n"), "wrong-address"),
    ] {
        let (output, report) = check(directory.path(), &script, &[("a.ptx", text)], &[]);
        assert_eq!(status(&output), 1, "{}{}", stdout(&output), stderr(&output));
        assert_eq!(report["findings"][0]["class"], class, "{script}: {report}");
    }
}

#[test]
fn a_write_past_a_variable_is_seen_in_the_fence_behind_it() {
    let directory = tempfile::tempdir().unwrap();
    let text = ".global .u32 x[4];\n.global .u32 q = 5;";
    let values = "variable x 00000000000000000000000000000000\nvariable q 05000000\n";
    let (output, _) = check(directory.path(), values, &[("a.ptx", text)], &[]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    // The bytes are once explained by the address of a variable, and once by nothing.
    for (addend, class) in [(4, "wrong-address"), (0x10_0000, "crash")] {
        let script = format!("{values}address q 0 8 x {addend}\n");
        let (output, report) = check(directory.path(), &script, &[("a.ptx", text)], &[]);
        assert_eq!(status(&output), 1, "{}", stderr(&output));
        assert_eq!(report["findings"][0]["class"], class, "{report}");
    }
}

#[test]
fn each_error_of_the_driver_has_its_own_outcome() {
    let directory = tempfile::tempdir().unwrap();
    let modules = [("a.ptx", ".global .u8 a = 1;"), ("b.ptx", ".global .u8 b = 2;")];
    let script = |line: &str| format!("variable a 01\nvariable b 02\n{line}\n");
    let outcome = |line: &str| check(directory.path(), &script(line), &modules, &[]);

    let log = "ptxas application ptx input, line 4; error   : Unknown thing\\n";
    let (output, report) = outcome(&format!("if b load 218 {log}"));
    assert_eq!(status(&output), 1, "{}", stderr(&output));
    assert_eq!(report["findings"][0]["class"], "refuses-valid", "{report}");
    assert!(report["findings"][0].to_string().contains("Unknown thing"), "{report}");
    // The other module is still compared.
    assert_eq!(report["conform"], 1, "{report}");

    for (code, name) in [(222, "UNSUPPORTED_PTX_VERSION"), (209, "NO_BINARY_FOR_GPU"), (2, "OUT_OF_MEMORY")] {
        let (output, report) = outcome(&format!("if b load {code}"));
        assert_eq!(status(&output), 0, "{code}: {}{report}", stderr(&output));
        assert_eq!((&report["conform"], &report["findings"]), (&1.into(), &Value::Array(Vec::new())));
        assert!(report["not_compared"].to_string().contains('1'), "{name}: {report}");
    }
    let (output, _) = outcome("if u8 load 222");
    assert_eq!(status(&output), 3, "nothing is compared: {}", stderr(&output));
}

#[test]
fn a_module_that_kills_the_driver_costs_nothing_but_itself() {
    let directory = tempfile::tempdir().unwrap();
    let modules =
        [("a.ptx", ".global .u8 a = 1;"), ("b.ptx", ".global .u8 b = 2;"), ("c.ptx", ".global .u8 c = 3;")];
    let script = "variable a 01\nvariable b 02\nvariable c 03\nif b signal 8\n";
    let (output, report) = check(directory.path(), script, &modules, &[]);
    assert_eq!(status(&output), 1, "{}", stderr(&output));
    assert_eq!(report["findings"][0]["class"], "crash", "{report}");
    assert_eq!(report["findings"][0]["observed"]["signal"], 8);
    assert_eq!(report["conform"], 2, "{report}");
}

/// Creates a cache with a fake release of ptxas: a script that turns every module into an ELF file without
/// sections, followed by the text that the stub reads.
fn cache_with_assembler(directory: &Path, before: &str) -> PathBuf {
    let folder = directory.join("cache/toolchains/13.5.37/bin");
    std::fs::create_dir_all(&folder).unwrap();
    let ident = r"\177ELF\002\001\001\063\007\000\000\000\000\000\000\000";
    let kind = r"\002\000\276\000\001\000\000\000";
    let zeros = r"\000\000\000\000".repeat(7);
    let sizes = r"\100\000\000\000\000\000\100\000\000\000\000\000";
    let script = format!(
        "#!/bin/sh\ncase \"$1\" in\n\
         --version) echo 'ptxas: a script'; echo 'Cuda compilation tools, release 13.5, V13.5.37' ;;\n\
         --help) echo \"--gpu-name 'sm_75','sm_80','sm_90','sm_100'\" ;;\n\
         *) {before}\n{{ printf '{ident}{kind}{zeros}{sizes}'; cat in.ptx; }} > out.cubin ;;\nesac\n"
    );
    let ptxas = file(&folder, "ptxas", &script);
    std::fs::set_permissions(ptxas, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    directory.join("cache")
}

/// Like [`check`], with cubins made by a script; `before` is executed first.
fn check_cubins(directory: &Path, before: &str, script: &str, modules: &[(&str, &str)]) -> (Output, Value) {
    let folder = directory.join("modules");
    std::fs::create_dir_all(&folder).unwrap();
    for (name, text) in modules {
        file(&folder, name, &module(text));
    }
    let out = directory.join("out");
    let mut command = on_stub(directory, &format!("{DEVICE}{script}"));
    command.env("PTXSMITH_CACHE", cache_with_assembler(directory, before));
    command.args(["check", "--quiet", "--jobs", "1", "--subject", "driver:ptxas@13.5", "--out"]);
    let output = command.args([&out, &folder]).output().unwrap();
    let report = std::fs::read(out.join("report.json")).unwrap_or_default();
    (output, serde_json::from_slice(&report).unwrap_or_default())
}

const KERNEL: &str = ".global .u32 g[2] = {5, 6};\n.visible .entry k(.param .u64 out) { .reg .u64 o, p; .reg .u32 r;\n\
    ld.param.u64 o, [out]; ld.global.u32 r, [g + 4]; st.global.u32 [o], r; ret; }";

#[test]
fn cubins_of_a_release_are_loaded_and_read_back() {
    let directory = tempfile::tempdir().unwrap();
    let text = ".global .u32 a[2] = {5, 6};\n.global .u64 p[2] = {a+4, 1};";
    let good = "variable a 0500000006000000\nvariable p 00000000000000000100000000000000\n";
    let one = |script: &str| check_cubins(directory.path(), "", script, &[("a.ptx", text)]);
    let (output, report) = one(&format!("{good}address p 0 8 a 4\n"));
    assert_eq!(status(&output), 0, "{}{}", stdout(&output), stderr(&output));
    assert_eq!((&report["compared"], &report["conform"]), (&2.into(), &2.into()), "{report}");
    let subject = &report["subjects"][0];
    assert_eq!((&subject["id"], &subject["version"]), (&"driver:ptxas@13.5".into(), &"13.5.37".into()));

    let (output, report) = one(&format!("{good}address p 0 8 a 0\n"));
    assert_eq!(status(&output), 1, "{}", stderr(&output));
    assert_eq!(report["findings"][0]["class"], "wrong-address", "{report}");
}

#[test]
fn kernels_run_from_text_and_from_cubins() {
    let directory = tempfile::tempdir().unwrap();
    let modules = [("k.ptx", KERNEL)];
    for (left, code) in [("06000000", 0), ("05000000", 1)] {
        let script = format!("variable g 0500000006000000\nkernel k {left}\n");
        for (output, report) in [
            check(directory.path(), &script, &modules, &[]),
            check_cubins(directory.path(), "", &script, &modules),
        ] {
            assert_eq!(status(&output), code, "{left}: {}{report}", stderr(&output));
            let operands = &report["subjects"][0]["operands"];
            assert_eq!((&operands["seen"], &operands["total"]), (&1.into(), &1.into()), "{report}");
            if code == 1 {
                assert_eq!(report["findings"][0]["class"], "wrong-value", "{report}");
            }
        }
    }
}

#[test]
fn what_the_assembler_and_the_loader_refuse_are_told_apart() {
    let directory = tempfile::tempdir().unwrap();
    let modules = [("a.ptx", ".global .u8 a = 1;"), ("b.ptx", ".global .u8 b = 2;")];
    let script = |line: &str| format!("variable a 01\nvariable b 02\n{line}\n");
    let refuse =
        "grep -q ' b ' in.ptx && { echo 'ptxas in.ptx, line 4; error   : Not today' >&2; exit 255; }";
    let (output, report) = check_cubins(directory.path(), refuse, &script(""), &modules);
    assert_eq!(status(&output), 1, "{}", stderr(&output));
    assert_eq!((&report["findings"][0]["class"], &report["conform"]), (&"refuses-valid".into(), &1.into()));
    assert!(report["findings"][0].to_string().contains("Not today"), "{report}");

    let kill = "grep -q ' b ' in.ptx && kill -SEGV $$";
    let (output, report) = check_cubins(directory.path(), kill, &script(""), &modules);
    assert_eq!(status(&output), 1, "{}", stderr(&output));
    assert_eq!(report["findings"][0]["observed"]["signal"], 11, "{report}");

    // Results of the loader: not a cubin, a cubin for another device, an error in the loader.
    let (output, report) = check_cubins(directory.path(), "", &script("if b load 200"), &modules);
    assert_eq!(status(&output), 1, "{}", stderr(&output));
    assert_eq!((&report["findings"][0]["class"], &report["conform"]), (&"refuses-valid".into(), &1.into()));
    let (output, report) = check_cubins(directory.path(), "", &script("if b load 209"), &modules);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    assert_eq!(
        (&report["conform"], &report["not_compared"]["unavailable"]),
        (&1.into(), &1.into()),
        "{report}"
    );
    let (output, report) = check_cubins(directory.path(), "", &script("if b signal 8"), &modules);
    assert_eq!(status(&output), 1, "{}", stderr(&output));
    assert_eq!((&report["findings"][0]["class"], &report["conform"]), (&"crash".into(), &1.into()));
}

/// Returns a module with one variable and the self-check kernel of the suite.
fn self_checking() -> String {
    let text = module(".global .u32 a = 5;");
    let parsed = ptxsmith_syntax::parse(&text).unwrap();
    let case = ptxsmith_suite::SuiteCase::new("a".to_owned(), ptxsmith_suite::CaseSource::Hand, parsed);
    let kernel = selfcheck::kernel_for_case(&case).unwrap();
    format!(".global .u32 a = 5;\n{}", kernel.text)
}

/// Returns the results of `driver` and `driver:ptxas@13.5` on this module.
fn self_checked(directory: &Path, script: &str) -> [(Output, Value); 2] {
    let text = self_checking();
    let modules = [("a.ptx", &*text)];
    [check(directory, script, &modules, &[]), check_cubins(directory, "", script, &modules)]
}

/// Returns the classes of the findings, sorted.
fn classes(report: &Value) -> Vec<&str> {
    let findings = report["findings"].as_array().into_iter().flatten();
    let mut classes: Vec<&str> = findings.filter_map(|finding| finding["class"].as_str()).collect();
    classes.sort_unstable();
    classes
}

#[test]
fn kernels_that_check_their_variables_run_from_text_and_from_cubins() {
    let directory = tempfile::tempdir().unwrap();
    let passed = format!("kernel {} 0d600d60ffffffff\n", selfcheck::KERNEL);
    for (output, report) in self_checked(directory.path(), &format!("variable a 05000000\n{passed}")) {
        assert_eq!(status(&output), 0, "{}{report}", stderr(&output));
        // The variable and the output of the kernel.
        assert_eq!((&report["compared"], &report["conform"]), (&2.into(), &2.into()), "{report}");
    }
}

#[test]
fn a_kernel_that_stops_differs_though_memory_is_right_and_memory_though_the_kernel_passes() {
    let directory = tempfile::tempdir().unwrap();
    let kernel = |left: &str| format!("kernel {} {left}\n", selfcheck::KERNEL);
    let (passed, stopped) = (kernel("0d600d60ffffffff"), kernel("0d600d6000000000"));
    let lost = format!("{}if a launch 700\n", kernel("00"));
    // The last two kernels lose the context and write past the buffer.
    for (value, left, expected) in [
        ("05000000", &stopped, "wrong-value"),
        ("06000000", &passed, "wrong-value"),
        ("05000000", &kernel("00"), "wrong-value"),
        ("05000000", &lost, "crash"),
        ("05000000", &kernel("000000000000000001"), "crash"),
    ] {
        for (output, report) in self_checked(directory.path(), &format!("variable a {value}\n{left}")) {
            assert_eq!(status(&output), 1, "{left}: {}{report}", stderr(&output));
            assert!(classes(&report).contains(&expected), "{left}: {report}");
        }
    }
}

/// Returns true if the compiler of a driver is installed.
fn ptxjit(subject: &str, test: &str) -> bool {
    let mut command = Command::cargo_bin("ptxsmith").unwrap();
    let output = command.args(["subjects", "--subject", subject, "--json"]).output().unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let there = json["subjects"][0]["available"] == true;
    if !there {
        eprintln!("NOT TESTED: {test}: {}", json["subjects"][0]["reason"]);
    }
    there
}

#[test]
fn the_compiler_of_a_driver_holds_what_the_specification_says_and_survives_a_module_that_kills_it() {
    let subject = "ptxjit@550.163.01";
    if !ptxjit(subject, "the driver's compiler in its worker") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let modules = directory.path().join("modules");
    std::fs::create_dir(&modules).unwrap();
    file(&modules, "a.ptx", &module(".global .u32 a[3] = {1, 2};\n.global .u64 p = a+4;"));
    // Crashes with SIGFPE, as ptxas of the same release does.
    file(&modules, "b.ptx", &module(".global .u32 b = 1 / 0;"));
    // An executable would contain the location of the constant as a number.
    file(&modules, "c.ptx", &module(".const .u16 c = 7;\n.global .u64 q = generic(c)+2, r = c;"));
    let out = directory.path().join("out");
    let mut command = Command::cargo_bin("ptxsmith").unwrap();
    let command = command.args(["check", "--quiet", "--jobs", "1", "--subject", subject, "--out"]);
    let output = command.args([&out, &modules]).output().unwrap();
    let report: Value = serde_json::from_slice(&std::fs::read(out.join("report.json")).unwrap()).unwrap();
    let findings = report["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "{}", stderr(&output));
    assert_eq!((&findings[0]["class"], &findings[0]["observed"]["signal"]), (&"crash".into(), &8.into()));
    assert_eq!(report["conform"], 5);
    assert_eq!(report["subjects"][0]["version"], "12.4");
}

#[test]
fn a_library_that_is_not_there_or_another_is_not_available() {
    let entry = |subject: &str| {
        let output = ptxsmith().args(["subjects", "--json", "--subject", subject]).output().unwrap();
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        json["subjects"][0].clone()
    };
    assert_eq!(entry("ptxjit:/nonexistent/lib.so")["unavailable"], "not-found");
    assert_eq!(entry("nvjitlink:/nonexistent/lib.so")["unavailable"], "not-found");
    // A library, but not the requested one.
    let stub = stub();
    for kind in ["ptxjit", "nvjitlink"] {
        let entry = entry(&format!("{kind}:{}", stub.display()));
        assert_eq!((&entry["available"], &entry["unavailable"]), (&false.into(), &"not-the-subject".into()));
    }
}

#[test]
fn kernels_that_compute_something_else_on_the_device_are_found() {
    let directory = tempfile::tempdir().unwrap();
    let run = |script: &str, out: &str| {
        let out = directory.path().join(out);
        let mut command = on_stub(directory.path(), &format!("{DEVICE}{script}"));
        command.args([
            "run",
            "--focus",
            "arithmetic",
            "--quiet",
            "--jobs",
            "1",
            "--seed",
            "2",
            "--cases",
            "4",
        ]);
        let output = command.args(["--subject", "driver", "--out"]).arg(&out).output().unwrap();
        let report = std::fs::read(out.join("report.json")).unwrap_or_default();
        (output, serde_json::from_slice::<Value>(&report).unwrap_or_default())
    };
    // The device does not know any of the kernels, so nothing is compared.
    let (output, report) = run("", "none");
    assert_eq!((status(&output), &report["compared"]), (3, &0.into()), "{}{report}", stderr(&output));
    // One kernel writes wrong output, also when it runs alone as `k`.
    let (output, report) = run("kernel k1 0102030405060708\nkernel k 0102030405060708\n", "wrong");
    assert_eq!(status(&output), 1, "{}", stderr(&output));
    assert_eq!(report["findings"][0]["class"], "wrong-value", "{report}");
    assert_eq!(report["compared"], 1, "{report}");
    // One kernel loses the context. The others run without it.
    let (output, report) = run("kernel k2 01\nkernel k 01\nif k2 launch 700\nif k launch 700\n", "dies");
    assert_eq!(status(&output), 1, "{}", stderr(&output));
    assert_eq!(report["findings"][0]["class"], "crash", "{report}");
    assert_eq!(report["findings"].as_array().unwrap().len(), 1, "{report}");
}

/// Returns the findings of checking one module: status, and id or class.
fn findings(directory: &Path, script: &str, text: &str) -> Vec<(String, String)> {
    let (output, report) = check(directory, script, &[("a.ptx", text)], &[]);
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let found = report["findings"].as_array().unwrap_or_else(|| panic!("{}", stderr(&output)));
    found.iter().map(|finding| (word(&finding["status"]), word(&finding["id"]))).collect()
}

#[test]
fn an_address_that_is_written_over_its_neighbour_is_the_listed_deviation() {
    let directory = tempfile::tempdir().unwrap();
    let memory = "variable g 0000000000000000\nvariable x 0000000005000000\n";
    let found = |script: &str, text: &str| findings(directory.path(), &format!("{memory}{script}"), text);
    let narrow = ".global .u64 g;\n.global .u32 x[2] = {g, 5};";
    let listed = vec![("known".to_owned(), "address-always-8-bytes".to_owned())];
    assert_eq!(found("address x 0 8 g 0\n", narrow), listed);
    assert_eq!(found("address x 0 4 g 0\n", narrow), []);
    // Without narrow addresses, a wrong neighbor is a new deviation.
    let wide = ".global .u32 g[2];\n.global .u32 x[2] = {0, 6};";
    assert_eq!(found("", wide)[0].0, "new");
}

#[test]
fn the_address_of_a_function_is_not_compared_and_hides_nothing_beside_it() {
    let directory = tempfile::tempdir().unwrap();
    let text = ".func f() { ret; }\n.global .u64 x[2][2] = {{f}, {f, f}};";
    let found = |values: [u64; 4]| {
        let bytes: String = values.iter().map(|value| format!("{:016x}", value.swap_bytes())).collect();
        findings(directory.path(), &format!("variable x {bytes}\n"), text)
    };
    assert_eq!(found([1, 0, 1, 1]), []);
    // The three values are adjacent: incomplete rows are packed.
    assert_eq!(found([1, 1, 1, 0]), [("known".to_owned(), "incomplete-rows-packed".to_owned())]);
    assert_eq!(found([1, 2, 1, 3])[0].0, "new");
    // The same for an address that a kernel moves.
    let kernel = ".func f() { ret; }\n.visible .entry k(.param .u64 out) { .reg .u64 o, p;\n\
        ld.param.u64 o, [out]; mov.u64 p, f; st.global.u64 [o], p; ret; }";
    assert_eq!(findings(directory.path(), "kernel k a000000000000000\n", kernel), []);
}

#[test]
fn what_a_device_cannot_show_is_not_asked_of_it() {
    let directory = tempfile::tempdir().unwrap();
    // The module can only be compiled to a relocatable object.
    let log = "ptxas fatal : Feature 'unified Functions' requires command line option '--compile-only'.";
    let script = format!("variable a 01\nif a load 218 {log}\n");
    assert_eq!(findings(directory.path(), &script, ".global .u8 a = 1;"), []);
    // There is no memory at an absolute address, so the kernel is not run.
    let absolute = ".global .u8 a = 1;\n.visible .entry k(.param .u64 out) { .reg .u64 o; .reg .u32 r;\n\
        ld.param.u64 o, [out]; st.local.u32 [16], 7; ld.local.u32 r, [16]; st.global.u32 [o], r; ret; }";
    let script = "variable a 01\nkernel k 07000000\nif a launch 700\n";
    assert_eq!(findings(directory.path(), script, absolute), []);
}
