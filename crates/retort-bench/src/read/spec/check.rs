//! Whether a reader's specification suits its task.

use super::label::classes;
use super::{Format, LabelSpec, ReaderSpec};
use crate::{Kind, Task};

impl ReaderSpec {
    /// Whether the specification suits the task.
    pub(crate) fn check(&self, task: &Task) -> Result<(), String> {
        if let Some(name) = &self.code {
            let alone = Self {
                files: self.files.clone(),
                code: self.code.clone(),
                examples: self.examples,
                ..Self::default()
            };
            if *self != alone {
                return Err("reader.code stands alone: beside it only files and examples may be given".into());
            }
            if !crate::read::code::exists(name) {
                return Err(format!("reader.code: there is no reader {name:?} in src/read/code"));
            }
            return self.check_files();
        }
        if self.files.is_empty() {
            return Err("reader.files: name at least one file".into());
        }
        self.check_files()?;
        self.check_formats()?;
        self.check_texts(task)?;
        for filter in &self.only {
            if filter.is.is_empty() && filter.not.is_empty() {
                return Err(format!(
                    "reader.only: nothing is said of column {:?}; give is or not",
                    filter.column
                ));
            }
        }
        match &self.label {
            Some(label) => label.check(task)?,
            None => return Err("reader.label: say where the label is".into()),
        }
        if self.merge && task.kind == Kind::Generation {
            return Err(
                "reader.merge: texts have no mean, so rows of a generation task are not merged".into()
            );
        }
        Ok(())
    }

    fn check_files(&self) -> Result<(), String> {
        for file in &self.files {
            let is_inside = file.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
            if !is_inside || file.contains('\\') {
                return Err(format!(
                    "reader.files: {file:?} must be relative to the repository and within it"
                ));
            }
        }
        Ok(())
    }

    fn check_formats(&self) -> Result<(), String> {
        if let Some(each) = self.each.as_ref().filter(|each| each.is_empty() || each.starts_with(['.', '$']))
        {
            return Err(format!("reader.each: {each:?} is no column of a row"));
        }
        for file in &self.files {
            let Some(format) = self.format_of(file) else {
                return Err(format!(
                    "reader.format: the extension of {file:?} does not tell its form; give it"
                ));
            };
            let is_json = matches!(format, Format::Json | Format::Jsonl);
            if self.rows.is_some() && format != Format::Json {
                return Err(format!("reader.rows is for JSON documents, and {file:?} is none"));
            }
            if self.each.is_some() && !is_json {
                return Err(format!("reader.each is for JSON, and {file:?} is none"));
            }
            if self.each.is_none()
                && is_json
                && let Some(column) = self.all_columns().find(|column| column.starts_with('.'))
            {
                return Err(format!("reader: column {column:?} is of an element, but each is not given"));
            }
            if format != Format::Json && self.all_columns().any(|column| column == "$key") {
                return Err(format!(
                    "reader: there is no $key in {file:?}; it is for tables in JSON documents"
                ));
            }
        }
        let known = ["$file", "$row", "$key"];
        match self.all_columns().find(|column| column.starts_with('$') && !known.contains(column)) {
            Some(column) => {
                Err(format!("reader: there is no column {column:?}; there are $file, $row and $key"))
            }
            None => Ok(()),
        }
    }

    fn all_columns(&self) -> impl Iterator<Item = &str> {
        let label = self.label.iter().flat_map(|label| label.columns.iter().chain(&label.text));
        (self.fields.values())
            .chain(&self.responses)
            .chain(&self.group)
            .chain(&self.subset)
            .chain(self.extra.values())
            .chain(self.only.iter().map(|filter| &filter.column))
            .chain(label)
            .map(String::as_str)
    }

    fn check_texts(&self, task: &Task) -> Result<(), String> {
        for field in &task.context {
            if !field.optional && !self.fields.contains_key(&field.name) {
                return Err(format!("reader.fields: say in which column {:?} is", field.name));
            }
        }
        for name in self.fields.keys() {
            if !task.context.iter().any(|field| field.name == *name) {
                return Err(format!("reader.fields: {name:?} is not in the task's context"));
            }
        }
        let needed = if task.kind == Kind::Pairwise { 2 } else { 0 };
        if self.responses.len() != needed {
            return Err(format!(
                "reader.responses: a pairwise task has two and others none; here {} are needed and {} are given",
                needed,
                self.responses.len()
            ));
        }
        Ok(())
    }
}

impl LabelSpec {
    fn check(&self, task: &Task) -> Result<(), String> {
        if task.kind == Kind::Generation {
            let only_text = Self {
                text: self.text.clone(),
                skip: self.skip.clone(),
                after: self.after.clone(),
                ..Self::default()
            };
            return if self.text.is_some() && *self == only_text {
                Ok(())
            } else {
                Err("reader.label: a generation task has a text, perhaps with skip and after, and nothing else".into())
            };
        }
        if self.text.is_some() {
            return Err("reader.label.text is for generation tasks; name columns".into());
        }
        if self.columns.is_empty() {
            return Err("reader.label.columns: name at least one column".into());
        }
        let classes = classes(task);
        for (text, label) in &self.map {
            if !classes.contains(&label.as_str()) {
                let classes = classes.join(", ");
                return Err(format!("reader.label.map: {text:?} is {label:?}, which is none of {classes}"));
            }
            if text.trim() != text {
                return Err(format!("reader.label.map: {text:?} is never found, because cells are trimmed"));
            }
        }
        let Some([lowest, highest]) = self.range else { return Ok(()) };
        if task.options.len() < 2 {
            return Err("reader.label.range is for tasks with options".into());
        }
        if !self.map.is_empty() {
            return Err("reader.label: give either a map or a range".into());
        }
        if !lowest.is_finite() || !highest.is_finite() || lowest == highest {
            return Err("reader.label.range: give two different numbers".into());
        }
        if task.options.windows(2).any(|pair| pair[0].value >= pair[1].value) {
            return Err(
                "reader.label.range: options must be in the order of their values, all different".into()
            );
        }
        Ok(())
    }
}
