//! The protocol of `serve:`, for implementations that only parse: they accept or refuse, and tell no values.
//!
//! A panic of the parser ends the process, which is just what ptxsmith expects of a crash: the module is reported as
//! crashed, and the adapter is started again.

use std::io::{self, BufRead, Write};

use serde_json::{Value, json};

/// Why a module was refused.
pub struct Refusal {
    /// The line that is blamed, counted from 1, where one is.
    pub line: Option<usize>,
    /// The parser's message.
    pub message: String,
}

/// Describes the parser if asked to, else answers a line for each line.
///
/// `parse` says whether a module is taken. What it holds is not for a parser to say, so no variables are told, and the
/// description says that there will be none.
pub fn serve(name: &str, version: &str, parse: impl Fn(&str) -> Result<(), Refusal>) -> io::Result<()> {
    if std::env::args().any(|arg| arg == "--describe") {
        let description = json!({
            "schema": "ptxsmith.subject/1", "name": name, "version": version, "lineage": name,
            "targets": [], "relocations": false, "values": false, "lists": true,
        });
        println!("{description}");
        return Ok(());
    }
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let question: Value = serde_json::from_str(&line?)?;
        let (outcome, diagnostics) = match parse(question["ptx"].as_str().unwrap_or_default()) {
            Ok(()) => ("accepted", json!([])),
            Err(Refusal { line, message }) => {
                ("refused", json!([{ "severity": "error", "line": line, "message": message }]))
            }
        };
        let observation = json!({
            "schema": "ptxsmith.module/1", "outcome": outcome, "diagnostics": diagnostics, "variables": {},
        });
        writeln!(output, "{}", json!({ "id": question["id"], "observation": observation }))?;
        output.flush()?;
    }
    Ok(())
}
