//! Ridge regression in its dual form: with far more numbers per row than rows, a system as large as there are rows.

/// Mean and deviation of each number of a state over the rows of a fit.
#[derive(Debug, Clone)]
pub(super) struct Standard {
    pub(super) mean: Vec<f64>,
    /// √(Σ(x − mean)²/n), and 1 where all rows are the same.
    pub(super) deviation: Vec<f64>,
}

impl Standard {
    pub(super) fn of(states: &[&[f32]], rows: &[usize]) -> Self {
        let width = rows.first().map_or(0, |&row| states[row].len());
        let n = rows.len().max(1) as f64;
        let mut mean = vec![0.0; width];
        for &row in rows {
            for (mean, &x) in mean.iter_mut().zip(states[row]) {
                *mean += f64::from(x) / n;
            }
        }
        let mut deviation = vec![0.0; width];
        for &row in rows {
            for ((deviation, &x), mean) in deviation.iter_mut().zip(states[row]).zip(&mean) {
                let difference = f64::from(x) - mean;
                *deviation += difference * difference / n;
            }
        }
        for (deviation, mean) in deviation.iter_mut().zip(&mean) {
            *deviation = deviation.sqrt();
            // What rounding leaves of equal numbers is no deviation.
            if *deviation <= 1e-12 * mean.abs() || *deviation == 0.0 {
                *deviation = 1.0;
            }
        }
        Self { mean, deviation }
    }

    pub(super) fn apply(&self, state: &[f32]) -> Vec<f64> {
        let standard = self.mean.iter().zip(&self.deviation);
        state.iter().zip(standard).map(|(&x, (mean, deviation))| (f64::from(x) - mean) / deviation).collect()
    }
}

/// The products of standardized rows with each other.
#[derive(Debug, Clone)]
pub(super) struct Kernel {
    rows: usize,
    products: Vec<f64>,
}

/// A fit: what a row's products with the rows of the fit come to.
#[derive(Debug, Clone)]
pub(super) struct Dual {
    /// The rows of the fit.
    pub(super) rows: Vec<usize>,
    /// What each of them weighs; sums to 0 but for rounding.
    pub(super) weights: Vec<f64>,
    intercept: f64,
}

impl Kernel {
    pub(super) fn of(rows: &[Vec<f64>]) -> Self {
        let n = rows.len();
        let mut products = vec![0.0; n * n];
        for (i, one) in rows.iter().enumerate() {
            for (j, other) in rows.iter().enumerate().take(i + 1) {
                let product = dot(one, other);
                products[i * n + j] = product;
                products[j * n + i] = product;
            }
        }
        Self { rows: n, products }
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.products[row * self.rows..(row + 1) * self.rows]
    }

    /// The mean of a row's products with these rows.
    fn mean(&self, row: usize, rows: &[usize]) -> f64 {
        let products = self.row(row);
        rows.iter().map(|&other| products[other]).sum::<f64>() / rows.len().max(1) as f64
    }

    /// The fits of these rows' targets for each penalty: α = (K + λI)⁻¹(y − ȳ), with K the products of rows less their
    /// mean (Saunders, Gammerman and Vovk, "Ridge regression learning algorithm in dual variables", 1998). `None` for a
    /// penalty that leaves the system without a solution.
    pub(super) fn fit(&self, rows: &[usize], target: &[f64], penalties: &[f64]) -> Vec<Option<Dual>> {
        let n = rows.len();
        let intercept = rows.iter().map(|&row| target[row]).sum::<f64>() / n.max(1) as f64;
        let means: Vec<f64> = rows.iter().map(|&row| self.mean(row, rows)).collect();
        let all = means.iter().sum::<f64>() / n.max(1) as f64;
        let mut centred = vec![0.0; n * n];
        for (i, &one) in rows.iter().enumerate() {
            let products = self.row(one);
            for (j, &other) in rows.iter().enumerate() {
                centred[i * n + j] = products[other] - means[i] - means[j] + all;
            }
        }
        let right: Vec<f64> = rows.iter().map(|&row| target[row] - intercept).collect();
        let solve = |&penalty: &f64| {
            let mut matrix = centred.clone();
            for i in 0..n {
                matrix[i * n + i] += penalty;
            }
            let weights = cholesky_solve(matrix, right.clone())?;
            // The centre of the rows, seen from which they are weighed, is part of the intercept.
            let shift: f64 = weights.iter().zip(&means).map(|(weight, mean)| weight * mean).sum();
            Some(Dual { rows: rows.to_vec(), weights, intercept: intercept - shift })
        };
        penalties.iter().map(solve).collect()
    }

    pub(super) fn predict(&self, fit: &Dual, row: usize) -> f64 {
        let products = self.row(row);
        let terms = fit.rows.iter().zip(&fit.weights).map(|(&row, weight)| weight * products[row]);
        fit.intercept + terms.sum::<f64>()
    }
}

impl Dual {
    /// The same fit as one weight for each number of a standardized state, behind the intercept.
    pub(super) fn primal(&self, rows: &[Vec<f64>]) -> Vec<f64> {
        let width = rows.first().map_or(0, Vec::len);
        let mut weights = vec![0.0; width + 1];
        weights[0] = self.intercept;
        for (&row, share) in self.rows.iter().zip(&self.weights) {
            for (weight, x) in weights[1..].iter_mut().zip(&rows[row]) {
                *weight += share * x;
            }
        }
        weights
    }
}

/// Σxᵢyᵢ in four sums of a fixed order, which a processor adds at once.
fn dot(x: &[f64], y: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (xs, ys) = (x.chunks_exact(4), y.chunks_exact(4));
    let rest: f64 = xs.remainder().iter().zip(ys.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in xs.zip(ys) {
        for ((sum, x), y) in sums.iter_mut().zip(x).zip(y) {
            *sum += x * y;
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// Solves Ax = b for a symmetric, positive definite A in rows, by A = LLᵀ. `None` where it is not so.
fn cholesky_solve(mut a: Vec<f64>, mut b: Vec<f64>) -> Option<Vec<f64>> {
    let n = b.len();
    for i in 0..n {
        for j in 0..=i {
            let sum = a[i * n + j] - dot(&a[i * n..i * n + j], &a[j * n..j * n + j]);
            if i == j {
                if !(sum > 0.0 && sum.is_finite()) {
                    return None;
                }
                a[i * n + i] = sum.sqrt();
            } else {
                a[i * n + j] = sum / a[j * n + j];
            }
        }
    }
    for i in 0..n {
        b[i] = (b[i] - dot(&a[i * n..i * n + i], &b[..i])) / a[i * n + i];
    }
    for i in (0..n).rev() {
        let below: f64 = (i + 1..n).map(|k| a[k * n + i] * b[k]).sum();
        b[i] = (b[i] - below) / a[i * n + i];
    }
    b.iter().all(|x| x.is_finite()).then_some(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn close(found: &[f64], right: &[f64]) {
        assert_eq!(found.len(), right.len(), "{found:?}");
        for (one, other) in found.iter().zip(right) {
            assert!((one - other).abs() < 1e-12, "{found:?} instead of {right:?}");
        }
    }

    #[test]
    fn a_system_by_hand() {
        // [[4, 2], [2, 3]] x = [10, 9]: the determinant is 8, so x = (30 − 18, 36 − 20)/8 = (1.5, 2).
        close(&cholesky_solve(vec![4.0, 2.0, 2.0, 3.0], vec![10.0, 9.0]).unwrap(), &[1.5, 2.0]);
        // Not positive definite: 1·1 − 2·2 is below 0.
        assert_eq!(cholesky_solve(vec![1.0, 2.0, 2.0, 1.0], vec![1.0, 1.0]), None);
        assert_eq!(cholesky_solve(vec![f64::NAN], vec![1.0]), None);
    }

    #[test]
    fn standardizing_by_hand() {
        // 1 and 3 have a mean of 2 and a deviation of 1; 5 and 5 have none.
        let standard = Standard::of(&[&[1.0, 5.0], &[3.0, 5.0], &[99.0, 99.0]], &[0, 1]);
        close(&standard.mean, &[2.0, 5.0]);
        close(&standard.deviation, &[1.0, 1.0]);
        close(&standard.apply(&[4.0, 6.0]), &[2.0, 1.0]);
    }

    #[test]
    fn ridge_by_hand() {
        // One number per row, −1, 0, 1, labels 1, 2, 6 and a penalty of 2: w = Σx(y − ȳ)/(Σx² + λ) = 5/4, intercept 3.
        let rows = vec![vec![-1.0], vec![0.0], vec![1.0], vec![4.0]];
        let kernel = Kernel::of(&rows);
        let labels = [1.0, 2.0, 6.0, 100.0];
        let fit = kernel.fit(&[0, 1, 2], &labels, &[2.0]).remove(0).unwrap();
        close(&fit.primal(&rows), &[3.0, 1.25]);
        // A row that the fit has not seen: 3 + 4 × 1.25.
        close(&[kernel.predict(&fit, 3)], &[8.0]);
        // Rows whose mean is not 0: x = 0, 2 about 1, labels 1 and 5, penalty 2: w = 4/4 = 1, and 3 + (x − 1) = 2 + x.
        let rows = vec![vec![0.0], vec![2.0], vec![7.0]];
        let kernel = Kernel::of(&rows);
        let fit = kernel.fit(&[0, 1], &[1.0, 5.0, 0.0], &[2.0]).remove(0).unwrap();
        close(&fit.primal(&rows), &[2.0, 1.0]);
        close(&[kernel.predict(&fit, 2)], &[9.0]);
    }
}
