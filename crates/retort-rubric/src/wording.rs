//! Small tests on texts: leftover placeholders, paths in the place of texts, and the nearest known name.

/// Names that templates use for their slots: in braces or angle brackets they are leftovers, not content.
const SLOT_NAMES: [&str; 20] = [
    "answer",
    "criteria",
    "criterion",
    "description",
    "example",
    "id",
    "input",
    "instruction",
    "label",
    "level",
    "name",
    "output",
    "placeholder",
    "prompt",
    "question",
    "reference",
    "response",
    "rubric",
    "text",
    "todo",
];

/// Endings by which a text is taken for the name of a file.
const FILE_ENDINGS: [&str; 9] = [".toml", ".json", ".jsonl", ".yaml", ".yml", ".txt", ".md", ".csv", ".tsv"];

/// The first template slot that was left unfilled, with its delimiters: `{{anything}}`, `${name}`,
/// `{criterion}`, `<...>`, `<your text here>`, `<CRITERION>`. Markup such as `<b>`, braces around code and
/// comparisons are content and pass.
pub(crate) fn placeholder(text: &str) -> Option<&str> {
    for (start, character) in text.char_indices() {
        let rest = text.get(start..).unwrap_or_default();
        let found = match character {
            '{' if rest.starts_with("{{") => {
                slot(rest, "{{", "}}").filter(|(inside, _)| !inside.trim().is_empty()).map(|(_, whole)| whole)
            }
            '{' => slot(rest, "{", "}").filter(|(inside, _)| is_slot_name(inside)).map(|(_, whole)| whole),
            '$' if rest.starts_with("${") => {
                slot(rest, "${", "}").filter(|(inside, _)| is_identifier(inside)).map(|(_, whole)| whole)
            }
            '<' => slot(rest, "<", ">").filter(|(inside, _)| is_angle_slot(inside)).map(|(_, whole)| whole),
            _ => None,
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

/// The text between the delimiters at the start of `rest`, on one line and of at most 80 characters, and the
/// same with its delimiters.
fn slot<'a>(rest: &'a str, open: &str, close: &str) -> Option<(&'a str, &'a str)> {
    let inner = rest.strip_prefix(open)?;
    // Looking no further than 80 characters keeps the search linear however many delimiters a text has.
    let window_end = inner.char_indices().nth(80).map_or(inner.len(), |(index, _)| index);
    let inside = inner.get(..window_end)?.split_once(close)?.0;
    let whole = rest.get(..open.len() + inside.len() + close.len())?;
    (!inside.contains('\n')).then_some((inside, whole))
}

fn is_identifier(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

fn is_slot_name(text: &str) -> bool {
    SLOT_NAMES.contains(&text.trim().to_lowercase().as_str())
}

fn is_angle_slot(inside: &str) -> bool {
    if inside == "..." || inside == "…" {
        return true;
    }
    // With a space or sign first, the brackets are comparisons or arrows: a < b and c > d, a <- b -> c.
    let wordlike = inside.starts_with(char::is_alphanumeric)
        && inside.chars().any(char::is_alphabetic)
        && inside.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-' | '.' | '…'));
    let several_words = inside.contains([' ', '_']);
    let shouted = inside.chars().count() > 1 && !inside.chars().any(char::is_lowercase);
    wordlike && (several_words || shouted || is_slot_name(inside))
}

/// Whether a text is a path or file name rather than content: one line without white space that ends like a
/// file or begins like a path, or one line with white space that ends like a file and begins like a path or is of at most
/// three words with a separator in them.
pub fn looks_like_path(text: &str) -> bool {
    let text = text.trim();
    let lower = text.to_lowercase();
    let ends_like_file =
        FILE_ENDINGS.iter().any(|ending| lower.len() > ending.len() && lower.ends_with(ending));
    let begins_like_path =
        ["./", "../", "/", "~/", ".\\", "..\\", "file:", "@"].iter().any(|start| text.starts_with(start))
            || text.get(1..3) == Some(":\\");
    let one_word = !text.is_empty() && !text.contains(char::is_whitespace);
    let one_line = !text.contains(['\n', '\r']);
    let few_words = text.split_whitespace().count() <= 3;
    (one_word && (ends_like_file || begins_like_path))
        || (one_line && ends_like_file && (begins_like_path || (few_words && text.contains(['/', '\\']))))
}

/// The candidate that a misspelt name most likely meant, if one is near enough: compared by
/// [`plain`] form, at most a third of the characters changed, or the name being the beginning or end of the candidate.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = plain(name);
    // Nothing so long is a misspelling of a known name; this bounds the work.
    if name.is_empty() || name.len() > 100 {
        return None;
    }
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let known = plain(candidate);
        let longer = name.chars().count().max(known.chars().count());
        let begins = name.chars().count() >= 4 && (known.starts_with(&name) || known.ends_with(&name));
        let distance = if begins { 1 } else { edit_distance(&name, &known) };
        if distance <= (longer / 3).max(1) && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Lower-case letters and digits only, so that `Logical Robustness` and `logical-robustness` are one.
pub(crate) fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The id that [`read`](crate::read) makes from a name: lower-case letters and digits, everything between them one
/// `_`; at most 64 characters; empty if the name has neither letter nor digit.
pub fn slug(name: &str) -> String {
    let mut id = String::new();
    let mut count = 0;
    for character in name.chars().flat_map(char::to_lowercase) {
        if count == 64 {
            break;
        }
        if character.is_alphanumeric() {
            id.push(character);
            count += 1;
        } else if !id.is_empty() && !id.ends_with('_') {
            id.push('_');
            count += 1;
        }
    }
    id.trim_end_matches('_').to_owned()
}

/// Characters to insert, remove or replace, or neighbours to swap, to turn one text into the other.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.iter().enumerate() {
        let mut next = vec![i + 1];
        let mut left = i + 1;
        for (j, ((to, &diagonal), &above)) in b.iter().zip(&row).zip(row.iter().skip(1)).enumerate() {
            left = (diagonal + usize::from(from != to)).min(above + 1).min(left + 1);
            let swapped = i > 0 && j > 0 && b.get(j - 1) == Some(from) && a.get(i - 1) == Some(to);
            if let Some(&corner) = before.get(j.wrapping_sub(1)).filter(|_| swapped) {
                left = left.min(corner + 1);
            }
            next.push(left);
        }
        before = std::mem::replace(&mut row, next);
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p9_leftover_placeholders_are_found_and_content_is_not() {
        for (text, slot) in [
            ("Is it {{criterion}}?", "{{criterion}}"),
            ("Is it {{ x }}?", "{{ x }}"),
            ("Rate {response} now", "{response}"),
            ("Rate ${anything} now", "${anything}"),
            ("A good <...> text", "<...>"),
            ("<your criterion here>", "<your criterion here>"),
            ("Rate <CRITERION>.", "<CRITERION>"),
            ("a < b, <level_1>", "<level_1>"),
            ("<name>", "<name>"),
        ] {
            assert_eq!(placeholder(text), Some(slot), "{text}");
        }
        for text in [
            "Uses <b> and <table> correctly.",
            "a < b and c > d",
            "Returns {\"key\": 1} as JSON, or {}",
            "Writes <|im_end|> literally",
            "The set {1, 2}",
            "x <- y -> z",
            "{{}}",
            "Costs $5",
            "{{ never closed",
        ] {
            assert_eq!(placeholder(text), None, "{text}");
        }
    }

    #[test]
    fn p9_paths_are_told_from_texts() {
        for path in [
            "tone.toml",
            "my/tone.JSON",
            "./tone",
            "/a/b",
            "C:\\x y\\tone.toml",
            "my rubrics/tone.toml",
            "@tone.toml",
        ] {
            assert!(looks_like_path(path), "{path}");
        }
        for text in
            ["", "Is it polite?", "Mentions config.toml by name.", "Yes/no answers only", "polite", "5/7"]
        {
            assert!(!looks_like_path(text), "{text}");
        }
    }

    #[test]
    fn the_nearest_name_is_near() {
        let names = ["criterion", "question", "options"];
        assert_eq!(nearest("criteria", names), Some("criterion"));
        assert_eq!(nearest("Questions", names), Some("question"));
        assert_eq!(nearest("qusetion", names), Some("question"));
        assert_eq!(nearest("crit", names), Some("criterion"));
        assert_eq!(nearest("weight", names), None);
        assert_eq!(nearest("", names), None);
    }

    #[test]
    fn edit_distances_are_the_textbooks() {
        // kitten → sitting is the usual example.
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("name", "nmae"), 1);
        assert_eq!(edit_distance("ab", "ba"), 1);
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("abc", ""), 3);
    }

    #[test]
    fn slugs_keep_letters_of_every_script() {
        assert_eq!(slug("Tone & style (v2)!"), "tone_style_v2");
        assert_eq!(slug("可读性"), "可读性");
        assert_eq!(slug("?!"), "");
        assert_eq!(slug(&"x".repeat(100)).len(), 64);
    }
}
