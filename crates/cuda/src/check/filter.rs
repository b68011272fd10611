//! In which files violations are reported: those of the project, not those of others' headers.

use std::path::{Path, PathBuf};

use regex_lite::Regex;

/// In which files violations are reported.
#[derive(Clone, Debug)]
pub enum Filter {
    /// In the file that is checked and in those of its project: below the nearest directory around it that holds `.git`, or
    /// below its own.
    Project,
    /// In the file that is checked and in headers whose path matches.
    Headers(Regex),
}

/// The filter for one file.
#[derive(Debug)]
pub struct FileFilter<'a> {
    file: PathBuf,
    project: PathBuf,
    headers: Option<&'a Regex>,
}

impl Filter {
    /// The filter of a regular expression for headers; an error that says why it is none.
    pub fn matching(regex: &str) -> Result<Self, String> {
        Regex::new(regex).map(Filter::Headers).map_err(|error| error.to_string())
    }

    /// Whether a header's path matches, so that it is looked into though it is a system header.
    pub fn names(&self, header: &str) -> bool {
        matches!(self, Filter::Headers(regex) if regex.is_match(header))
    }

    /// The filter for this file.
    pub fn for_file(&self, file: &Path) -> FileFilter<'_> {
        let file = real(file);
        let own = file.parent().unwrap_or(&file);
        let project =
            own.ancestors().find(|directory| directory.join(".git").exists()).unwrap_or(own).to_owned();
        let headers = match self {
            Filter::Project => None,
            Filter::Headers(regex) => Some(regex),
        };
        FileFilter { project, file, headers }
    }
}

impl FileFilter<'_> {
    /// Whether violations in this file are reported.
    pub fn shows(&self, named: &Path) -> bool {
        let file = real(named);
        let matches =
            |headers: &Regex| [named, &file].iter().any(|path| headers.is_match(&path.to_string_lossy()));
        file == self.file
            || match self.headers {
                Some(headers) => matches(headers),
                None => file.starts_with(&self.project),
            }
    }
}

fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_project_are_shown_and_others_only_on_demand() {
        let root = tempfile::tempdir().unwrap();
        for directory in ["p/.git", "p/src", "p/include", "other"] {
            std::fs::create_dir_all(root.path().join(directory)).unwrap();
        }
        for file in ["p/src/a.cu", "p/include/a.h", "other/b.h", "other/b.cu"] {
            std::fs::write(root.path().join(file), "").unwrap();
        }
        let shown = |filter: &Filter, file: &str| {
            let filter = filter.for_file(&root.path().join(file));
            ["p/src/a.cu", "p/include/a.h", "other/b.h"].map(|file| filter.shows(&root.path().join(file)))
        };
        assert_eq!(shown(&Filter::Project, "p/src/a.cu"), [true, true, false]);
        assert_eq!(shown(&Filter::Project, "other/b.cu"), [false, false, true]);
        let headers = Filter::Headers(Regex::new("other/.*h$").unwrap());
        assert_eq!(shown(&headers, "p/src/a.cu"), [true, false, true]);
    }
}
