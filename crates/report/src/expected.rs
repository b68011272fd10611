//! Lists of expected failures, one per line: `ID WORD ... # REASON`. Ids and words are quoted as in a shell
//! where necessary.
//!
//! `run`, `check`, `cuda check` and the runner of the published suite share this format. Each of them
//! interprets the words after the id in its own way.

/// One line of a list of expected failures.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListedFailure {
    /// The id of the failure.
    pub id: String,
    /// Words that restrict the entry, for example to a subject or to releases.
    pub words: Vec<String>,
    /// The reason why the failure is expected.
    pub reason: String,
}

/// Parses a list. Lines that begin with `#` are comments.
///
/// ```
/// let list = ptxsmith_report::expected::read("# A comment.\noctal-as-decimal ptxas 12.6  # to be mended\n").unwrap();
/// assert_eq!((&*list[0].id, &*list[0].words[1], &*list[0].reason), ("octal-as-decimal", "12.6", "to be mended"));
/// ```
///
/// # Errors
/// Returns the first line with an unclosed quote.
pub fn read(text: &str) -> Result<Vec<ListedFailure>, String> {
    let mut list = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (words, reason) = line.split_once(" #").unwrap_or((line, ""));
        let words = shell_words::split(words).map_err(|error| format!("line {number}: {error}"))?;
        let mut words = words.into_iter();
        let id = words.next().unwrap_or_default();
        list.push(ListedFailure { id, words: words.collect(), reason: reason.trim().to_owned() });
    }
    Ok(list)
}

/// Formats a list, with a comment above it.
pub fn write(head: &str, list: &[ListedFailure]) -> String {
    let mut text: String = head.lines().map(|line| format!("# {line}\n")).collect();
    for ListedFailure { id, words, reason } in list {
        text.push_str(&shell_words::join([id].into_iter().chain(words)));
        if !reason.is_empty() {
            text.push_str("  # ");
            text.extend(reason.chars().map(|c| if c.is_control() { ' ' } else { c }));
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_list_is_read_back() {
        let line = |id: &str, words: &[&str], reason: &str| ListedFailure {
            id: id.to_owned(),
            words: words.iter().map(|&word| word.to_owned()).collect(),
            reason: reason.to_owned(),
        };
        let list = [
            line("a b.cu:$x:key", &[], "f(&x); // # 1"),
            line("refuses-*", &["exec:mine --flag", "11.7", "to", "12.6"], ""),
        ];
        let text = write("Two.\nLines.", &list);
        assert!(text.starts_with("# Two.\n# Lines.\n"), "{text}");
        assert_eq!(read(&text), Ok(list.to_vec()));
        assert_eq!(read("\n a # b\n#c\n d\n").unwrap(), [line("a", &[], "b"), line("d", &[], "")]);
        assert!(read("a\n'b\n").unwrap_err().starts_with("line 2: "));
        assert_eq!(read(&write("", &[line("a", &[], "b\nc")])).unwrap(), [line("a", &[], "b c")]);
    }
}
