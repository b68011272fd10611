//! Changes of the source that keep its meaning and end a violation, and the patch that makes them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Text that replaces other text of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fix {
    /// The first byte that is replaced.
    pub begin: usize,
    /// The first byte that is kept again.
    pub end: usize,
    /// What stands there instead.
    pub text: String,
}

/// A file with its fixes.
#[derive(Debug)]
pub struct Fixed {
    /// Which.
    pub path: PathBuf,
    /// What it holds.
    pub text: String,
    /// What it shall hold.
    pub fixed: String,
}

/// The files that fixes change. `text_of` says what is in a file.
pub fn fixed(fixes: impl Iterator<Item = (PathBuf, Fix)>, text_of: &dyn Fn(&Path) -> String) -> Vec<Fixed> {
    let mut files: BTreeMap<PathBuf, Vec<Fix>> = BTreeMap::new();
    for (path, fix) in fixes {
        files.entry(path).or_default().push(fix);
    }
    let fixed = files.into_iter().map(|(path, mut fixes)| {
        let text = text_of(&path);
        fixes.sort();
        fixes.dedup();
        let fixed = apply(&text, &fixes);
        Fixed { path, text, fixed }
    });
    fixed.filter(|file| file.fixed != file.text).collect()
}

/// A patch that makes fixes, as `patch -p0` and `git apply -p0` take it; empty where there are none.
pub fn patch(files: &[Fixed]) -> String {
    let mut patch = String::new();
    for Fixed { path, text, fixed } in files {
        let name = path.display().to_string();
        let mut options = diffy::DiffOptions::new();
        options.set_original_filename(name.clone()).set_modified_filename(name);
        patch += &options.create_patch(text, fixed).to_string();
    }
    patch
}

/// The text with its fixes; one that overlaps another is left out.
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
        let patch = patch(&fixed(fixes, &|_| "f(k)\n  g(k)\n".to_owned()));
        assert_eq!(patch, "--- a.cu\n+++ a.cu\n@@ -1,2 +1,2 @@\n-f(k)\n-  g(k)\n+f(int(k))\n+  g(int(k))\n");
    }

    #[test]
    fn a_fix_outside_of_the_text_is_no_patch() {
        let fix = Fix { begin: 90, end: 91, text: "int(k)".to_owned() };
        assert!(fixed([("a.cu".into(), fix)].into_iter(), &|_| "f(k)\n".to_owned()).is_empty());
    }
}
