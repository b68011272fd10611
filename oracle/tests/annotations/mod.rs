//! Reads the leading comments of a corpus program. See `corpus/README.md`.

/// What a corpus program says of itself.
#[derive(Debug)]
pub struct Annotations {
    pub clauses: Vec<String>,
    pub expected: Expected,
    /// The `variable` and `address` lines, as they are written.
    pub variables: Vec<String>,
    /// The `kernel` and `kernel-address` lines, as they are written.
    pub kernels: Vec<String>,
    pub readings: Vec<(String, String)>,
    pub twin: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Expected {
    Accepted,
    Refused(String),
    Unmodelled,
}

impl Annotations {
    /// Unknown keys, a missing expectation and missing clauses are errors.
    pub fn read(text: &str) -> Result<Annotations, String> {
        let mut clauses = Vec::new();
        let mut expected = None;
        let mut variables = Vec::new();
        let mut kernels = Vec::new();
        let mut readings = Vec::new();
        let mut twin = None;
        for line in text.lines().map_while(|line| line.strip_prefix("//")) {
            let (key, value) =
                line.trim().split_once(": ").ok_or_else(|| format!("`{line}` is no `key: value`"))?;
            match key {
                "clause" => clauses.extend(value.split(", ").map(str::to_owned)),
                "expect" => {
                    expected = Some(match value.split_once(' ') {
                        Some(("refused", class)) => Expected::Refused(class.to_owned()),
                        None if value == "accepted" => Expected::Accepted,
                        None if value == "unmodelled" => Expected::Unmodelled,
                        _ => return Err(format!("no expectation `{value}`")),
                    });
                }
                "variable" | "address" => variables.push(format!("{key}: {value}")),
                "kernel" | "kernel-address" => kernels.push(format!("{key}: {value}")),
                "reading" => {
                    let (question, answer) = value.split_once('=').ok_or("a reading is QUESTION=ANSWER")?;
                    readings.push((question.to_owned(), answer.to_owned()));
                }
                "twin" => twin = Some(value.to_owned()),
                "note" => {}
                _ => return Err(format!("unknown key `{key}`")),
            }
        }
        if clauses.is_empty() {
            return Err("no clause".into());
        }
        let expected = expected.ok_or("no expectation")?;
        Ok(Annotations { clauses, expected, variables, kernels, readings, twin })
    }
}
