//! The parser `ptx-syntax` as a subject.

use ptxsmith_example_parsers::{Refusal, serve};

fn main() -> std::io::Result<()> {
    serve("ptx-syntax", "0.5", |ptx| match ptx_syntax::parse_ptx(ptx) {
        Ok(_) => Ok(()),
        Err(error) => {
            let line = ptx.get(..error.span.start).map(|before| before.matches('\n').count() + 1);
            Err(Refusal { line, message: error.to_string() })
        }
    })
}
