//! Text from elsewhere, made safe for a log line: it can neither begin a line of its own nor control a terminal, and
//! its length is limited.

use std::borrow::Cow;
use std::fmt::Write as _;

use carat_policy::Counted;

/// The most bytes of a text in a log line, before it is escaped. A longer text loses its middle.
const TEXT_LIMIT: usize = 16 * 1024;

/// How many bytes of a text that is too long are taken from its end.
const TAIL: usize = TEXT_LIMIT / 4;

/// The beginning of the second and each further line of a text.
const INDENT: &str = "    ";

/// Quotes a value that is not a single word. A text of several lines begins on the next line.
pub fn quoted(value: &str) -> String {
    let value = shortened(value.trim_end());
    if value.contains('\n') {
        value.split('\n').fold(String::new(), |text, line| {
            text + "\n" + &printable(&indented(line))
        })
    } else if value.is_empty() || !value.chars().all(is_plain) {
        format!("{value:?}")
    } else {
        value.into_owned()
    }
}

/// The lines of `text`, all but the first indented.
pub fn block(text: &str) -> String {
    let text = shortened(text.trim_end());
    let mut lines = text.split('\n');
    let first = printable(lines.next().unwrap_or_default());
    lines.fold(first, |text, line| {
        text + "\n" + &printable(&indented(line))
    })
}

/// `text` with at most `TEXT_LIMIT` bytes, and a note of how many are left out.
pub fn shortened(text: &str) -> Cow<'_, str> {
    let Some(hidden) = text
        .len()
        .checked_sub(TEXT_LIMIT)
        .filter(|&hidden| hidden > 0)
    else {
        return Cow::Borrowed(text);
    };
    let (mut head, mut tail) = (TEXT_LIMIT - TAIL, text.len() - TAIL);
    while !text.is_char_boundary(head) {
        head -= 1;
    }
    while !text.is_char_boundary(tail) {
        tail += 1;
    }
    Cow::Owned(format!(
        "{}\n... {} left out ...\n{}",
        &text[..head],
        Counted(hidden as u64, "byte"),
        &text[tail..]
    ))
}

/// Escapes characters that JSON allows in a string, and that a terminal or a pager would obey. Outside of strings, JSON
/// has none of these characters.
pub fn json_printable(json: String) -> String {
    if !json.chars().any(is_hidden) {
        return json;
    }
    json.chars().fold(String::new(), |mut text, character| {
        if is_hidden(character) {
            // Writing to a String cannot fail.
            let _ = write!(text, "\\u{:04x}", u32::from(character));
        } else {
            text.push(character);
        }
        text
    })
}

fn is_plain(character: char) -> bool {
    !matches!(character, ' ' | '"' | '=') && !character.is_control() && !is_hidden(character)
}

/// Whether this is a control character above ASCII, a line separator, or a character that changes the direction of a
/// text.
pub fn is_hidden(character: char) -> bool {
    matches!(
        character,
        '\u{7f}'..='\u{9f}' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

fn indented(line: &str) -> String {
    let line = line.strip_suffix('\r').unwrap_or(line);
    if line.starts_with(INDENT) {
        return line.to_owned();
    }
    format!("{INDENT}{}", line.trim_start_matches('\t'))
}

fn printable(line: &str) -> String {
    line.chars().fold(String::new(), |mut text, character| {
        if character.is_control() || is_hidden(character) {
            text.extend(character.escape_unicode());
        } else {
            text.push(character);
        }
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORGED: &str = "2026-01-01T00:00:00.000Z info worker ready";

    #[test]
    fn a_second_line_cannot_be_taken_for_a_line_of_the_log() {
        let value = format!("a\r\n{FORGED}\n\tfrom b\n      c\n");
        let lines = format!("a\n    {FORGED}\n    from b\n      c");
        assert_eq!(quoted(&value), format!("\n    {lines}").replace('\r', ""));
        assert_eq!(block(&value), lines.replacen('a', "a\\u{d}", 1));
    }

    #[test]
    fn what_a_terminal_obeys_is_shown() {
        let found = quoted("a\r\x1b[2J\0\u{9b}\u{202e}");
        assert_eq!(found, r#""a\r\u{1b}[2J\0\u{9b}\u{202e}""#);
        let found = block("\x1b[2J\n\0\u{9b}\u{2028}x");
        assert_eq!(found, "\\u{1b}[2J\n    \\u{0}\\u{9b}\\u{2028}x");
        let found = json_printable("\"\u{9b}\u{7f}ü\"".to_owned());
        assert_eq!(found, r#""\u009b\u007fü""#);
    }

    #[test]
    fn a_word_stays_as_it_is() {
        for word in ["2", "config.ru:1:", "in `block'", r"C:\x", "日本語"] {
            assert_eq!(quoted(word).trim_matches('"'), word);
            assert_eq!(block(word), word);
        }
        assert_eq!(quoted(""), "\"\"");
    }

    #[test]
    fn the_middle_of_a_long_text_is_left_out() {
        let text = format!("first{}last", "ü".repeat(TEXT_LIMIT));
        let short = block(&text);
        assert!(short.len() < TEXT_LIMIT + 100);
        assert!(short.starts_with("firstü") && short.ends_with("ülast"));
        assert!(short.contains(" bytes left out ...\n"));
        assert!(quoted(&text).len() < TEXT_LIMIT + 100);
    }
}
