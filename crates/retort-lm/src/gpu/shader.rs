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
/// Lines (query heads of rows) that one workgroup of the attention computes, and keys in a tile.
pub(super) const ATTENTION_TILE: usize = 32;
/// Words of 32 whole numbers of two digits: the digits, the scale, two sums and an unused one.
pub(super) const QUANTIZED_WORDS: usize = 20;
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
    /// Whether operands are rounded to f16 on their way through workgroup memory. Sums are f32 all the same.
    pub(super) half: bool,
}

impl Tile {
    /// Tiles for graphics processors: 64 rows, 128 threads, 10 KiB of workgroup memory.
    pub(super) const HARDWARE: Self = Self { grid_rows: 16, thread_rows: 4, step: 16, half: false };
    /// Tiles for software adapters, where registers are memory and loads from workgroup memory are dear:
    /// few threads. 16 rows a thread run a tenth faster there but take twice as long to compile.
    pub(super) const SOFTWARE: Self = Self { grid_rows: 4, thread_rows: 8, step: 16, half: false };
    /// 32 rows: for graphics processors with few registers, or with so many cores that 64 rows leave some idle.
    pub(super) const LOW: Self = Self { grid_rows: 8, thread_rows: 4, step: 16, half: false };
    /// 128 rows and 15 KiB: for graphics processors with many registers, which then read weights half as often.
    pub(super) const HIGH: Self = Self { grid_rows: 16, thread_rows: 8, step: 16, half: false };
    /// All shapes.
    pub(super) const ALL: [Self; 4] = [Self::HARDWARE, Self::SOFTWARE, Self::LOW, Self::HIGH];

    /// Rows of the output that a workgroup computes.
    pub(super) const fn rows(self) -> usize {
        self.grid_rows * self.thread_rows
    }

    /// The same with operands in f16, or not.
    pub(super) const fn with_half(self, half: bool) -> Self {
        Self { half, ..self }
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
    /// Many rows, as whole numbers that [`Kernel::Quantize`] made, by packed dot products. Never in f16; only for
    /// weights with scales, and without an adapter.
    Dots(Tile),
    /// A few rows.
    Vector {
        /// At most this many (1 to 4).
        rows: usize,
        /// Whether sums are made within subgroups and not through workgroup memory.
        subgroups: bool,
    },
}

impl Shape {
    /// Columns of the output that one workgroup of a matrix-vector product computes.
    pub(super) const fn vector_columns(subgroups: bool) -> usize {
        // Sixteen threads a column; or whole subgroups, taking turns where there are fewer of them.
        if subgroups { 8 } else { 4 }
    }

    const fn is_dots(self) -> bool {
        matches!(self, Self::Dots(_))
    }
}

/// Which step of a block a product computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    /// Norm, then queries, keys and values; or norm, then the first half of an adapter.
    Project,
    /// The product alone: where a norm stands between it and the residual stream, or the first half of an adapter.
    Plain,
    /// A product added to the residual stream: after the attention, and the feed-forward's second half.
    Residual,
    /// Norm, gate and up products, and SwiGLU.
    SwiGlu,
    /// Norm, gate and up products, and GeGLU.
    GeGlu,
    /// Norm and output layer, for picked rows.
    Output,
}

impl Role {
    /// All of them.
    pub(super) const ALL: [Self; 6] =
        [Self::Project, Self::Plain, Self::Residual, Self::SwiGlu, Self::GeGlu, Self::Output];

    /// Whether the input is normed.
    pub(super) const fn has_norm(self) -> bool {
        !matches!(self, Self::Plain | Self::Residual)
    }

    /// Whether an output is made from two weight rows, gate and up.
    pub(super) const fn is_gated(self) -> bool {
        matches!(self, Self::SwiGlu | Self::GeGlu)
    }

    /// Whether there may be a bias.
    pub(super) const fn may_have_bias(self) -> bool {
        matches!(self, Self::Project | Self::Plain | Self::Residual)
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Project => "norm and projection",
            Self::Plain => "product",
            Self::Residual => "product and residual",
            Self::SwiGlu => "norm, gate, up and SwiGLU",
            Self::GeGlu => "norm, gate, up and GeGLU",
            Self::Output => "norm and output layer",
        }
    }
}

/// A product with a weight matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Product {
    pub(super) role: Role,
    pub(super) layout: Layout,
    pub(super) shape: Shape,
    /// Whether a bias is added.
    pub(super) bias: bool,
    /// Whether the share of a low-rank adapter is added.
    pub(super) adapter: bool,
}

/// A shader and everything that distinguishes it from the others of its template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kernel {
    /// Rows of the embedding table.
    Embed(Layout),
    /// A product with a weight matrix.
    Product(Product),
    /// Rotary embedding and cache write.
    Rotary {
        /// Whether neighbours are pairs, and not halves.
        neighbours: bool,
        /// Whether queries and keys are normed head by head.
        norms: bool,
    },
    /// Attention for heads of this size.
    Attention {
        /// Padded components of a head / 4.
        head4: usize,
    },
    /// Rows as whole numbers of two 7-bit digits, for [`Shape::Dots`].
    Quantize {
        /// Whether rows are normed first.
        norm: bool,
        /// Whether only some rows are made, those that the output layer is computed for.
        picked: bool,
    },
    /// A norm of what a block gave, added to the residual stream.
    AddNormed,
    /// Sums of the residual stream over neighbouring rows.
    Sum,
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
            Self::Product(Product { role, layout, shape, bias, adapter }) => {
                let shape = match shape {
                    Shape::Tile(tile) => {
                        let half = if tile.half { " in f16" } else { "" };
                        format!("tiled by {}{half}", tile.rows())
                    }
                    Shape::Dots(tile) => format!("tiled by {} in packed dot products", tile.rows()),
                    Shape::Vector { rows, subgroups } => {
                        format!("up to {rows} rows{}", if subgroups { " by subgroups" } else { "" })
                    }
                };
                let bias = if bias { ", bias" } else { "" };
                let adapter = if adapter { ", adapter" } else { "" };
                format!("{}{bias}{adapter}, {}, {shape}", role.name(), layout.name())
            }
            Self::Rotary { neighbours, norms } => {
                let pairs = if neighbours { "neighbours" } else { "halves" };
                format!("{}rotary embedding, {pairs}", if norms { "head norms and " } else { "" })
            }
            Self::Attention { head4 } => format!("attention, heads of {}", 4 * head4),
            Self::Quantize { norm, picked } => {
                let rows = if picked { "picked rows" } else { "rows" };
                format!("{}{rows} as whole numbers", if norm { "norm and " } else { "" })
            }
            Self::AddNormed => "norm and residual".into(),
            Self::Sum => "sums of states".into(),
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
            Self::Product(Product { role, layout, shape, bias, adapter }) => {
                // A norm and the choice of rows are in the whole numbers.
                let is_float = !shape.is_dots();
                let mut all = vec![(1, Read), (3, Read), (4, Write)];
                let optional = [
                    (2, layout.has_scales()),
                    (5, role.has_norm() && is_float),
                    (6, role == Role::Output && is_float),
                    (7, bias),
                    (8, adapter),
                    (9, adapter),
                ];
                all.extend(optional.into_iter().filter(|(_, has)| *has).map(|(binding, _)| (binding, Read)));
                all
            }
            Self::Rotary { norms, .. } => {
                let mut all = vec![(1, Read), (2, Read), (3, Write), (4, Write), (5, Write)];
                if norms {
                    all.push((6, Read));
                }
                all
            }
            Self::Attention { .. } => {
                vec![(1, Read), (2, Read), (3, Read), (4, Read), (5, Read), (6, Read), (7, Write)]
            }
            Self::Quantize { norm, picked } => {
                let mut all = vec![(3, Read), (4, Write)];
                let optional = [(5, norm), (6, picked)];
                all.extend(optional.into_iter().filter(|(_, has)| *has).map(|(binding, _)| (binding, Read)));
                all
            }
            Self::AddNormed | Self::Sum => vec![(1, Read), (2, Read), (3, Write)],
        }
    }

    /// Whether the device needs the feature of 16-bit floats for it.
    pub(super) fn needs_half(self) -> bool {
        matches!(self, Self::Product(Product { shape: Shape::Tile(Tile { half: true, .. }), .. }))
    }

    fn definitions(self) -> BTreeMap<Cow<'static, str>, usize> {
        let mut defined = BTreeMap::new();
        let mut define = |name: &'static str, value: usize| {
            defined.insert(Cow::Borrowed(name), value);
        };
        // Every condition has a value, so that a misspelt one is an error.
        let (product, layout) = match self {
            Self::Product(product) => (Some(product), Some(product.layout)),
            Self::Embed(layout) => (None, Some(layout)),
            _ => (None, None),
        };
        let role = product.map(|product| product.role);
        let is_dots = product.is_some_and(|product| product.shape.is_dots());
        let (is_normed, is_picked) = match self {
            Self::Quantize { norm, picked } => (norm, picked),
            // Of whole numbers that has been done.
            _ => (!is_dots && role.is_some_and(Role::has_norm), !is_dots && role == Some(Role::Output)),
        };
        define("DOTS", usize::from(is_dots));
        define("NORM", usize::from(is_normed));
        define("PICKED", usize::from(is_picked));
        define("GATED", usize::from(role.is_some_and(Role::is_gated)));
        define("GEGLU", usize::from(role == Some(Role::GeGlu)));
        define("RESIDUAL", usize::from(role == Some(Role::Residual)));
        define("OUTPUT", usize::from(role == Some(Role::Output)));
        define("BIAS", usize::from(product.is_some_and(|product| product.bias)));
        define("ADAPTER", usize::from(product.is_some_and(|product| product.adapter)));
        let is = |known: Layout| usize::from(layout == Some(known));
        define("FOUR_BITS", is(Layout::FourBits));
        define("EIGHT_BITS", is(Layout::EightBits) + is(Layout::EightBitsBy16));
        define("HALVES", is(Layout::Halves));
        define("SINGLES", is(Layout::Singles));
        // Groups of eight weights that share a scale, as a power of two.
        define("SCALE_SHIFT", if layout == Some(Layout::EightBitsBy16) { 1 } else { 2 });
        match self {
            Self::Product(Product { shape: Shape::Tile(tile), .. }) => {
                let step4 = tile.step / 4;
                let threads = 8 * tile.grid_rows;
                define("HALF", usize::from(tile.half));
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
            Self::Product(Product { layout, shape: Shape::Dots(tile), .. }) => {
                let by_sixteen = layout == Layout::EightBitsBy16;
                define("BY_SIXTEEN", usize::from(by_sixteen));
                define("PARTS", if by_sixteen { 2 } else { 1 });
                define("SIXTEENS", if by_sixteen { 1 } else { 2 });
                define("THREADS", 8 * tile.grid_rows);
                define("GRID_ROWS", tile.grid_rows);
                define("THREAD_ROWS", tile.thread_rows);
                define("TILE_ROWS", tile.rows());
                define("INPUT_TILE", tile.rows() * QUANTIZED_WORDS / 4);
                define("WEIGHT_TILE", TILE_COLUMNS * 3);
            }
            Self::Product(Product { shape: Shape::Vector { rows, subgroups }, .. }) => {
                define("ROWS", rows);
                define("SUBGROUPS", usize::from(subgroups));
                define("COLUMNS", Shape::vector_columns(subgroups));
            }
            Self::Rotary { neighbours, norms } => {
                define("NEIGHBOURS", usize::from(neighbours));
                define("NORMS", usize::from(norms));
            }
            Self::Attention { head4 } => {
                define("HEAD4", head4);
                define("CHUNKS", head4.div_ceil(16));
            }
            Self::Embed(_) | Self::Quantize { .. } | Self::AddNormed | Self::Sum => {}
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
            Self::Product(Product { shape: Shape::Tile(_), .. }) => {
                ("product_tile", include_str!("shaders/product_tile.wgsl"))
            }
            Self::Product(Product { shape: Shape::Dots(_), .. }) => {
                ("product_dots", include_str!("shaders/product_dots.wgsl"))
            }
            Self::Product(_) => ("product_vector", include_str!("shaders/product_vector.wgsl")),
            Self::Rotary { .. } => ("rotary", include_str!("shaders/rotary.wgsl")),
            Self::Attention { .. } => ("attention", include_str!("shaders/attention.wgsl")),
            Self::Quantize { .. } => ("quantize", include_str!("shaders/quantize.wgsl")),
            Self::AddNormed => ("add_normed", include_str!("shaders/add_normed.wgsl")),
            Self::Sum => ("sum", include_str!("shaders/sum.wgsl")),
        };
        expand(template, &mut self.definitions()).map_err(|problem| format!("{file}.wgsl: {problem}"))
    }

    /// A shader with the same bindings that fills whatever it can write with zeros: what a broken driver may do.
    #[cfg(test)]
    pub(super) fn zeroing_wgsl(self) -> String {
        use std::fmt::Write as _;
        let (mut declared, mut body) = (String::new(), String::new());
        for (binding, access) in self.bindings() {
            if access == Access::Write {
                let _ = writeln!(
                    declared,
                    "@group(0) @binding({binding}) var<storage, read_write> b{binding}: array<u32>;"
                );
                let _ = writeln!(
                    body,
                    "for (var i = thread; i < arrayLength(&b{binding}); i += 64u) {{ b{binding}[i] = 0u; }}"
                );
            }
        }
        format!(
            "{declared}@compute @workgroup_size(64)\nfn main(@builtin(local_invocation_index) thread: u32) {{\n{body}}}\n"
        )
    }
}

fn shared(name: &str) -> Option<&'static str> {
    match name {
        "weights" => Some(include_str!("shaders/shared/weights.wgsl")),
        "norm_factor" => Some(include_str!("shaders/shared/norm_factor.wgsl")),
        "finish_tile" => Some(include_str!("shaders/shared/finish_tile.wgsl")),
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
