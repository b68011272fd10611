//! Selects the files in which violations are reported: those of the project, not headers of others.

use std::path::{Path, PathBuf};

use regex_lite::Regex;

/// The selection of files in which violations are reported. The checked file itself always belongs to it.
#[derive(Clone, Debug)]
pub enum ReportFilter {
    /// The files of the checked file's project: those below the nearest directory around it that contains
    /// `.git`, or else below its own directory.
    Project,
    /// The headers whose path matches.
    Headers(Regex),
}

/// The selection for one checked file.
#[derive(Debug)]
pub struct FileFilter<'a> {
    file: PathBuf,
    project: PathBuf,
    headers: Option<&'a Regex>,
}

impl ReportFilter {
    /// Parses a regular expression for headers. Fails with the reason if it is invalid.
    pub fn matching(regex: &str) -> Result<Self, String> {
        Regex::new(regex).map(ReportFilter::Headers).map_err(|error| error.to_string())
    }

    /// Whether the regular expression matches this header. Such headers are examined even if they are system
    /// headers.
    pub fn names(&self, header: &str) -> bool {
        matches!(self, ReportFilter::Headers(regex) if regex.is_match(header))
    }

    /// Returns the selection for this checked file.
    pub fn for_file(&self, file: &Path) -> FileFilter<'_> {
        let file = canonical(file);
        let directory = file.parent().unwrap_or(&file);
        let repository = directory.ancestors().find(|directory| directory.join(".git").exists());
        let project = repository.unwrap_or(directory).to_owned();
        let headers = match self {
            ReportFilter::Project => None,
            ReportFilter::Headers(regex) => Some(regex),
        };
        FileFilter { project, file, headers }
    }
}

impl FileFilter<'_> {
    /// Whether violations in this file are reported.
    pub fn shows(&self, named: &Path) -> bool {
        let file = canonical(named);
        if file == self.file {
            return true;
        }
        match self.headers {
            Some(headers) => [named, &file].iter().any(|path| headers.is_match(&path.to_string_lossy())),
            None => file.starts_with(&self.project),
        }
    }
}

/// Returns the path without links, or unchanged if there is no such file.
fn canonical(path: &Path) -> PathBuf {
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
        let shown = |filter: &ReportFilter, file: &str| {
            let filter = filter.for_file(&root.path().join(file));
            ["p/src/a.cu", "p/include/a.h", "other/b.h"].map(|file| filter.shows(&root.path().join(file)))
        };
        assert_eq!(shown(&ReportFilter::Project, "p/src/a.cu"), [true, true, false]);
        assert_eq!(shown(&ReportFilter::Project, "other/b.cu"), [false, false, true]);
        let headers = ReportFilter::Headers(Regex::new("other/.*h$").unwrap());
        assert_eq!(shown(&headers, "p/src/a.cu"), [true, false, true]);
    }
}
