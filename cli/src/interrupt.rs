//! Ctrl-C: the first asks for a clean end, the second does not ask.

use ptxsmith_subject::Cancel;

use crate::exit::Exit;

/// A flag that Ctrl-C (or a request to terminate) raises. Everything that takes long looks at it; the children of
/// subjects are killed when it is raised.
pub fn watch() -> anyhow::Result<Cancel> {
    let cancel = Cancel::new();
    let raised = cancel.clone();
    ctrlc::set_handler(move || {
        if raised.is_cancelled() {
            std::process::exit(Exit::Interrupted as i32);
        }
        raised.cancel();
    })?;
    Ok(cancel)
}
