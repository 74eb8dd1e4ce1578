//! A straight line through points, and a picture of both.

use std::fmt::Write as _;

/// What was measured: how much of something, and seconds.
pub(crate) type Point = (f64, f64);

/// `seconds = start + each × amount`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Line {
    pub(crate) start: f64,
    pub(crate) each: f64,
}

impl Line {
    pub(crate) fn at(self, amount: f64) -> f64 {
        self.start + self.each * amount
    }

    /// The line whose relative deviations from the points have the least sum of squares: weights of 1/y², since
    /// a measurement of ten seconds is not a hundred times as exact as one of a tenth. Needs two amounts.
    pub(crate) fn through(points: &[Point]) -> Option<Self> {
        let sum =
            |term: &dyn Fn(Point) -> f64| points.iter().map(|&(x, y)| term((x, y)) / (y * y)).sum::<f64>();
        let (n, x, y) = (sum(&|_| 1.0), sum(&|(x, _)| x), sum(&|(_, y)| y));
        let (xx, xy) = (sum(&|(x, _)| x * x), sum(&|(x, y)| x * y));
        let spread = n * xx - x * x;
        let each = (n * xy - x * y) / spread;
        // Rounding leaves a little where all amounts are the same.
        (spread > 1e-12 * n * xx).then_some(Self { start: (y - each * x) / n, each })
    }

    /// The largest deviation of a point, as a share of what the line says there.
    pub(crate) fn deviation(self, points: &[Point]) -> f64 {
        points.iter().map(|&(x, y)| (y / self.at(x) - 1.0).abs()).fold(0.0, f64::max)
    }
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
/// Left, right, top and bottom.
const MARGINS: [f64; 4] = [64.0, 24.0, 48.0, 56.0];

/// What a picture says beside its points.
pub(crate) struct Words<'a> {
    pub(crate) title: &'a str,
    /// Under the horizontal axis; the vertical one is seconds.
    pub(crate) amount: &'a str,
    /// For whoever cannot see it.
    pub(crate) description: &'a str,
}

/// An SVG of the points and the line, readable on light and on dark ground.
pub(crate) fn svg(words: &Words<'_>, points: &[Point], line: Line) -> String {
    let [left, right, top, bottom] = MARGINS;
    let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
    let last = largest(&mut points.iter().map(|point| point.0));
    let (x_step, x_end) = ticks(last);
    let (y_step, y_end) = ticks(largest(&mut points.iter().map(|point| point.1)).max(line.at(last)));
    let x = |amount: f64| left + amount / x_end * (WIDTH - left - right);
    let y = |seconds: f64| HEIGHT - bottom - seconds / y_end * (HEIGHT - top - bottom);
    let mut out = String::new();
    // Writing to a String cannot fail.
    let mut add = |text: std::fmt::Arguments<'_>| {
        let _ = out.write_fmt(text);
        out.push('\n');
    };
    add(format_args!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" aria-labelledby="title description">"#
    ));
    add(format_args!(r#"<title id="title">{}</title>"#, escape(words.title)));
    add(format_args!(r#"<desc id="description">{}</desc>"#, escape(words.description)));
    add(format_args!(
        "<style>\n\
         svg {{ --ground: #ffffff; --ink: #1d2430; --faint: #d5dae2; --mark: #0b62c4; font: 13px system-ui, sans-serif }}\n\
         @media (prefers-color-scheme: dark) {{ svg {{ --ground: #14181f; --ink: #e4e8ef; --faint: #39424f; --mark: #7fb8ff }} }}\n\
         text {{ fill: var(--ink) }} .grid {{ stroke: var(--faint) }} .fit {{ stroke: var(--ink); stroke-dasharray: 6 4 }}\n\
         circle {{ fill: var(--mark) }} .head {{ font-size: 15px; font-weight: 600 }}\n\
         </style>"
    ));
    add(format_args!(r#"<rect width="{WIDTH}" height="{HEIGHT}" rx="8" style="fill: var(--ground)"/>"#));
    add(format_args!(r#"<text class="head" x="{left}" y="28">{}</text>"#, escape(words.title)));
    let mut seconds = 0.0;
    while seconds <= y_end * 1.0001 {
        let at = y(seconds);
        add(format_args!(
            r#"<line class="grid" x1="{left}" x2="{}" y1="{at:.1}" y2="{at:.1}"/><text x="{}" y="{:.1}" text-anchor="end">{}</text>"#,
            WIDTH - right,
            left - 8.0,
            at + 4.5,
            plain(seconds, y_step)
        ));
        seconds += y_step;
    }
    let mut amount = 0.0;
    while amount <= x_end * 1.0001 {
        add(format_args!(
            r#"<text x="{:.1}" y="{}" text-anchor="middle">{}</text>"#,
            x(amount),
            HEIGHT - bottom + 20.0,
            plain(amount, x_step)
        ));
        amount += x_step;
    }
    add(format_args!(
        r#"<text x="{}" y="{}" text-anchor="middle">{}</text>"#,
        (left + WIDTH - right) / 2.0,
        HEIGHT - 14.0,
        escape(words.amount)
    ));
    add(format_args!(
        r#"<text transform="translate(18 {}) rotate(-90)" text-anchor="middle">seconds</text>"#,
        (top + HEIGHT - bottom) / 2.0
    ));
    // A line that would begin below nothing begins where it reaches nothing.
    let from = if line.start < 0.0 && line.each > 0.0 { -line.start / line.each } else { 0.0 };
    add(format_args!(
        r#"<line class="fit" x1="{:.1}" y1="{:.1}" x2="{:.1}" y2="{:.1}"/>"#,
        x(from),
        y(line.at(from)),
        x(last),
        y(line.at(last))
    ));
    for &(amount, seconds) in points {
        add(format_args!(r#"<circle cx="{:.1}" cy="{:.1}" r="4.5"/>"#, x(amount), y(seconds)));
    }
    add(format_args!("</svg>"));
    out
}

/// A round step (1, 2 or 5 times a power of ten), and the first of its multiples that is not below `largest`: four
/// to ten steps.
fn ticks(largest: f64) -> (f64, f64) {
    let largest = if largest > 0.0 { largest } else { 1.0 };
    let magnitude = 10f64.powf((largest / 10.0).log10().floor());
    let step =
        [1.0, 2.0, 5.0, 10.0].map(|round| round * magnitude).into_iter().find(|step| largest / step <= 10.0);
    let step = step.unwrap_or(10.0 * magnitude);
    (step, (largest / step - 1e-9).ceil() * step)
}

/// A multiple of `step` with the digits that the step needs.
fn plain(value: f64, step: f64) -> String {
    if step >= 1.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_through_points_that_lie_on_one() {
        // 2 + 0.5 x.
        let points = [(0.0, 2.0), (2.0, 3.0), (10.0, 7.0)];
        let line = Line::through(&points).unwrap();
        assert!((line.start - 2.0).abs() < 1e-9 && (line.each - 0.5).abs() < 1e-9, "{line:?}");
        assert!(line.deviation(&points) < 1e-9);
        assert_eq!(Line::through(&[(3.0, 1.0), (3.0, 2.0)]), None);
        assert_eq!(Line::through(&[]), None);
    }

    #[test]
    fn the_deviation_is_a_share_of_the_line() {
        let line = Line { start: 0.0, each: 2.0 };
        // 2, 4 and 8 are on the line; 5 is 25% above 4, 7 is 12.5% below 8.
        assert_eq!(line.deviation(&[(1.0, 2.0), (2.0, 5.0), (4.0, 7.0)]), 0.25);
    }

    #[test]
    fn ticks_are_round_and_reach_beyond_the_largest_value() {
        for (largest, step, end) in [
            (4096.0, 500.0, 4500.0),
            (32.0, 5.0, 35.0),
            (9.7, 1.0, 10.0),
            (0.31, 0.05, 0.35),
            (10.0, 1.0, 10.0),
        ] {
            let found = ticks(largest);
            assert!((found.0 - step).abs() < 1e-9 && (found.1 - end).abs() < 1e-9, "{largest}: {found:?}");
        }
    }

    #[test]
    fn the_picture_holds_every_point_and_names_itself() {
        let points = [(1.0, 1.0), (2.0, 2.0), (4.0, 4.0)];
        let words = Words { title: "A & B", amount: "questions", description: "It rises." };
        let text = svg(&words, &points, Line { start: 0.0, each: 1.0 });
        assert_eq!(text.matches("<circle").count(), 3);
        assert!(
            text.contains("<title id=\"title\">A &amp; B</title>")
                && text.contains("prefers-color-scheme: dark")
        );
        // 4 of 4 on an axis that ends at 4: the right and upper margins.
        assert!(text.contains(r#"<circle cx="616.0" cy="48.0" r="4.5"/>"#), "{text}");
    }
}
