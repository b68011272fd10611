//! Parsers for the values of options.

use std::num::{NonZeroU64, NonZeroUsize};
use std::time::{Duration, SystemTime};

use clap::ValueEnum;
use ptxsmith_oracle::Question;
use ptxsmith_subject::{SubjectSpec, parse_spec};

/// The results that `--deny` turns into exit status 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DeniedResult {
    /// A known deviation that shows
    Known,
    /// Something that could not be compared
    Uncompared,
}

/// Parses a count that may be 0: `1000`, `1_000_000`, `5k`, `2M`, `1e6`.
pub fn count_or_none(text: &str) -> Result<u64, String> {
    let number = read_count(text.trim());
    number.ok_or_else(|| {
        format!("`{}` is not a number of things: write 5000, 5_000, 5k, 2M or 1e6", text.trim())
    })
}

/// Parses a count like [`count_or_none`], but at least 1.
pub fn count(text: &str) -> Result<NonZeroU64, String> {
    NonZeroU64::new(count_or_none(text)?).ok_or_else(|| "must be at least 1".to_owned())
}

/// Parses a number of threads, at least 1.
pub fn jobs(text: &str) -> Result<NonZeroUsize, String> {
    let number = text.trim().parse::<usize>().map_err(|_| format!("`{text}` is not a number of threads"))?;
    NonZeroUsize::new(number)
        .ok_or_else(|| "must be at least 1; without --jobs all cores are used".to_owned())
}

fn read_count(text: &str) -> Option<u64> {
    let text = text.replace('_', "");
    // Require a digit first: `u64` would accept `+1`, and `e6` has no digits.
    text.chars().next().filter(char::is_ascii_digit)?;
    let powers = [('k', 3), ('K', 3), ('m', 6), ('M', 6), ('g', 9), ('G', 9)];
    let suffix = powers.iter().find_map(|&(suffix, power)| Some((text.strip_suffix(suffix)?, power)));
    let (digits, power): (&str, u32) = match suffix {
        Some((digits, power)) => (digits, power),
        None => match text.split_once(['e', 'E']) {
            Some((digits, power)) => (digits, power.parse().ok()?),
            None => (&*text, 0),
        },
    };
    // A fraction is allowed if the exponent makes the number whole: `1.5e6`.
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let fraction = fraction.trim_end_matches('0');
    let power = power.checked_sub(u32::try_from(fraction.len()).ok()?)?;
    format!("{whole}{fraction}").parse::<u64>().ok()?.checked_mul(10_u64.checked_pow(power)?)
}

/// Bytes in memory order, from the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputBytes(pub Vec<u8>);

/// Parses bytes of two hexadecimal digits each, such as `01000000`. Blanks and `_` are ignored.
pub fn bytes(text: &str) -> Result<InputBytes, String> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .filter(|&letter| letter != '_' && !letter.is_whitespace())
        .map(|letter| letter.to_digit(16).map(|digit| digit as u8))
        .collect();
    match digits {
        Some(digits) if digits.len() % 2 == 0 => {
            Ok(InputBytes(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()))
        }
        _ => Err(format!("`{text}` is not bytes of two hexadecimal digits each: write 01000000")),
    }
}

/// Parses a target, such as `sm_35`.
pub fn target(text: &str) -> Result<String, String> {
    let number = text.strip_prefix("sm_").filter(|number| number.starts_with(|c: char| c.is_ascii_digit()));
    number.map(|_| text.to_owned()).ok_or_else(|| format!("`{text}` is not a target: write sm_35"))
}

/// Parses a PTX version, such as `7.8`.
pub fn ptx_version(text: &str) -> Result<(u32, u32), String> {
    let numbers = text.split_once('.').map(|(major, minor)| (major.parse(), minor.parse()));
    match numbers {
        Some((Ok(major), Ok(minor))) => Ok((major, minor)),
        _ => Err(format!("`{text}` is not a version of PTX: write 7.8")),
    }
}

/// Parses a regular expression.
pub fn regex(text: &str) -> Result<regex_lite::Regex, String> {
    regex_lite::Regex::new(text).map_err(|error| error.to_string())
}

/// Returns the known name that is most similar to a misspelt name, or `None` if nothing is similar enough.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let scored = known.into_iter().map(|known| (strsim::jaro_winkler(name, known), known));
    let similar = scored.filter(|(score, _)| *score > 0.8);
    similar.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, known)| known)
}

/// Returns `; did you mean ...` for a misspelt name, or an empty string if no known name is similar.
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, known).map(|known| format!("; did you mean `{known}`?")).unwrap_or_default()
}

/// Parses the specification of an implementation under test, as in `--subject`.
pub fn subject(text: &str) -> Result<SubjectSpec, String> {
    parse_spec(text).map_err(|error| {
        let form = fixed_part(text);
        let filled = &text[form.len()..];
        match nearest(form, SubjectSpec::FORMS.iter().map(|form| fixed_part(form.form))) {
            Some(near) if near != form => format!("{error}; did you mean `{near}{filled}`?"),
            _ => error.to_string(),
        }
    })
}

/// Returns a form of a subject up to its first `@` or `:`.
fn fixed_part(form: &str) -> &str {
    let end = form.find(['@', ':']).map_or(form.len(), |index| index + 1);
    &form[..end]
}

/// Parses an interpretation, such as `shift-count=modulo`, into the question and the index of its answer.
pub fn interpretation(text: &str) -> Result<(Question, usize), String> {
    let (name, answer) = text.split_once('=').ok_or("write QUESTION=ANSWER")?;
    let question = Question::from_name(name).ok_or_else(|| {
        let names: Vec<_> = Question::ALL.iter().map(|question| question.name()).collect();
        let hint = did_you_mean(name, names.iter().copied());
        format!("no open question `{name}`; there are {}{hint}", names.join(", "))
    })?;
    let place = question.answers().iter().position(|&known| known == answer);
    let place = place.ok_or_else(|| {
        let hint = did_you_mean(answer, question.answers().iter().copied());
        format!("no answer `{answer}` to `{name}`; there are {}{hint}", question.answers().join(", "))
    })?;
    Ok((question, place))
}

/// The maximum number of ids that an error message lists.
const MOST_IDS: usize = 20;

/// Finds an id, exactly or by a unique prefix, and returns its index.
pub fn meant(ids: &[&str], id: &str) -> Result<usize, String> {
    let mut meant: Vec<usize> = (0..ids.len()).filter(|&index| ids[index] == id).collect();
    if meant.is_empty() {
        meant = (0..ids.len()).filter(|&index| ids[index].starts_with(id)).collect();
    }
    if let [only] = meant[..] {
        return Ok(only);
    }
    let shown: Vec<&str> = ids.iter().copied().take(MOST_IDS).collect();
    let there = match (shown.len(), ids.len()) {
        (0, _) => "there is none".to_owned(),
        (shown_count, all) if shown_count < all => {
            format!("there are {} and {} more", shown.join(", "), all - shown_count)
        }
        _ => format!("there are {}", shown.join(", ")),
    };
    let problem = if meant.is_empty() { "no finding" } else { "more than one finding" };
    let hint = if meant.is_empty() { did_you_mean(id, ids.iter().copied()) } else { String::new() };
    Err(format!("{problem} `{id}`; {there}{hint}"))
}

/// Parses a duration, such as `10m`, `90s` or `1h 30m`. Zero is an error.
pub fn duration(text: &str) -> Result<Duration, String> {
    let duration = humantime::parse_duration(text.trim())
        .map_err(|error| format!("{error}; write 90s, 10m or 1h30m"))?;
    if duration.is_zero() { Err("must be more than nothing".to_owned()) } else { Ok(duration) }
}

/// Parses a time, either an age (`1d`) or a date in UTC (`2026-11-20`, `2026-11-20 02:00:00`).
pub fn since(text: &str) -> Result<SystemTime, String> {
    let text = text.trim();
    if let Ok(ago) = humantime::parse_duration(text) {
        return SystemTime::now().checked_sub(ago).ok_or_else(|| "that is before all time".to_owned());
    }
    let time = if text.len() == "2026-11-20".len() { format!("{text}T00:00:00Z") } else { text.to_owned() };
    humantime::parse_rfc3339_weak(&time)
        .map_err(|_| "write 1d, 12h, 2026-11-20 or 2026-11-20 02:00:00".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_what_people_write() {
        let read = |text| count(text).map(NonZeroU64::get);
        for (text, number) in [
            ("1000", 1_000),
            ("1_000_000", 1_000_000),
            ("5k", 5_000),
            ("2M", 2_000_000),
            ("1e6", 1_000_000),
            ("1.5e6", 1_500_000),
            ("0.5k", 500),
            (" 7 ", 7),
        ] {
            assert_eq!(read(text), Ok(number), "{text}");
        }
        for text in ["", "-1", "+1", "1.5", "e6", "k", "1e-3", "1e99", "0x10", "5kk", "1.0001k"] {
            assert!(read(text).unwrap_err().contains("write 5000, 5_000, 5k, 2M or 1e6"), "{text}");
        }
        assert_eq!(read("0").unwrap_err(), "must be at least 1");
        assert_eq!(count_or_none("0"), Ok(0));
    }

    #[test]
    fn no_threads_are_refused_with_what_is_meant_instead() {
        assert!(jobs("0").unwrap_err().contains("without --jobs all cores"));
        assert_eq!(jobs("3").map(NonZeroUsize::get), Ok(3));
        assert!(jobs("many").is_err());
    }

    #[test]
    fn a_misspelt_subject_is_answered_with_the_one_that_is_near() {
        let hint = |text: &str| subject(text).unwrap_err();
        assert!(hint("ptaxs").ends_with("did you mean `ptxas`?"), "{}", hint("ptaxs"));
        assert!(hint("ptaxs@13.5").ends_with("did you mean `ptxas@13.5`?"));
        assert!(hint("sreve:tool").ends_with("did you mean `serve:tool`?"));
        assert!(!hint("llvm").contains("did you mean"));
        assert!(subject("ptxas@13.5").is_ok());
    }

    #[test]
    fn a_reading_that_does_not_exist_is_told_which_do() {
        assert_eq!(interpretation("shift-count=modulo"), Ok((Question::ShiftCount, 1)));
        let misspelt = interpretation("shift-cuont=modulo").unwrap_err();
        assert!(misspelt.contains("there are address-subtraction, ") && misspelt.ends_with("`shift-count`?"));
        assert!(interpretation("shift-count=mod").unwrap_err().contains("there are saturate, modulo"));
        assert!(interpretation("shift-count").is_err());
    }

    #[test]
    fn durations_are_what_people_write() {
        assert_eq!(duration("10m"), Ok(Duration::from_secs(600)));
        assert_eq!(duration("1h 30m"), Ok(Duration::from_secs(5400)));
        assert!(duration("10").unwrap_err().contains("write 90s"));
        assert!(duration("0s").is_err() && duration("-1s").is_err() && duration("").is_err());
    }

    #[test]
    fn since_is_a_time_ago_or_a_date() {
        let day = Duration::from_secs(86_400);
        let then = since("1d").unwrap();
        let ago = SystemTime::now().duration_since(then).unwrap();
        assert!(ago >= day && ago < day + Duration::from_secs(60));
        assert_eq!(since("1970-01-02"), Ok(std::time::UNIX_EPOCH + day));
        assert_eq!(since("1970-01-02 00:00:00"), since("1970-01-02T00:00:00Z"));
        assert!(since("yesterday").unwrap_err().contains("write 1d"));
    }
}
