//! What may be trained on.

use crate::{Labels, Purpose, Task};

/// Why a task may not be trained on; `None` where it may.
#[must_use]
pub fn unfit(task: &Task) -> Option<String> {
    if task.source.purpose == Purpose::Evaluation {
        return Some("it is for evaluation only".into());
    }
    if task.source.labels == Labels::Model {
        return Some("its labels were made by a model, not by people or by running something".into());
    }
    if !permissive(&task.source.licence) {
        return Some(format!(
            "its licence is \"{}\"; only MIT, Apache-2.0, BSD, CC0 and CC-BY (without SA, NC or ND) are trained on",
            task.source.licence
        ));
    }
    None
}

/// Whether an SPDX expression allows everything that training and passing on need: of `A AND B` both must, of `A OR B`
/// one.
fn permissive(expression: &str) -> bool {
    // AND binds more strongly than OR (SPDX 2.3, annex D.4); with parentheses an expression is refused.
    expression.split(" OR ").any(|choice| choice.split(" AND ").all(|licence| is_permissive(licence.trim())))
}

fn is_permissive(licence: &str) -> bool {
    let numbered = |rest: &str| !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit() || c == '.');
    match licence {
        "MIT" | "MIT-0" | "Apache-2.0" | "0BSD" | "BSD-2-Clause" | "BSD-3-Clause" => true,
        _ => ["CC-BY-", "CC0-"].iter().any(|name| licence.strip_prefix(name).is_some_and(numbered)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licences() {
        for good in ["MIT", "Apache-2.0", "CC-BY-4.0", "CC0-1.0", "MIT AND CC-BY-4.0", "GPL-3.0-only OR MIT"]
        {
            assert!(permissive(good), "{good}");
        }
        for bad in [
            "none",
            "",
            "CC-BY-SA-4.0",
            "CC-BY-NC-4.0",
            "CC-BY-ND-4.0",
            "CC-BY-",
            "GPL-3.0-only",
            "MIT AND CC-BY-NC-4.0",
            "GPL-3.0-only OR CC-BY-SA-3.0",
            "(MIT AND GPL-3.0-only) OR GPL-2.0-only",
        ] {
            assert!(!permissive(bad), "{bad}");
        }
    }
}
