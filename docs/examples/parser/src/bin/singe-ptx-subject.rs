//! The parser `singe-ptx` as a subject.

use ptxsmith_example_parsers::{Refusal, serve};

fn main() -> std::io::Result<()> {
    serve("singe-ptx", "0.1.0-alpha.7", |ptx| match singe_ptx::parser::parse_module(ptx) {
        Ok(_) => Ok(()),
        Err(error) => Err(Refusal { line: None, message: error.to_string() }),
    })
}
