//! Changes of the source that remove a violation and keep the meaning, and the patch that makes them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A replacement of text in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fix {
    /// The offset of the first replaced byte.
    pub begin: usize,
    /// The offset of the first byte behind the replaced ones.
    pub end: usize,
    /// The new text.
    pub text: String,
}

/// A file before and after its fixes.
#[derive(Debug)]
pub struct FixedFile {
    /// The path of the file.
    pub path: PathBuf,
    /// The text before the fixes.
    pub text: String,
    /// The text after the fixes.
    pub fixed: String,
}

/// Applies fixes and returns the files that they change. `text_of` reads a file.
pub fn fixed_files(
    fixes: impl Iterator<Item = (PathBuf, Fix)>,
    text_of: &dyn Fn(&Path) -> String,
) -> Vec<FixedFile> {
    let mut by_file: BTreeMap<PathBuf, Vec<Fix>> = BTreeMap::new();
    for (path, fix) in fixes {
        by_file.entry(path).or_default().push(fix);
    }
    let mut files = Vec::new();
    for (path, mut fixes) in by_file {
        let text = text_of(&path);
        fixes.sort();
        fixes.dedup();
        let fixed = apply(&text, &fixes);
        if fixed != text {
            files.push(FixedFile { path, text, fixed });
        }
    }
    files
}

/// Returns a patch for `patch -p0` and `git apply -p0`; empty if there are no files.
pub fn patch(files: &[FixedFile]) -> String {
    let mut patch = String::new();
    for FixedFile { path, text, fixed } in files {
        let name = path.display().to_string();
        let mut options = diffy::DiffOptions::new();
        options.set_original_filename(name.clone()).set_modified_filename(name);
        patch += &options.create_patch(text, fixed).to_string();
    }
    patch
}

/// Returns the text with its fixes, which are sorted. Skips a fix that overlaps the one before it.
fn apply(text: &str, fixes: &[Fix]) -> String {
    let mut fixed = String::new();
    let mut from = 0;
    for fix in fixes {
        if let Some(kept) = text.get(from..fix.begin)
            && text.is_char_boundary(fix.end)
        {
            fixed += kept;
            fixed += &fix.text;
            from = fix.end;
        }
    }
    fixed + text.get(from..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_replaces_what_is_fixed_and_nothing_else() {
        let fix = |begin, end| ("a.cu".into(), Fix { begin, end, text: "int(k)".to_owned() });
        let fixes = [fix(9, 10), fix(2, 3), fix(9, 10)].into_iter();
        let patch = patch(&fixed_files(fixes, &|_| "f(k)\n  g(k)\n".to_owned()));
        assert_eq!(patch, "--- a.cu\n+++ a.cu\n@@ -1,2 +1,2 @@\n-f(k)\n-  g(k)\n+f(int(k))\n+  g(int(k))\n");
    }

    #[test]
    fn a_fix_outside_of_the_text_is_no_patch() {
        let fix = Fix { begin: 90, end: 91, text: "int(k)".to_owned() };
        assert!(fixed_files([("a.cu".into(), fix)].into_iter(), &|_| "f(k)\n".to_owned()).is_empty());
    }
}
