//! The parser `ptx-syntax` as a subject that only parses: it accepts or refuses, and tells no values.
//!
//! It speaks the protocol of `serve:`. A panic of the parser ends this process, which is just what ptxsmith expects of
//! a crash: the module is reported as crashed, and the adapter is started again.

use std::io::{self, BufRead, Write};

use serde_json::{Value, json};

fn main() -> io::Result<()> {
    if std::env::args().any(|arg| arg == "--describe") {
        println!("{}", describe());
        return Ok(());
    }
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let question: Value = serde_json::from_str(&line?)?;
        let observation = observe(question["ptx"].as_str().unwrap_or_default());
        writeln!(output, "{}", json!({ "id": question["id"], "observation": observation }))?;
        output.flush()?;
    }
    Ok(())
}

fn describe() -> Value {
    json!({
        "schema": "ptxsmith.subject/1",
        "name": "ptx-syntax",
        "version": "0.5",
        "lineage": "ptx-syntax",
        "max_ptx": "9.0",
        "targets": [],
        "relocations": false,
    })
}

/// Accepted without variables: what it holds is not for a parser to say.
fn observe(ptx: &str) -> Value {
    let (outcome, diagnostics) = match ptx_syntax::parse_ptx(ptx) {
        Ok(_) => ("accepted", json!([])),
        Err(error) => {
            let line = ptx.get(..error.span.start).map(|before| before.matches('\n').count() + 1);
            ("refused", json!([{ "severity": "error", "line": line, "message": error.to_string() }]))
        }
    };
    json!({ "schema": "ptxsmith.module/1", "outcome": outcome, "diagnostics": diagnostics, "variables": {} })
}
