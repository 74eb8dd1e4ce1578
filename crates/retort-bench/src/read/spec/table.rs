//! Rows of tables in text, one at a time.

use std::io::BufRead;

/// The rows of a CSV or TSV file as RFC 4180 has them, each with the physical line on which it begins.
///
/// `csv`'s own reader gives the line on which it began to look, which is another one after an empty line or `\r\n`.
pub(in crate::read) struct Records<R> {
    input: R,
    /// `None` where nothing is quoted.
    parser: Option<Box<csv_core::Reader>>,
    delimiter: u8,
    /// Line feeds before the place where the input is.
    line: usize,
    fields: Vec<u8>,
    ends: Vec<usize>,
}

/// A row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::read) struct Record {
    /// Physical line from 1 on which it begins.
    pub(in crate::read) line: usize,
    /// Its cells, which need not be UTF-8.
    pub(in crate::read) cells: Vec<Vec<u8>>,
    /// Whether the file ends within a quoted cell of it.
    pub(in crate::read) unclosed: bool,
}

impl<R: BufRead> Records<R> {
    /// The rows of a file whose cells may be quoted.
    pub(in crate::read) fn quoted(input: R, delimiter: u8) -> Self {
        let parser = csv_core::ReaderBuilder::new().delimiter(delimiter).build();
        Self { parser: Some(Box::new(parser)), ..Self::raw(input, delimiter) }
    }

    /// The rows of a file in which a quote is a character like any other: one per line.
    pub(in crate::read) fn raw(input: R, delimiter: u8) -> Self {
        Self { input, parser: None, delimiter, line: 0, fields: vec![0; 1024], ends: vec![0; 16] }
    }

    /// The next row; empty lines are none.
    pub(in crate::read) fn next(&mut self) -> std::io::Result<Option<Record>> {
        loop {
            match self.input.fill_buf()?.first() {
                None => return Ok(None),
                Some(b'\n') => self.line += 1,
                Some(b'\r') => {}
                Some(_) => break,
            }
            self.input.consume(1);
        }
        let line = self.line + 1;
        let Some(parser) = &mut self.parser else {
            let mut text = Vec::new();
            self.input.read_until(b'\n', &mut text)?;
            self.line += 1;
            while text.last().is_some_and(|last| matches!(last, b'\n' | b'\r')) {
                text.pop();
            }
            let cells = text.split(|&byte| byte == self.delimiter).map(<[u8]>::to_vec).collect();
            return Ok(Some(Record { line, cells, unclosed: false }));
        };
        let (mut filled, mut ended, mut at_end, mut unclosed) = (0, 0, false, false);
        loop {
            let buffer = self.input.fill_buf()?;
            // A line feed ends the last row of a file that lacks one, unless a quote is still open.
            let part: &[u8] = match (buffer.is_empty(), at_end) {
                (false, _) => buffer,
                (true, false) => b"\n",
                (true, true) => {
                    unclosed = true;
                    b""
                }
            };
            let (result, read, wrote, ends) =
                parser.read_record(part, &mut self.fields[filled..], &mut self.ends[ended..]);
            filled += wrote;
            ended += ends;
            if buffer.is_empty() {
                at_end = at_end || read > 0;
            } else {
                self.line += buffer[..read].iter().filter(|&&byte| byte == b'\n').count();
                self.input.consume(read);
            }
            match result {
                csv_core::ReadRecordResult::InputEmpty => {}
                csv_core::ReadRecordResult::OutputFull => self.fields.resize(self.fields.len() * 2, 0),
                csv_core::ReadRecordResult::OutputEndsFull => self.ends.resize(self.ends.len() * 2, 0),
                csv_core::ReadRecordResult::Record => break,
                csv_core::ReadRecordResult::End => return Ok(None),
            }
        }
        let mut start = 0;
        let cells = self.ends[..ended]
            .iter()
            .map(|&end| {
                let cell = self.fields[start..end].to_vec();
                start = end;
                cell
            })
            .collect();
        Ok(Some(Record { line, cells, unclosed }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &[u8], quoted: bool) -> Vec<(usize, Vec<String>, bool)> {
        let mut records = if quoted { Records::quoted(text, b',') } else { Records::raw(text, b',') };
        let mut rows = Vec::new();
        while let Ok(Some(row)) = records.next() {
            let cells = row.cells.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect();
            rows.push((row.line, cells, row.unclosed));
        }
        rows
    }

    fn row(line: usize, cells: &[&str], unclosed: bool) -> (usize, Vec<String>, bool) {
        (line, cells.iter().map(|&cell| cell.to_owned()).collect(), unclosed)
    }

    #[test]
    fn rows_begin_on_the_line_on_which_they_stand() {
        let text = b"a,b\r\n\r\n\"x\r\ny\",\"say \"\"so\"\"\"\r\n1,2\n\n\n3,4";
        let right = [
            row(1, &["a", "b"], false),
            row(3, &["x\r\ny", "say \"so\""], false),
            row(5, &["1", "2"], false),
            row(8, &["3", "4"], false),
        ];
        assert_eq!(rows(text, true), right);
    }

    #[test]
    fn a_quote_that_is_never_closed_is_seen() {
        assert_eq!(
            rows(b"a,b\n1,\"2\n3,4\n", true),
            [row(1, &["a", "b"], false), row(2, &["1", "2\n3,4\n\n"], true)]
        );
        // A quote within a cell is a character.
        assert_eq!(rows(b"1,2\"", true), [row(1, &["1", "2\""], false)]);
    }

    #[test]
    fn without_quoting_a_line_is_a_row() {
        assert_eq!(
            rows(b"a,\"b\r\n\n1,2\"", false),
            [row(1, &["a", "\"b"], false), row(3, &["1", "2\""], false)]
        );
    }

    #[test]
    fn rows_do_not_depend_on_how_the_input_comes() {
        let text = b"a,b\r\n\r\n\"x\r\n\"\"y\",\"z\"\n1,\"2\"";
        let whole = rows(text, true);
        assert_eq!(whole[2], row(5, &["1", "2"], false));
        for capacity in 1..6 {
            let mut records = Records::quoted(std::io::BufReader::with_capacity(capacity, &text[..]), b',');
            let mut seen = Vec::new();
            while let Ok(Some(record)) = records.next() {
                let cells = record.cells.iter().map(|cell| String::from_utf8_lossy(cell).into_owned());
                seen.push((record.line, cells.collect(), record.unclosed));
            }
            assert_eq!(seen, whole, "{capacity}");
        }
    }

    #[test]
    fn long_rows_grow_the_buffers() {
        let text = format!("{}\n{}", vec!["cell"; 3000].join(","), "long".repeat(5000));
        let rows = rows(text.as_bytes(), true);
        assert_eq!((rows[0].1.len(), rows[1].1[0].len()), (3000, 20_000));
    }
}
