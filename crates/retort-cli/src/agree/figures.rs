//! Figures of agreement with their intervals.

use retort_stats::{
    Bootstrap, Categories, InputError, Level, Statistic, Winner, auc, balanced_accuracy, cohen_kappa,
    kendall_tau_b, krippendorff_alpha, pearson, quadratic_kappa, resample, spearman, win_rate,
};
use serde::Serialize;

use super::labels::{Column, Kind, Label, two_labels};

/// One figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Figure {
    /// A stable name for programs.
    pub(super) name: &'static str,
    /// A name for people.
    #[serde(skip)]
    pub(super) shown: String,
    /// The figure.
    pub(super) value: Option<f64>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) why_none: Option<String>,
    /// Lower and upper end of its interval.
    pub(super) interval: Option<[f64; 2]>,
    /// Why there is a figure and no interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) why_no_interval: Option<String>,
}

/// The figures of two columns.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct PairFigures {
    /// The first column; the truth, where the figure needs one.
    pub(super) first: String,
    /// The second column.
    pub(super) second: String,
    /// Rows with a label in both.
    pub(super) n: usize,
    /// Rows with a label in but one.
    pub(super) only_one: usize,
    /// The figures.
    pub(super) figures: Vec<Figure>,
}

/// How intervals are drawn: which rows belong together.
pub(super) struct Draw<'a> {
    pub(super) bootstrap: Bootstrap,
    /// One for each row of the table.
    pub(super) clusters: &'a [usize],
}

impl Draw<'_> {
    /// A figure of these rows of the table; `of` is given places within `rows`.
    fn figure(
        &self,
        name: &'static str,
        shown: impl Into<String>,
        rows: &[usize],
        of: impl FnMut(&[usize]) -> Result<Statistic, InputError>,
    ) -> Result<Figure, InputError> {
        let clusters = resample(self.clusters, rows)?;
        let mut of = of;
        let all: Vec<usize> = (0..rows.len()).collect();
        let mut figure = Figure {
            name,
            shown: shown.into(),
            value: None,
            why_none: None,
            interval: None,
            why_no_interval: None,
        };
        match of(&all)? {
            Statistic::Undefined(why) => figure.why_none = Some(why.to_string()),
            Statistic::Value(value) => {
                figure.value = Some(value);
                match self.bootstrap.by_cluster(&clusters, of)? {
                    Statistic::Value(interval) => figure.interval = Some([interval.low, interval.high]),
                    Statistic::Undefined(why) => figure.why_no_interval = Some(why.to_string()),
                }
            }
        }
        Ok(figure)
    }
}

/// A figure that there is not, and why.
fn absent(name: &'static str, shown: &str, why: &str) -> Figure {
    Figure {
        name,
        shown: shown.to_owned(),
        value: None,
        why_none: Some(why.to_owned()),
        interval: None,
        why_no_interval: None,
    }
}

/// One number for each label: its own, or that of its name.
struct Codes {
    categories: Categories<String>,
    kind: Kind,
}

impl Codes {
    fn new(kind: Kind) -> Self {
        Self { categories: Categories::new(), kind }
    }

    fn of(&mut self, label: &Label) -> f64 {
        match (self.kind, label) {
            (Kind::Numbers, Label::Number(number)) => *number,
            (_, label) => self.categories.code(label.text()),
        }
    }
}

/// All figures of two columns among `rows`.
pub(super) fn pair(
    first: &Column,
    second: &Column,
    rows: &[usize],
    kind: Kind,
    level: Level,
    draw: &Draw<'_>,
) -> Result<PairFigures, InputError> {
    let labels = |column: &Column, row: usize| column.labels.get(row).cloned().flatten();
    let mut both = Vec::new();
    let (mut a, mut b) = (Vec::new(), Vec::new());
    let mut only_one = 0;
    for &row in rows {
        match (labels(first, row), labels(second, row)) {
            (Some(one), Some(other)) => {
                both.push(row);
                a.push(one);
                b.push(other);
            }
            (None, None) => {}
            _ => only_one += 1,
        }
    }
    let mut codes = Codes::new(kind);
    let x: Vec<f64> = a.iter().map(|label| codes.of(label)).collect();
    let y: Vec<f64> = b.iter().map(|label| codes.of(label)).collect();
    let mut figures = Vec::new();
    let two = |of: fn(&[f64], &[f64]) -> Result<Statistic, InputError>| {
        let (x, y) = (&x, &y);
        move |rows: &[usize]| of(&resample(x, rows)?, &resample(y, rows)?)
    };
    if kind == Kind::Numbers {
        figures.push(draw.figure("spearman", "Spearman’s ρ", &both, two(spearman))?);
        figures.push(draw.figure("kendall_tau_b", "Kendall’s τ-b", &both, two(kendall_tau_b))?);
        figures.push(draw.figure("pearson", "Pearson’s r", &both, two(pearson))?);
    }
    let alpha = |rows: &[usize]| {
        let ratings = [resample(&x, rows)?, resample(&y, rows)?];
        let ratings = ratings.map(|row| row.into_iter().map(Some).collect::<Vec<_>>());
        Ok(krippendorff_alpha(&ratings, level)?.alpha)
    };
    figures.push(draw.figure(
        "krippendorff_alpha",
        format!("Krippendorff’s α ({})", level_name(level)),
        &both,
        alpha,
    )?);
    figures.push(draw.figure("cohen_kappa", "Cohen’s κ", &both, two(cohen_kappa))?);
    if kind == Kind::Numbers {
        figures.push(draw.figure("quadratic_kappa", "Cohen’s κ, quadratic", &both, two(quadratic_kappa))?);
    }
    figures.push(draw.figure("exact_agreement", "Exact agreement", &both, two(exact))?);
    classification(&mut figures, (first, &a), (second, &b), &both, kind, draw)?;
    Ok(PairFigures {
        first: first.name.clone(),
        second: second.name.clone(),
        n: both.len(),
        only_one,
        figures,
    })
}

/// Balanced accuracy where both columns have the same two labels, and the area under the ROC curve where the first has
/// two and the second has numbers. How many labels a column has is told from all of its rows: few rows of a group may
/// hold but two of many.
fn classification(
    figures: &mut Vec<Figure>,
    (truth_column, truth): (&Column, &[Label]),
    (found_column, found): (&Column, &[Label]),
    rows: &[usize],
    kind: Kind,
    draw: &Draw<'_>,
) -> Result<(), InputError> {
    let accuracy = ("balanced_accuracy", "Balanced accuracy");
    let area = ("auc", "Area under the ROC curve");
    match two_labels(truth_column.all().chain(found_column.all())) {
        Some([_, positive]) => {
            let code = |labels: &[Label]| -> Vec<f64> {
                labels.iter().map(|label| f64::from(u8::from(*label == positive))).collect()
            };
            let (truth, found) = (code(truth), code(found));
            figures.push(draw.figure(accuracy.0, accuracy.1, rows, |rows| {
                balanced_accuracy(&resample(&truth, rows)?, &resample(&found, rows)?)
            })?);
        }
        None => {
            figures.push(absent(accuracy.0, accuracy.1, "it needs two labels, the same ones in both columns"))
        }
    }
    let scores: Option<Vec<f64>> = found.iter().map(Label::number).collect();
    match (two_labels(truth_column.all()), scores) {
        (Some([_, positive]), Some(scores)) if kind == Kind::Numbers => {
            let is_positive: Vec<bool> = truth.iter().map(|label| *label == positive).collect();
            let shown = format!("{} ({} is positive)", area.1, positive.text());
            figures.push(draw.figure(area.0, shown, rows, |rows| {
                auc(&resample(&is_positive, rows)?, &resample(&scores, rows)?)
            })?);
        }
        _ if kind == Kind::Numbers => {
            figures.push(absent(area.0, area.1, "it needs two labels in the first column"));
        }
        _ => {}
    }
    Ok(())
}

/// The share of equal labels.
fn exact(x: &[f64], y: &[f64]) -> Result<Statistic, InputError> {
    let equal: Vec<Option<f64>> = x.iter().zip(y).map(|(a, b)| Some(f64::from(u8::from(a == b)))).collect();
    Ok(retort_stats::mean(&equal)?.mean)
}

/// Krippendorff's alpha of all columns, with what is missing.
pub(super) fn alpha_of_all(
    columns: &[&Column],
    rows: &[usize],
    kind: Kind,
    level: Level,
    draw: &Draw<'_>,
) -> Result<Figure, InputError> {
    let mut codes = Codes::new(kind);
    let ratings: Vec<Vec<Option<f64>>> = columns
        .iter()
        .map(|column| {
            rows.iter()
                .map(|&row| column.labels.get(row).and_then(Option::as_ref).map(|label| codes.of(label)))
                .collect()
        })
        .collect();
    draw.figure("krippendorff_alpha", format!("Krippendorff’s α ({})", level_name(level)), rows, |rows| {
        let ratings: Vec<_> = ratings.iter().map(|of| resample(of, rows)).collect::<Result<_, _>>()?;
        Ok(krippendorff_alpha(&ratings, level)?.alpha)
    })
}

/// How a column's labels go with the length of a text, in words.
pub(super) fn length(
    column: &Column,
    words: &[Option<f64>],
    rows: &[usize],
    draw: &Draw<'_>,
) -> Result<(usize, Vec<Figure>), InputError> {
    let found: Vec<(usize, f64, &Label)> = rows
        .iter()
        .filter_map(|&row| Some((row, words.get(row).copied().flatten()?, column.labels.get(row)?.as_ref()?)))
        .collect();
    let rows: Vec<usize> = found.iter().map(|(row, ..)| *row).collect();
    let lengths: Vec<f64> = found.iter().map(|(_, words, _)| *words).collect();
    let two = two_labels(column.all());
    let values: Option<Vec<f64>> = match &two {
        Some([_, positive]) => {
            Some(found.iter().map(|(.., label)| f64::from(u8::from(*label == positive))).collect())
        }
        None => found.iter().map(|(.., label)| label.number()).collect(),
    };
    let Some(values) = values else {
        let why = "it needs numbers, or two labels";
        return Ok((rows.len(), vec![absent("length_pearson", "Length and label, Pearson", why)]));
    };
    let both = |of: fn(&[f64], &[f64]) -> Result<Statistic, InputError>| {
        let (lengths, values) = (&lengths, &values);
        move |rows: &[usize]| of(&resample(lengths, rows)?, &resample(values, rows)?)
    };
    let mut figures = vec![
        draw.figure("length_pearson", "Length and label, Pearson", &rows, both(pearson))?,
        draw.figure("length_spearman", "Length and label, Spearman", &rows, both(spearman))?,
    ];
    if let Some([other, positive]) = two {
        let shown = format!("Words of {} less those of {}", positive.text(), other.text());
        figures.push(draw.figure("length_gap_words", shown, &rows, |rows| {
            let (mut sums, mut counts) = ([0.0; 2], [0_usize; 2]);
            for &row in rows {
                let side = usize::from(values.get(row) == Some(&1.0));
                sums[side] += lengths.get(row).copied().unwrap_or_default();
                counts[side] += 1;
            }
            Ok(if counts.contains(&0) {
                Statistic::Undefined(retort_stats::Undefined::OneClass { positive: counts[0] == 0 })
            } else {
                Statistic::Value(sums[1] / counts[1] as f64 - sums[0] / counts[0] as f64)
            })
        })?);
    }
    Ok((rows.len(), figures))
}

/// Which of two responses a column prefers: by their place, and by their length (P20).
pub(super) fn preference(
    column: &Column,
    words: [&[Option<f64>]; 2],
    rows: &[usize],
    draw: &Draw<'_>,
) -> Result<(usize, Vec<Figure>), InputError> {
    let mut found = Vec::new();
    for &row in rows {
        let Some(label) = column.labels.get(row).and_then(Option::as_ref) else { continue };
        let Some(winner) = label.winner() else {
            let why = format!("the label {:?} names neither response nor a tie", label.text());
            return Ok((0, vec![absent("first_wins", "The first response wins", &why)]));
        };
        let words = words.map(|of| of.get(row).copied().flatten());
        found.push((row, winner, words));
    }
    let rows: Vec<usize> = found.iter().map(|(row, ..)| *row).collect();
    let winners: Vec<Option<Winner>> = found.iter().map(|(_, winner, _)| Some(*winner)).collect();
    let first = draw.figure("first_wins", "The first response wins", &rows, |rows| {
        Ok(win_rate(&resample(&winners, rows)?).rate)
    })?;
    // Whether the longer one won, where one is longer: its win in the sense of `win_rate`.
    let mut longer_rows = Vec::new();
    let mut longer = Vec::new();
    let mut gaps = Vec::new();
    for (row, winner, words) in &found {
        let [Some(one), Some(other)] = *words else { continue };
        if one == other {
            continue;
        }
        let first_is_longer = one > other;
        longer_rows.push(*row);
        longer.push(Some(match (winner, first_is_longer) {
            (Winner::Tie, _) => Winner::Tie,
            (Winner::A, true) | (Winner::B, false) => Winner::A,
            (Winner::A, false) | (Winner::B, true) => Winner::B,
        }));
        gaps.push(match winner {
            Winner::A => Some(one - other),
            Winner::B => Some(other - one),
            Winner::Tie => None,
        });
    }
    let longer = draw.figure("longer_wins", "The longer response wins", &longer_rows, |rows| {
        Ok(win_rate(&resample(&longer, rows)?).rate)
    })?;
    let gap = draw.figure(
        "winner_longer_by_words",
        "Words of the winner less the loser’s",
        &longer_rows,
        |rows| Ok(retort_stats::mean(&resample(&gaps, rows)?)?.mean),
    )?;
    Ok((rows.len(), vec![first, longer, gap]))
}

/// The level's name.
pub(super) const fn level_name(level: Level) -> &'static str {
    match level {
        Level::Nominal => "nominal",
        Level::Ordinal => "ordinal",
        Level::Interval => "interval",
    }
}
