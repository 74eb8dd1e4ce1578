//! Prometheus' rubric as a text: the criterion in brackets, then a line for each score.

/// Most lines that a criterion may have; this bounds the search for its closing bracket.
const MAX_CRITERION_LINES: usize = 60;

/// One rubric of the text, with byte offsets.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) offset: usize,
    pub(super) criterion: String,
    /// Number, description, and where its line begins.
    pub(super) levels: Vec<(u32, String, usize)>,
}

/// The rubrics of a text, and where other text stands before the first of them.
pub(super) fn blocks(text: &str) -> (Vec<Block>, Option<usize>) {
    let mut offset = 0;
    let lines: Vec<(usize, &str)> = text
        .split('\n')
        .map(|line| {
            let start = offset;
            offset += line.len() + 1;
            (start, line.strip_suffix('\r').unwrap_or(line))
        })
        .collect();
    let mut found: Vec<Block> = Vec::new();
    let mut before = None;
    let mut at = 0;
    while let Some((start, line)) = lines.get(at) {
        if let Some((criterion, next)) = opening(&lines, at) {
            found.push(Block { offset: *start, criterion, levels: Vec::new() });
            at = next;
            continue;
        }
        at += 1;
        match found.last_mut() {
            Some(block) => match (level(line), block.levels.last_mut()) {
                (Some((number, description)), _) => {
                    block.levels.push((number, description.to_owned(), *start));
                }
                // A description of several lines.
                (None, Some((_, description, _))) => {
                    description.push('\n');
                    description.push_str(line);
                }
                (None, None) => {}
            },
            None if !line.trim().is_empty() => before = before.or(Some(*start)),
            None => {}
        }
    }
    for block in &mut found {
        for (_, description, _) in &mut block.levels {
            *description = description.trim().to_owned();
        }
    }
    (found, before)
}

/// The criterion whose opening bracket begins this line, and the line after it, which must be a score's.
fn opening(lines: &[(usize, &str)], at: usize) -> Option<(String, usize)> {
    let first = lines.get(at)?.1.strip_prefix('[')?;
    let mut criterion = String::new();
    for (index, (_, line)) in lines.iter().enumerate().skip(at).take(MAX_CRITERION_LINES) {
        let part = if index == at { first } else { line };
        if index > at {
            criterion.push('\n');
        }
        if let Some(end) = part.trim_end().strip_suffix(']')
            && lines.get(index + 1).is_some_and(|(_, next)| level(next).is_some())
        {
            criterion.push_str(end);
            return Some((criterion.trim().to_owned(), index + 1));
        }
        criterion.push_str(part);
    }
    None
}

/// `Score 3: …` taken apart.
fn level(line: &str) -> Option<(u32, &str)> {
    let (number, description) = line.strip_prefix("Score ")?.split_once(':')?;
    Some((number.trim().parse().ok()?, description.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p27_blocks_are_taken_apart_by_lf() {
        let text = "Use these.\n[Is it\u{2028}[kind]\r\nand warm?]\r\nScore 1: Cold.\nvery\nScore 2: Warm.\n\n[Next]\nScore 1: x";
        let (found, before) = blocks(text);
        assert_eq!(before, Some(0));
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].criterion, "Is it\u{2028}[kind]\nand warm?");
        assert_eq!(found[0].levels[0].1, "Cold.\nvery");
        assert_eq!((found[0].levels[1].0, found[0].levels[1].1.as_str()), (2, "Warm."));
        assert_eq!((found[1].offset, found[1].criterion.as_str()), (text.find("[Next").unwrap(), "Next"));
        assert_eq!(blocks("[1, 2]\n[{}]").0, []);
    }
}
