//! Kernels that are executed, and what they leave as text.

use ptxsmith_oracle::{Address, Expectation, KernelOutcome, Output, Readings, Rules, execute, expect, hex};

pub const HEADER: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

/// A kernel `k` with registers, the address of its output in `o`, and this body.
pub fn kernel(body: &str) -> String {
    format!(
        ".visible .entry k(.param .u64 out) {{
            .reg .u64 o, p<8>; .reg .u32 r<8>; .reg .s32 s<4>; .reg .s16 h; .reg .b64 d; .reg .pred q;
            .reg .v2 .u32 v; .reg .v4 .u32 w; .reg .b128 b; .reg .f64 real;
            ld.param.u64 o, [out]; {body} }}"
    )
}

pub fn answer(readings: Readings, text: &str) -> Expectation {
    let module = ptxsmith_syntax::parse(&format!("{HEADER}{text}")).unwrap();
    expect(&module, &Rules::specification(readings))
}

/// What `k` of this module leaves.
pub fn run(readings: Readings, text: &str) -> Result<Output, &'static str> {
    run_under(&Rules::specification(readings), text)
}

/// What `k` of this module leaves under other rules.
pub fn run_under(rules: &Rules, text: &str) -> Result<Output, &'static str> {
    let module = ptxsmith_syntax::parse(&format!("{HEADER}{text}")).unwrap();
    let variables = match expect(&module, rules) {
        Expectation::Accepted { variables, .. } => variables,
        Expectation::Refused { refusal, .. } => return Err(refusal.class.name()),
        Expectation::Unmodelled { reason, .. } => return Err(reason),
    };
    let kernels = execute(&module, &variables, rules);
    match kernels.into_iter().find(|kernel| kernel.name == "k").expect("there is a kernel k").outcome {
        KernelOutcome::Output(output) => Ok(output),
        KernelOutcome::Unmodelled(reason) => Err(reason),
    }
}

/// The bytes, `..` for one that is not known, and the addresses.
pub fn described(output: &Output) -> String {
    let known = output.bytes.iter().zip(&output.known);
    let mut text: String =
        known.map(|(&byte, &known)| if known { hex([byte]) } else { "..".to_owned() }).collect();
    for Address { offset, width, symbol, addend, generic, .. } in &output.addresses {
        let generic = if *generic { " generic" } else { "" };
        text += &format!("; {width} at {offset}: {symbol}+{addend}{generic}");
    }
    text
}

/// What a kernel with this body leaves, beside these items.
pub fn leaves(items: &str, body: &str) -> Result<String, &'static str> {
    run(Readings::default(), &format!("{items}\n{}", kernel(body))).map(|output| described(&output))
}
