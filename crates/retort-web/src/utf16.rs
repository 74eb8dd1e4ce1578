//! Places in texts, as JavaScript counts them: in UTF-16 units, where Rust counts bytes.

use std::ops::Range;

use retort_annotate::Annotated;
use retort_judge::{Decision, ItemVerdict};

/// Turns the evidence of an item from bytes of the response into UTF-16 units.
pub(crate) fn item(item: &mut ItemVerdict, response: &str) {
    if let Decision::Code { finding } = &mut item.decision {
        ranges(&mut finding.evidence, response);
    }
}

/// Turns the evidence of an annotation from bytes of the instruction into UTF-16 units.
pub(crate) fn evidence(annotated: &mut Annotated, instruction: &str) {
    let mut found: Vec<Range<usize>> = annotated.evidence.iter().map(|piece| piece.range.clone()).collect();
    ranges(&mut found, instruction);
    for (piece, range) in annotated.evidence.iter_mut().zip(found) {
        piece.range = range;
    }
}

/// Turns byte ranges on character boundaries into ranges in UTF-16 units; one pass over the text.
pub(crate) fn ranges(ranges: &mut [Range<usize>], text: &str) {
    let mut places: Vec<&mut usize> =
        ranges.iter_mut().flat_map(|range| [&mut range.start, &mut range.end]).collect();
    places.sort_unstable();
    let (mut byte, mut unit) = (0, 0);
    for place in places {
        let upto = (*place).min(text.len());
        unit += text.get(byte..upto).map_or(0, |between| between.encode_utf16().count());
        byte = upto;
        *place = unit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_those_of_javascript() {
        // "é" has two bytes and one unit, "😀" four bytes and two units: "aé😀b" lies at 0, 1, 3, 7 in bytes and at
        // 0, 1, 2, 4 in units ("aé😀b".indexOf("b") is 4). Overlapping and unordered ranges are fine.
        let mut found = [7..8, 0..3, 1..7, 3..3];
        ranges(&mut found, "aé😀b");
        assert_eq!(found, [4..5, 0..2, 1..4, 2..2]);
    }
}
