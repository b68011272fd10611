//! `ptxsmith lint`: warnings about listed releases, without any of them installed.

use crate::common::*;

const ROWS: &str = ".version 7.8\n.target sm_80\n.global .s32 x[2][2] = {{1}, {3}};\n";
const PLAIN: &str = ".version 7.8\n.target sm_80\n.global .s32 x[2] = {1, 3};\n";

fn lint(text: &str, args: &[&str]) -> std::process::Output {
    ptxsmith().args(["lint", "-"]).args(args).write_stdin(text).output().unwrap()
}

#[test]
fn a_risky_form_is_a_warning_with_place_releases_and_work_around() {
    let output = lint(ROWS, &[]);
    assert_eq!(status(&output), 0);
    let text = stdout(&output);
    assert!(text.starts_with("<stdin>:3:14: warning: the values of incomplete inner rows"), "{text}");
    assert!(text.contains("(ptxas 11.7 and later) [incomplete-rows-packed]\n"), "{text}");
    assert!(text.contains("<stdin>:3:14: note: Write every row in full"), "{text}");
}

#[test]
fn a_risky_form_is_status_1_where_known_deviations_are_denied() {
    assert_eq!(status(&lint(ROWS, &["--deny", "known"])), 1);
    assert_eq!(status(&lint(PLAIN, &["--deny", "known"])), 0);
    assert_eq!(stdout(&lint(PLAIN, &[])), "");
}

#[test]
fn an_option_or_a_comment_allows_a_deviation_and_a_misspelt_one_is_said() {
    let allowed = lint(ROWS, &["--allow", "incomplete-rows-packed", "--deny", "known"]);
    assert_eq!((status(&allowed), stdout(&allowed).as_str()), (0, ""));
    assert!(one_line_error(&lint(ROWS, &["--allow", "incomplete-row-packed"])).contains("did you mean"));
    let commented = |comment: &str| ROWS.replace(".global", &format!("{comment}.global"));
    for comment in [
        "// ptxsmith: allow incomplete-rows-packed\n",
        "// ptxsmith: allow other-id, incomplete-rows-packed\n",
    ] {
        let text = stdout(&lint(&commented(comment), &[]));
        assert!(!text.contains("[incomplete-rows-packed]"), "{text}");
        assert_eq!(
            text.contains("note: no listed deviation `other-id` to allow"),
            comment.contains("other"),
            "{text}"
        );
    }
    // The comment is two lines above the statement, so it has no effect.
    let far = stdout(&lint(&commented("// ptxsmith: allow incomplete-rows-packed\n\n"), &[]));
    assert!(far.contains("[incomplete-rows-packed]"), "{far}");
}

#[test]
fn what_the_specification_refuses_is_an_error_and_what_is_no_ptx_is_bad_input() {
    let refused = lint(".version 7.8\n.target sm_80\n.global .s32 x = 1.0;\n", &[]);
    assert_eq!(status(&refused), 1);
    assert!(stdout(&refused).starts_with("<stdin>:3:18: error: "), "{}", stdout(&refused));
    assert_eq!(status(&lint("no PTX {", &[])), 2);
}

#[test]
fn releases_that_do_not_show_it_are_not_warned_of() {
    let crash = ".version 7.8\n.target sm_80\n.global .s64 x = 1 / 0;\n";
    let ids = |args: &[&str]| stdout(&lint(crash, args)).matches("[division-by-zero-crash]").count();
    assert_eq!([ids(&[]), ids(&["--release", "12.0"]), ids(&["--release", "13.5"])], [1, 1, 0]);
}

#[test]
fn a_release_that_does_not_take_the_version_is_not_warned_of_unless_it_is_named() {
    let later = ".version 8.5\n.target sm_80\n.global .s32 a;\n.global .s32 b;\n";
    assert_eq!(stdout(&lint(later, &[])), "");
    let named = stdout(&lint(later, &["--release", "12.0"]));
    assert_eq!(named.matches("warning: ").count(), 1, "{named}");
    assert!(named.starts_with("<stdin>:1:10: ") && named.contains("[header-crash]"), "{named}");
    assert_eq!(stdout(&lint(later, &["--release", "13.5"])), "");
}

#[test]
fn a_statement_that_is_not_understood_is_a_note_and_status_1_where_that_is_denied() {
    for (wrong, place) in [
        (".globl .u32 x;", "4:1"),
        (".global .i32 x;", "4:14"),
        (".global .u32 x = 1", "4:1"),
        (".entry k() { mov.u32 %r1, 1; ret; }", "4:14"),
    ] {
        let text = format!(".version 7.8\n.target sm_80\n.address_size 64\n{wrong}\n");
        let output = lint(&text, &[]);
        assert_eq!(status(&output), 0, "{wrong}");
        let told = stdout(&output);
        assert!(
            told.starts_with(&format!("<stdin>:{place}: note: ")) && told.contains("[undecided]"),
            "{told}"
        );
        assert_eq!(status(&lint(&text, &["--deny", "uncompared"])), 1, "{wrong}");
    }
    // Constructs that the specification does not cover are shown on request.
    let silent = ".version 7.8\n.target sm_80\n.entry k() { membar.gl; ret; }\n";
    assert_eq!((status(&lint(silent, &[])), stdout(&lint(silent, &[])).as_str()), (0, ""));
    let denied = lint(silent, &["--deny", "uncompared"]);
    assert!(status(&denied) == 1 && stdout(&denied).contains("membar is not judged"), "{}", stdout(&denied));
}

#[test]
fn programs_read_json_and_sarif() {
    let json: serde_json::Value = serde_json::from_str(&stdout(&lint(ROWS, &["--format", "json"]))).unwrap();
    assert_eq!(json["schema"], "ptxsmith.lint/1");
    let warning = &json["warnings"][0];
    assert_eq!((&warning["id"], &warning["line"]), (&"incomplete-rows-packed".into(), &3.into()));
    let sarif: serde_json::Value =
        serde_json::from_str(&stdout(&lint(ROWS, &["--format", "sarif"]))).unwrap();
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!((&result["ruleId"], &result["level"]), (&"incomplete-rows-packed".into(), &"warning".into()));
    assert_eq!(result["locations"][0]["physicalLocation"]["region"]["startLine"], 3);
}

#[test]
fn the_sink_is_no_name_that_nothing_declares() {
    let text = ".version 7.5\n.target sm_75\n.address_size 64\n.shared .align 16 .b8 sh[16];\n\
                .visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<4>;\n.reg .b32 %r<4>;\nld.param.u64 %rd1, [p];\n\
                ld.global.v4.s32 {_, %r1, %r2, _}, [%rd1+32];\nld.shared.v2.b32 {%r3, _}, [sh];\n\
                st.global.u32 [%rd1], %r1;\nret;\n}\n";
    assert_eq!(stdout(&lint(text, &[])), "");
    let all = stdout(&lint(text, &["--deny", "uncompared"]));
    assert!(all.contains("<stdin>:10:1: note: ") && all.contains("the sink _"), "{all}");
    // Another undeclared name is noted.
    let other = stdout(&lint(&text.replace("{%r3, _}", "{%r3, %q}"), &[]));
    assert!(
        other.contains("<stdin>:11:1: note: ") && other.contains("a name that nothing declares"),
        "{other}"
    );
}
