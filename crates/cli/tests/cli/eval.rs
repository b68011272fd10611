//! `eval`: the values according to the specification, as text and as JSON.

use crate::common::*;
use serde_json::Value;

fn json(declarations: &str, args: &[&str]) -> Value {
    let mut command = ptxsmith();
    let output =
        command.args(["eval", "-", "--json"]).args(args).write_stdin(module(declarations)).output().unwrap();
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn bytes(declaration: &str) -> String {
    let json = json(declaration, &[]);
    assert_eq!((&json["schema"], &json["outcome"]), (&"ptxsmith.module/1".into(), &"accepted".into()));
    let variables = json["variables"].as_object().unwrap();
    assert_eq!(variables.len(), 1);
    variables.values().next().unwrap()["bytes"].as_str().unwrap().to_owned()
}

fn words(values: &[u32]) -> String {
    values.iter().flat_map(|value| value.to_le_bytes()).map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn the_specification_gives_these_values() {
    assert_eq!(bytes(".global .s64 a = -7 % 3;"), "0000000000000000");
    assert_eq!(bytes(".global .s64 b = ~0 / 2;"), "ffffffffffffff7f");
    assert_eq!(bytes(".global .s64 c = -1 < 1U;"), "0000000000000000");
    assert_eq!(bytes(".global .s64 d = (1 ? -2 : 3U) / 2;"), "ffffffffffffff7f");
    assert_eq!(bytes(".global .s32 x[3][2] = {{1,2},{3}};"), words(&[1, 2, 3, 0, 0, 0]));
    assert_eq!(bytes(".global .s32 x[3][2] = {{1},{2},{3}};"), words(&[1, 0, 2, 0, 3, 0]));
    let floats: Vec<u32> = [0.33_f32, 0.25, 0.125, 0.0, 0.0, 0.0, 0.0, 0.0].map(f32::to_bits).into();
    assert_eq!(bytes(".global .f32 v[8] = {0.33, 0.25, 0.125};"), words(&floats));
    assert_eq!(bytes(".global .f32 y = 0F3f800000;"), words(&[0x3f80_0000]));
}

#[test]
fn each_value_comes_with_its_clauses_and_readings() {
    let json = json(".global .s64 a = 1 << 64;", &[]);
    let a = &json["variables"]["a"];
    assert!(a["clauses"].as_array().unwrap().contains(&"4.5.5/shift-left".into()), "{a}");
    assert_eq!(a["readings"]["shift-count"], "saturate");
    assert_eq!((&a["space"], &a["size"], &a["align"]), (&"global".into(), &8.into(), &8.into()));
}

#[test]
fn another_reading_gives_another_value() {
    let json = json(".global .s64 a = 1 << 64;", &["--reading", "shift-count=modulo"]);
    assert_eq!(json["variables"]["a"]["bytes"], "0100000000000000");
    assert_eq!(json["variables"]["a"]["readings"]["shift-count"], "modulo");
    let twice = ["eval", "-", "--reading", "shift-count=modulo", "--reading", "shift-count=saturate"];
    let output = ptxsmith().args(twice).write_stdin(module("")).output().unwrap();
    assert!(one_line_error(&output).contains("answers `shift-count` twice"));
}

#[test]
fn a_refusal_is_an_answer() {
    let declarations = ".global .s32 a = 1;\n.global .s32 b = 1.0;";
    let json = json(declarations, &[]);
    assert_eq!((&json["outcome"], &json["refusal"]["line"]), (&"refused".into(), &5.into()));
    assert_eq!(json["refusal"]["class"], "value-kind");
    assert_eq!(json["refusal"]["clauses"], serde_json::json!(["5.4.4/value-kind"]));

    let output = ptxsmith().args(["eval", "-"]).write_stdin(module(declarations)).output().unwrap();
    assert_eq!(status(&output), 0);
    let text = stdout(&output);
    for part in [
        "refused by the specification",
        "(value-kind)",
        "standard input:5:18",
        "b = 1.0;",
        "^^^",
        "5.4.4/value-kind: ",
    ] {
        assert!(text.contains(part), "no {part} in {text}");
    }
}

#[test]
fn people_see_values_addresses_and_reasons() {
    let declarations =
        ".global .f32 f[2] = {0.5};\n.const .s8 c = -1;\n.global .u64 p[2] = {7, generic(f) + 4};";
    let output =
        ptxsmith().args(["eval", "-", "--clauses"]).write_stdin(module(declarations)).output().unwrap();
    let text = stdout(&output);
    for part in [
        "f: .global .f32[2], 8 bytes, aligned to 4",
        "value    {0.5, 0.0}",
        "bytes    0000003f 00000000",
        "c: .const .s8, 1 byte, aligned to 1",
        "value    -1",
        "value    {7, generic(f+4)}",
        "address  offset 8, 8 bytes: generic(f+4)",
        "5.4.4/incomplete-outer ",
    ] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    assert!(!text.contains('\u{1b}'), "a pipe is no terminal");
    let colored = ptxsmith()
        .args(["eval", "-", "--color", "always"])
        .write_stdin(module(declarations))
        .output()
        .unwrap();
    assert!(stdout(&colored).contains('\u{1b}'));
}

#[test]
fn a_large_variable_is_cut_for_people_and_whole_in_json() {
    let declarations = ".global .u8 big[100000];";
    let output = ptxsmith().args(["eval", "-"]).write_stdin(module(declarations)).output().unwrap();
    assert!(output.stdout.len() < 4000);
    assert!(stdout(&output).contains("... (99744 more; --json has all)"));
    assert_eq!(bytes(declarations).len(), 200_000);
}

/// Returns a module with these declarations and a kernel `k` with one parameter and this body.
fn kernel(declarations: &str, body: &str) -> String {
    format!(
        "{declarations}\n.visible .entry k(.param .u64 out)\n{{\n    .reg .u64 o, p;\n    .reg .u32 r;\n{body}\n    ret;\n}}"
    )
}

#[test]
fn what_a_kernel_leaves_in_its_output_buffer_is_told() {
    let text = kernel(
        ".global .u32 g[2] = {5, 6};",
        "ld.param.u64 o, [out]; ld.global.u32 r, [g + 4]; st.global.u32 [o], r; mov.u64 p, g + 4; st.global.u64 [o + 8], p;",
    );
    let json = json(&text, &[]);
    let k = &json["kernels"]["k"];
    assert_eq!((&k["size"], &k["bytes"]), (&16.into(), &"06000000000000000000000000000000".into()));
    assert_eq!(k["seen"], "f".repeat(32));
    let address = serde_json::json!({
        "offset": 8, "width": 8, "symbol": "g", "addend": 4, "generic": true, "byte": null
    });
    assert_eq!(k["addresses"], serde_json::json!([address]));
    assert!(k["clauses"].as_array().unwrap().contains(&"6.4.1/variable-offset".into()), "{k}");
    assert!(k["readings"].is_object() && json.get("unmodelled").is_none(), "{json}");

    let output = ptxsmith().args(["eval", "-", "--clauses"]).write_stdin(module(&text)).output().unwrap();
    let text = stdout(&output);
    for part in [
        "k: kernel, leaves 16 bytes in its output buffer",
        "leaves   offset 0, 4 bytes: 6 (0x6)",
        "offset 8, 8 bytes: generic(g+4)",
        "6.4.1/variable-offset ",
    ] {
        assert!(text.contains(part), "no {part} in {text}");
    }
}

#[test]
fn why_it_cannot_be_said_what_a_kernel_leaves_is_told() {
    // The address of a variable is unknown, and so are its shifted bits.
    let part = "ld.param.u64 o, [out]; mov.u64 p, g; shr.u64 p, p, 4; st.global.u64 [o], p; mov.u32 r, 7; st.global.u32 [o+8], r;";
    let partly = json(&kernel(".global .u32 g;", part), &[]);
    assert_eq!(partly["kernels"]["k"]["bytes"], "000000000000000007000000");
    assert_eq!(partly["kernels"]["k"]["seen"], "0000000000000000ffffffff");

    let unmodelled =
        kernel("", "ld.param.u64 o, [out]; sin.approx.f32 f, f;").replace(".reg .u32 r;", ".reg .f32 f;");
    let json = json(&unmodelled, &[]);
    assert_eq!(json["outcome"], "accepted");
    assert_eq!(json["unmodelled"][0]["kernel"], "k");
    assert!(json["unmodelled"][0]["reason"].is_string() && json.get("kernels").is_none(), "{json}");
    let output = ptxsmith().args(["eval", "-"]).write_stdin(module(&unmodelled)).output().unwrap();
    assert!(stdout(&output).contains("k: kernel, unmodelled: "), "{}", stdout(&output));

    let nothing = ptxsmith().args(["eval", "-"]).write_stdin(module(&kernel("", ""))).output().unwrap();
    assert!(
        stdout(&nothing).contains("k: kernel, writes nothing to its output buffer"),
        "{}",
        stdout(&nothing)
    );
}

#[test]
fn a_kernel_with_an_input_is_run_over_the_bytes_that_are_given() {
    let text = module(
        ".visible .entry add(.param .u64 input, .param .u64 output) {
            .reg .u64 in_addr, out_addr, temp, temp2;
            ld.param.u64 in_addr, [input]; ld.param.u64 out_addr, [output];
            ld.u64 temp, [in_addr]; add.u64 temp2, temp, 1; st.u64 [out_addr], temp2; ret; }",
    );
    let shown = |args: &[&str]| {
        let output = ptxsmith().args(["eval", "-"]).args(args).write_stdin(text.clone()).output().unwrap();
        (status(&output), stdout(&output) + &stderr(&output))
    };
    // 0x101 + 1
    let (code, page) = shown(&["--input", "01010000_00000000"]);
    assert!(code == 0 && page.contains("offset 0, 8 bytes: 258 (0x102)"), "{page}");
    let (code, page) = shown(&[]);
    assert!(code == 0 && page.contains("other parameters than an output buffer"), "{page}");
    for bad in ["1", "0x01", "zz"] {
        let (code, page) = shown(&["--input", bad]);
        assert!(code == 2 && page.contains("two hexadecimal digits each"), "{page}");
    }
}

#[test]
fn eval_expect_is_for_scripts() {
    for (declarations, expect, expected) in [
        (".global .u32 a = 5;", "accepted", 0),
        (".global .u32 a = 5;", "valid", 0),
        (".global .u32 a = 5;", "refused", 1),
        (".global .u32 a[1] = {1, 2};", "refused", 0),
        (".global .u32 a[1] = {1, 2};", "accepted", 1),
        (".pragma \"x\"; .global .u32 a = 5;", "accepted", 0),
        (".pragma \"x\"; .global .u32 a = 5;", "valid", 3),
        (".frob 1; .global .u32 a = 5;", "accepted", 3),
    ] {
        let output = ptxsmith()
            .args(["eval", "-", "--expect", expect])
            .write_stdin(module(declarations))
            .output()
            .unwrap();
        assert_eq!(status(&output), expected, "{declarations} {expect}");
        // The message names the undecided part and its line.
        let told = stderr(&output);
        assert_eq!(
            expected == 3,
            told.contains("standard input:4: not decided: "),
            "{declarations} {expect}: {told}"
        );
    }
}

/// Runs `eval` on a module. Returns exit status, output and messages.
fn read(text: &str, args: &[&str]) -> (i32, String, String) {
    let output = ptxsmith().args(["eval", "-"]).args(args).write_stdin(text).output().unwrap();
    (status(&output), stdout(&output), stderr(&output))
}

const TURING: &str = ".version 7.5\n.target sm_75\n.address_size 64\n";

/// Managed variables as nvcc prints them. Three of the twelve bytes are zero.
#[test]
fn managed_variables_as_compilers_print_them_are_judged_with_the_assumption() {
    let text = format!(
        "{TURING}.visible .global .attribute(.managed) .align 8 .u64 mptr = 0;\n\
         .visible .global .attribute(.managed) .align 4 .b8 mdata[12] = {{3, 0, 0, 0, 4, 0, 0, 0, 5}};\n"
    );
    let (exit, answer, errors) = read(&text, &["--json", "--expect", "valid"]);
    assert_eq!((exit, &*errors), (0, ""));
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let of = |name: &str| {
        let variable = &answer["variables"][name];
        (
            variable["bytes"].clone(),
            variable["align"].clone(),
            variable["readings"]["attribute-order"].clone(),
        )
    };
    assert_eq!(of("mptr"), ("0000000000000000".into(), 8.into(), "either".into()));
    assert_eq!(of("mdata"), ("030000000400000005000000".into(), 4.into(), "either".into()));
    // 5.4.8: .managed requires .global.
    let constant = format!("{text}.visible .const .attribute(.managed) .u32 mc = 1;\n");
    assert_eq!(read(&constant, &["--expect", "refused"]).0, 0);
    // No assumption is made about a single variable.
    let alone = json(".global .attribute(.managed) .u32 x = 3;", &[]);
    assert_eq!(alone["variables"]["x"]["readings"], serde_json::json!({}));
}

#[test]
fn names_that_the_texts_do_not_give_and_common_constants_are_not_accepted() {
    for (declaration, part) in [
        (".global .u32 _ = 7;", "_: a name that the specification does not mention"),
        (".global .u32 WARP_SZ = 7;", "WARP_SZ: a name that the specification does not mention"),
        (".global .u32 %tid = 7;", "%tid: a name that the specification does not mention"),
        (".common .const .u32 c;", "c: a linking directive .common outside .global"),
    ] {
        let (exit, _, errors) = read(&module(declaration), &["--expect", "accepted"]);
        assert_eq!(exit, 3, "{declaration}: {errors}");
        assert!(errors.contains(&format!("standard input:4: not decided: {part}")), "{errors}");
    }
    for declaration in [".global .u32 _a = 7;", ".global .u32 WARP_S = 7;", ".common .global .u32 c;"] {
        assert_eq!(read(&module(declaration), &["--expect", "accepted"]).0, 0, "{declaration}");
    }
}

#[test]
fn what_ends_the_understanding_of_a_statement_is_said_with_its_line() {
    let shared = format!(
        "{TURING}.extern .shared .align 4 .b8\n  __unnamed_1.llvm[];\n.visible .entry k()\n{{\n  ret;\n}}\n"
    );
    let (_, text, errors) = read(&shared, &["--expect", "accepted"]);
    let said = "a statement that is not understood: expected `;`, found `.llvm` (a name ends at a point)";
    assert!(text.contains(&format!("{said} (line 5)")), "{text}");
    assert!(errors.contains(&format!("standard input:5: not decided: .extern: {said}")), "{errors}");
    let json: Value = serde_json::from_str(&read(&shared, &["--json"]).1).unwrap();
    assert_eq!(json["undecided"][0]["line"], 5);
    assert_eq!(json["undecided"][0]["error"], "expected `;`, found `.llvm` (a name ends at a point)");
    // Names of string constants as clang prints them.
    let (_, text, _) = read(&module(".global .align 1 .b8 .str6[4] = {1};"), &[]);
    assert!(text.contains("expected a name, found `.str6` (a name does not begin with a point)"), "{text}");
    // A name with a non-ASCII letter.
    let (_, text, _) = read(&format!("{TURING}\t.visible .global .align 4 .u32 À[1];\n"), &[]);
    assert!(text.contains("not understood: unexpected character `\\u{c0}` (line 4)"), "{text}");
}

#[test]
fn a_byte_of_the_address_of_a_function_is_an_open_question() {
    let table = module(".visible .func f() { ret; }\n.global .u8 t[] = {0xFF(f), 0xFF00(f)};");
    let (exit, text, _) = read(&table, &["--expect", "refused"]);
    assert_eq!(exit, 0);
    assert!(text.contains("masked-function=refused"), "{text}");
    let (exit, answer, _) =
        read(&table, &["--json", "--expect", "valid", "--reading", "masked-function=accepted"]);
    assert_eq!(exit, 0);
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let byte = |nth: u8| serde_json::json!({ "offset": nth, "width": 1, "symbol": "f", "addend": 0, "generic": false, "byte": nth });
    assert_eq!(answer["variables"]["t"]["addresses"], serde_json::json!([byte(0), byte(1)]));
}

#[test]
fn a_dump_of_cuobjdump_is_recognised() {
    let dump = format!(
        "\nFatbin ptx code:\n================\narch = sm_75\ncompressed\n\n{TURING}.global .u32 a;\n"
    );
    let output = ptxsmith().args(["eval", "-"]).write_stdin(dump).output().unwrap();
    assert_eq!(status(&output), 2);
    let error = one_line_error(&output);
    assert!(error.contains("output of cuobjdump -ptx") && error.contains("line 2"), "{error}");
}
