//! From WGSL templates to shaders: which kernels there are, and the small preprocessor.
//!
//! Lines that begin with `#` are directives: `#import name` puts in `shared/name.wgsl`; `#if NAME`, `#else`
//! and `#end` keep lines where `NAME` is defined and not 0; `#repeat i COUNT` … `#end` repeats lines with
//! `i` counting from 0. Elsewhere `$NAME` becomes the name's value; the longest defined name counts, so that
//! `$iu` is the value of `i` followed by `u`. Sums held in *named* variables, one per repetition, stay in
//! registers where arrays would not.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::layout::Layout;

/// Threads of the kernels that work one item a thread.
pub(super) const THREADS: usize = 64;
/// Weight rows in a tile of the product.
pub(super) const TILE_COLUMNS: usize = 64;
/// Columns of the output that one workgroup of the matrix-vector product computes.
pub(super) const VECTOR_COLUMNS: usize = 4;
/// Lines (query heads of rows) that one workgroup of the attention computes, and keys in a tile.
pub(super) const ATTENTION_TILE: usize = 32;
/// Gate and up rows alternate in blocks of this many.
pub(super) const ALTERNATION: usize = 8;

/// How the tiled product cuts its work; chosen for each adapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Tile {
    /// Rows of the grid of threads; it has 8 columns.
    pub(super) grid_rows: usize,
    /// Rows of the output that one thread computes.
    pub(super) thread_rows: usize,
    /// Inputs per step: 16 or 32.
    pub(super) step: usize,
}

impl Tile {
    /// Tiles for graphics processors: 64 rows, 128 threads, 10 KiB of workgroup memory.
    pub(super) const HARDWARE: Self = Self { grid_rows: 16, thread_rows: 4, step: 16 };
    /// Tiles for software adapters, where registers are memory and loads from workgroup memory are dear:
    /// few threads. 16 rows a thread run a tenth faster there but take twice as long to compile.
    pub(super) const SOFTWARE: Self = Self { grid_rows: 4, thread_rows: 8, step: 16 };

    /// Rows of the output that a workgroup computes.
    pub(super) const fn rows(self) -> usize {
        self.grid_rows * self.thread_rows
    }

    const fn pitch(self) -> usize {
        self.step / 4 + 1
    }
}

/// What shape of product a kernel computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Shape {
    /// Many rows.
    Tile(Tile),
    /// At most this many rows (1 to 4).
    Vector(usize),
}

/// Which step of a block a product computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    /// Norm, then queries, keys and values.
    Project,
    /// A product added to the residual stream: after the attention, and the feed-forward's second half.
    Residual,
    /// Norm, gate and up products, and SwiGLU.
    GateUp,
    /// Norm and output layer, for picked rows.
    Output,
}

/// A shader and everything that distinguishes it from the others of its template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kernel {
    /// Rows of the embedding table.
    Embed(Layout),
    /// A product with a weight matrix.
    Product(Role, Layout, Shape),
    /// Rotary embedding and cache write; `true` for pairs of neighbours.
    Rotary(bool),
    /// Attention for heads of this size.
    Attention {
        /// Padded components of a head / 4.
        head4: usize,
    },
}

/// How a shader uses a binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Access {
    /// Storage that is only read.
    Read,
    /// Storage that is written.
    Write,
}

impl Kernel {
    /// A name for messages.
    pub(super) fn name(self) -> String {
        match self {
            Self::Embed(layout) => format!("embedding, {}", layout.name()),
            Self::Product(role, layout, shape) => {
                let role = match role {
                    Role::Project => "norm and projection",
                    Role::Residual => "product and residual",
                    Role::GateUp => "norm, gate, up and SwiGLU",
                    Role::Output => "norm and output layer",
                };
                match shape {
                    Shape::Tile(_) => format!("{role}, {}, tiled", layout.name()),
                    Shape::Vector(rows) => format!("{role}, {}, up to {rows} rows", layout.name()),
                }
            }
            Self::Rotary(true) => "rotary embedding, neighbours".into(),
            Self::Rotary(false) => "rotary embedding, halves".into(),
            Self::Attention { head4 } => format!("attention, heads of {}", 4 * head4),
        }
    }

    /// The storage bindings after the parameters (binding 0): binding number and use.
    pub(super) fn bindings(self) -> Vec<(u32, Access)> {
        use Access::{Read, Write};
        match self {
            Self::Embed(layout) => {
                let mut all = vec![(1, Read), (3, Read), (4, Write)];
                if layout.has_scales() {
                    all.push((2, Read));
                }
                all
            }
            Self::Product(role, layout, _) => {
                let mut all = vec![(1, Read), (3, Read), (4, Write)];
                if layout.has_scales() {
                    all.push((2, Read));
                }
                if role != Role::Residual {
                    all.push((5, Read));
                }
                if role == Role::Output {
                    all.push((6, Read));
                }
                all
            }
            Self::Rotary(_) => vec![(1, Read), (2, Read), (3, Write), (4, Write), (5, Write)],
            Self::Attention { .. } => {
                vec![(1, Read), (2, Read), (3, Read), (4, Read), (5, Read), (6, Read), (7, Write)]
            }
        }
    }

    fn definitions(self) -> BTreeMap<Cow<'static, str>, usize> {
        let mut defined = BTreeMap::new();
        let mut define = |name: &'static str, value: usize| {
            defined.insert(Cow::Borrowed(name), value);
        };
        // Every condition has a value, so that a misspelt one is an error.
        let (role, layout) = match self {
            Self::Product(role, layout, _) => (Some(role), Some(layout)),
            Self::Embed(layout) => (None, Some(layout)),
            _ => (None, None),
        };
        define("NORM", usize::from(matches!(role, Some(Role::Project | Role::GateUp | Role::Output))));
        define("SWIGLU", usize::from(role == Some(Role::GateUp)));
        define("RESIDUAL", usize::from(role == Some(Role::Residual)));
        define("GATHER", usize::from(role == Some(Role::Output)));
        define("FOUR_BITS", usize::from(layout == Some(Layout::FourBits)));
        define("EIGHT_BITS", usize::from(layout == Some(Layout::EightBits)));
        define("HALVES", usize::from(layout == Some(Layout::Halves)));
        define("SINGLES", usize::from(layout == Some(Layout::Singles)));
        match self {
            Self::Product(_, _, Shape::Tile(tile)) => {
                let step4 = tile.step / 4;
                let threads = 8 * tile.grid_rows;
                define("STEP4", step4);
                define("PITCH", tile.pitch());
                define("THREADS", threads);
                define("GRID_ROWS", tile.grid_rows);
                define("THREAD_ROWS", tile.thread_rows);
                define("TILE_ROWS", tile.rows());
                define("INPUT_TILE", tile.rows() * tile.pitch());
                define("WEIGHT_TILE", TILE_COLUMNS * tile.pitch());
                define("INPUT_LOADS", tile.rows() * step4 / threads);
                define("WEIGHT_LOADS", TILE_COLUMNS * step4 / 2 / threads);
            }
            Self::Product(_, _, Shape::Vector(rows)) => define("ROWS", rows),
            Self::Rotary(neighbours) => define("NEIGHBOURS", usize::from(neighbours)),
            Self::Attention { head4 } => {
                define("HEAD4", head4);
                define("CHUNKS", head4.div_ceil(16));
            }
            Self::Embed(_) => {}
        }
        defined
    }

    /// The shader's WGSL text.
    ///
    /// # Errors
    /// What is wrong with the template, and in which line.
    pub(super) fn wgsl(self) -> Result<String, String> {
        let (file, template) = match self {
            Self::Embed(_) => ("embed", include_str!("shaders/embed.wgsl")),
            Self::Product(_, _, Shape::Tile(_)) => {
                ("product_tile", include_str!("shaders/product_tile.wgsl"))
            }
            Self::Product(_, _, Shape::Vector(_)) => {
                ("product_vector", include_str!("shaders/product_vector.wgsl"))
            }
            Self::Rotary(_) => ("rotary", include_str!("shaders/rotary.wgsl")),
            Self::Attention { .. } => ("attention", include_str!("shaders/attention.wgsl")),
        };
        expand(template, &mut self.definitions()).map_err(|problem| format!("{file}.wgsl: {problem}"))
    }
}

fn shared(name: &str) -> Option<&'static str> {
    match name {
        "weights" => Some(include_str!("shaders/shared/weights.wgsl")),
        "product" => Some(include_str!("shaders/shared/product.wgsl")),
        _ => None,
    }
}

/// Expands a template. Imports are put in as often as they are named; nothing is imported twice here.
fn expand(template: &str, defined: &mut BTreeMap<Cow<'static, str>, usize>) -> Result<String, String> {
    let lines: Vec<&str> = template.lines().collect();
    let mut out = String::new();
    expand_lines(&lines, 1, defined, &mut out)?;
    Ok(out)
}

fn expand_lines(
    lines: &[&str],
    first_number: usize,
    defined: &mut BTreeMap<Cow<'static, str>, usize>,
    out: &mut String,
) -> Result<(), String> {
    let mut at = 0;
    while at < lines.len() {
        let number = first_number + at;
        let Some(directive) = lines[at].strip_prefix('#') else {
            substitute(lines[at], defined, out).map_err(|problem| format!("line {number}: {problem}"))?;
            out.push('\n');
            at += 1;
            continue;
        };
        let words: Vec<&str> = directive.split_whitespace().collect();
        let value = |name: &str| {
            defined.get(name).copied().ok_or_else(|| format!("line {number}: \"{name}\" is not defined"))
        };
        match words[..] {
            ["import", name] => {
                let text =
                    shared(name).ok_or_else(|| format!("line {number}: there is no shared/{name}.wgsl"))?;
                let lines: Vec<&str> = text.lines().collect();
                expand_lines(&lines, 1, defined, out)
                    .map_err(|problem| format!("shared/{name}.wgsl: {problem}"))?;
                at += 1;
            }
            ["if", name] => {
                let (otherwise, end) =
                    block(&lines[at..]).ok_or_else(|| format!("line {number}: no #end"))?;
                let (from, to) = if value(name)? != 0 { (1, otherwise) } else { (otherwise + 1, end) };
                if from < to {
                    expand_lines(&lines[at + from..at + to], number + from, defined, out)?;
                }
                at += end + 1;
            }
            ["repeat", variable, count] => {
                let count = match count.parse() {
                    Ok(count) => count,
                    Err(_) => value(count)?,
                };
                let (_, end) = block(&lines[at..]).ok_or_else(|| format!("line {number}: no #end"))?;
                for index in 0..count {
                    defined.insert(Cow::Owned(variable.to_owned()), index);
                    expand_lines(&lines[at + 1..at + end], number + 1, defined, out)?;
                }
                defined.remove(variable);
                at += end + 1;
            }
            _ => return Err(format!("line {number}: \"#{directive}\" is no directive")),
        }
    }
    Ok(())
}

/// Where a block's `#else` (or its `#end`, if it has none) and its `#end` are, counted from its first line.
fn block(lines: &[&str]) -> Option<(usize, usize)> {
    let mut depth = 0usize;
    let mut otherwise = None;
    for (at, line) in lines.iter().enumerate() {
        if line.starts_with("#if ") || line.starts_with("#repeat ") {
            depth += 1;
        } else if *line == "#else" && depth == 1 {
            otherwise = Some(at);
        } else if *line == "#end" {
            depth -= 1;
            if depth == 0 {
                return Some((otherwise.unwrap_or(at), at));
            }
        }
    }
    None
}

fn substitute(
    line: &str,
    defined: &BTreeMap<Cow<'static, str>, usize>,
    out: &mut String,
) -> Result<(), String> {
    let mut pieces = line.split('$');
    out.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let name =
            defined.keys().filter(|name| piece.starts_with(name.as_ref())).max_by_key(|name| name.len());
        let name = name.ok_or_else(|| format!("nothing that begins \"${piece}\" is defined"))?;
        out.push_str(&defined[name].to_string());
        out.push_str(&piece[name.len()..]);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(template: &str, names: &[(&'static str, usize)]) -> Result<String, String> {
        let mut defined = names.iter().map(|&(name, value)| (Cow::Borrowed(name), value)).collect();
        expand(template, &mut defined)
    }

    #[test]
    fn conditions_repetitions_and_names() {
        let template = "#if A\nyes\n#else\nno\n#end\n#repeat r N\n#repeat c 2\nx_$r_$c = $NNu;\n#end\n#end";
        assert_eq!(
            expanded(template, &[("A", 0), ("N", 2), ("NN", 7)]).unwrap(),
            "no\nx_0_0 = 7u;\nx_0_1 = 7u;\nx_1_0 = 7u;\nx_1_1 = 7u;\n",
        );
        assert_eq!(expanded("#if A\nyes\n#end", &[("A", 1)]).unwrap(), "yes\n");
    }

    #[test]
    fn mistakes_name_their_line() {
        assert_eq!(expanded("ok\n$B", &[]).unwrap_err(), "line 2: nothing that begins \"$B\" is defined");
        assert_eq!(expanded("#if B\n#end", &[]).unwrap_err(), "line 1: \"B\" is not defined");
        assert_eq!(expanded("#if B", &[("B", 1)]).unwrap_err(), "line 1: no #end");
        assert_eq!(expanded("#what", &[]).unwrap_err(), "line 1: \"#what\" is no directive");
        assert_eq!(expanded("#import x", &[]).unwrap_err(), "line 1: there is no shared/x.wgsl");
    }
}
