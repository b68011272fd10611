//! Lists of expected failures: a line each, `ID WORD ... # REASON`, with ids and words quoted as in a shell where they need that.
//!
//! One format for `run`, `check`, `cuda check` and the runner of the published suite. What the words behind an id say is the
//! reader's.

/// One line of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Expected {
    /// The failure.
    pub id: String,
    /// What narrows it.
    pub words: Vec<String>,
    /// Why it is expected.
    pub reason: String,
}

/// Reads a list; lines that begin with `#` are comments.
///
/// ```
/// let list = ptxsmith_report::expected::read("# A comment.\noctal-as-decimal ptxas 12.6  # to be mended\n").unwrap();
/// assert_eq!((&*list[0].id, &*list[0].words[1], &*list[0].reason), ("octal-as-decimal", "12.6", "to be mended"));
/// ```
///
/// # Errors
/// The first line whose quotes are not closed.
pub fn read(text: &str) -> Result<Vec<Expected>, String> {
    let lines = text.lines().zip(1..).map(|(line, number)| (line.trim(), number));
    let mut list = Vec::new();
    for (line, number) in lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#')) {
        let (words, reason) = line.split_once(" #").unwrap_or((line, ""));
        let words = shell_words::split(words).map_err(|error| format!("line {number}: {error}"))?;
        let mut words = words.into_iter();
        let id = words.next().unwrap_or_default();
        list.push(Expected { id, words: words.collect(), reason: reason.trim().to_owned() });
    }
    Ok(list)
}

/// Writes a list, with a comment above it.
pub fn write(head: &str, list: &[Expected]) -> String {
    let mut text: String = head.lines().map(|line| format!("# {line}\n")).collect();
    for Expected { id, words, reason } in list {
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
    fn what_is_written_is_read() {
        let line = |id: &str, words: &[&str], reason: &str| Expected {
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
