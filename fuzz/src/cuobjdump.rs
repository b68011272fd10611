//! Target `cuobjdump`: the reader of `cuobjdump -elf` listings accepts or rejects any text, deterministically and without a
//! panic.

use ptxsmith_subject::cuobjdump;

use crate::cubin::{MOST_STORAGE, consistent};
use crate::target::{Target, TargetFailure, no_program};

/// The target.
pub static CUOBJDUMP: Target = Target { name: "cuobjdump", run, program: no_program };

fn run(data: &[u8]) -> Result<(), TargetFailure> {
    let text = String::from_utf8_lossy(data);
    match cuobjdump::read_within(&text, MOST_STORAGE) {
        Ok(variables) => {
            TargetFailure::unless(
                cuobjdump::read_within(&text, MOST_STORAGE).as_ref() == Ok(&variables),
                || "read in two ways".to_owned(),
            )?;
            variables.iter().try_for_each(|(name, variable)| consistent(name, variable))
        }
        Err(error) => {
            let message = error.to_string();
            TargetFailure::unless(message.len() <= 500 + 10 * data.len(), || {
                format!("a message of {} bytes", message.len())
            })
        }
    }
}
