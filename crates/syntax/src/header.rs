//! The header directives of a module.

use crate::{
    span::Name,
    tree::{Item, Module},
};

/// The header of a generated module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Header {
    /// The `.version`, such as `7.8`.
    pub version: String,
    /// The `.target`, such as `sm_80`.
    pub target: String,
    /// The `.address_size` in bits.
    pub address_size: u32,
}

impl Default for Header {
    /// Returns a header that every ptxas release since 11.8 accepts, and that implementations of an older PTX may accept.
    fn default() -> Header {
        Header { version: "7.8".into(), target: "sm_80".into(), address_size: 64 }
    }
}

impl Header {
    /// Creates a module with this header and these statements.
    pub fn module(&self, statements: impl IntoIterator<Item = Item>) -> Module {
        let mut items = vec![
            Item::Version(Name::new(self.version.as_str())),
            Item::Target(vec![Name::new(self.target.as_str())]),
            Item::AddressSize(Name::new(self.address_size.to_string())),
        ];
        items.extend(statements);
        Module { items }
    }

    /// Returns the header of a module. Of several targets, only the first architecture is kept. If the module has no version
    /// or target, the default one is used.
    pub fn of_module(module: &Module) -> Header {
        let mut header = Header { address_size: module.address_size().unwrap_or(32), ..Header::default() };
        if let Some((major, minor)) = module.version() {
            header.version = format!("{major}.{minor}");
        }
        if let Some(target) = module.targets().find(|target| target.starts_with("sm_")) {
            header.target = target.to_owned();
        }
        header
    }

    /// Returns the version as (major, minor).
    pub fn version(&self) -> (u32, u32) {
        self.module([]).version().unwrap_or((0, 0))
    }
}
/// Returns the first header lines of a text that may not be a module, each with a line break: lines that begin with a
/// header directive.
pub fn header_lines(text: &str) -> String {
    const BEGIN: [&str; 3] = [".version", ".target", ".address_size"];
    let lines = text.lines().filter(|line| BEGIN.iter().any(|word| line.trim_start().starts_with(word)));
    lines.take(BEGIN.len()).fold(String::new(), |header, line| header + line + "\n")
}
