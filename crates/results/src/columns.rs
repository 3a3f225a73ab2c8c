//! Columns, each with its unit, what null means, and a sentence.

use std::collections::BTreeMap;
use std::sync::Arc;

use ackclock_sim::Run;
use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch,
    StringArray,
};
use arrow_schema::{Field, Schema};

/// A table, named as its file.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The name.
    pub name: &'static str,
    /// The columns.
    pub batch: RecordBatch,
    /// The description of each column, in their order.
    pub about: Vec<Column>,
}

/// The description of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// The name, with its unit at the end.
    pub name: &'static str,
    /// The unit in which it counts; `text` of names, `index` of numbers that count from 0.
    pub unit: &'static str,
    /// When a value is null; empty if there is always one.
    pub null: &'static str,
    /// A sentence that says what the value is.
    pub meaning: &'static str,
}

impl From<&'static str> for Column {
    fn from(name: &'static str) -> Self {
        Self { name, unit: "", null: "", meaning: "" }
    }
}

/// A column that is never null: name, unit, meaning.
impl From<(&'static str, &'static str, &'static str)> for Column {
    fn from((name, unit, meaning): (&'static str, &'static str, &'static str)) -> Self {
        Self { name, unit, null: "", meaning }
    }
}

/// A column that may be null: name, unit, when it is null, meaning.
impl From<(&'static str, &'static str, &'static str, &'static str)> for Column {
    fn from(
        (name, unit, null, meaning): (&'static str, &'static str, &'static str, &'static str),
    ) -> Self {
        Self { name, unit, null, meaning }
    }
}

/// A table's columns, added one by one.
#[derive(Debug, Default)]
pub struct Columns {
    fields: Vec<Field>,
    arrays: Vec<ArrayRef>,
    about: Vec<Column>,
}

impl Columns {
    /// No columns, or the one that says from which run each row comes.
    pub(crate) fn new(runs: &[Run], cells: bool, rows: impl Fn(&Run) -> usize) -> Self {
        if !cells {
            return Self::default();
        }
        let cells = (0u64..).zip(runs).flat_map(|(i, run)| std::iter::repeat_n(i, rows(run)));
        Self::default().count("cell", cells)
    }

    /// A column of texts.
    #[must_use]
    pub fn text<'a>(self, about: impl Into<Column>, values: impl Iterator<Item = &'a str>) -> Self {
        self.column(about, false, StringArray::from_iter_values(values))
    }

    pub(crate) fn optional_text(
        self,
        about: impl Into<Column>,
        values: impl Iterator<Item = Option<String>>,
    ) -> Self {
        self.column(about, true, values.collect::<StringArray>())
    }

    /// A column of counts.
    ///
    /// # Panics
    /// With a count of 2^63 or more.
    #[must_use]
    pub fn count(self, about: impl Into<Column>, values: impl Iterator<Item = u64>) -> Self {
        let signed = values.map(|value| i64::try_from(value).expect("a count is below 2^63"));
        self.column(about, false, Int64Array::from_iter_values(signed))
    }

    /// A column of numbers.
    #[must_use]
    pub fn number(self, about: impl Into<Column>, values: impl Iterator<Item = f64>) -> Self {
        self.column(about, false, Float64Array::from_iter_values(values))
    }

    /// A column of numbers, null where there is none.
    #[must_use]
    pub fn optional(
        self,
        about: impl Into<Column>,
        values: impl Iterator<Item = Option<f64>>,
    ) -> Self {
        self.column(about, true, values.collect::<Float64Array>())
    }

    pub(crate) fn optional_count(
        self,
        about: impl Into<Column>,
        values: impl Iterator<Item = Option<u64>>,
    ) -> Self {
        let signed = values
            .map(|value| value.map(|value| i64::try_from(value).expect("a count is below 2^63")));
        self.column(about, true, signed.collect::<Int64Array>())
    }

    /// Samples, of which NaN stands for none.
    pub(crate) fn recorded<'a>(
        self,
        about: impl Into<Column>,
        values: impl Iterator<Item = &'a f64>,
    ) -> Self {
        self.optional(about, values.map(|value| (!value.is_nan()).then_some(*value)))
    }

    /// Names by index, each run with names of its own.
    pub(crate) fn names<'a>(
        self,
        about: impl Into<Column>,
        runs: &'a [Run],
        mut of: impl FnMut(&'a Run) -> (&'a [u32], Vec<&'a str>),
    ) -> Self {
        let mut words: Vec<&str> = Vec::new();
        let mut places: BTreeMap<&str, i32> = BTreeMap::new();
        let mut keys: Vec<i32> = Vec::new();
        for run in runs {
            let (indices, names) = of(run);
            let mut shared = Vec::with_capacity(names.len());
            for name in names {
                let next = i32::try_from(words.len()).expect("fewer than 2^31 names");
                shared.push(*places.entry(name).or_insert_with(|| {
                    words.push(name);
                    next
                }));
            }
            keys.extend(indices.iter().map(|index| shared[*index as usize]));
        }
        let words = Arc::new(StringArray::from(words));
        let column = DictionaryArray::<Int32Type>::try_new(Int32Array::from(keys), words)
            .expect("every key is the place of a word");
        self.column(about, false, column)
    }

    /// A dictionary of the words as they come.
    pub(crate) fn words<'a>(
        self,
        about: impl Into<Column>,
        nullable: bool,
        words: impl Iterator<Item = Option<&'a str>>,
    ) -> Self {
        let mut column = StringDictionaryBuilder::<Int32Type>::new();
        words.for_each(|word| column.append_option(word));
        self.column(about, nullable, column.finish())
    }

    /// A column of any kind.
    #[must_use]
    pub fn column(
        mut self,
        about: impl Into<Column>,
        nullable: bool,
        array: impl Array + 'static,
    ) -> Self {
        let about = about.into();
        self.fields.push(Field::new(about.name, array.data_type().clone(), nullable));
        self.arrays.push(Arc::new(array));
        self.about.push(about);
        self
    }

    /// The table of these columns.
    ///
    /// # Panics
    /// With columns of several lengths.
    #[must_use]
    pub fn table(self, name: &'static str) -> Table {
        let batch = RecordBatch::try_new(Arc::new(Schema::new(self.fields)), self.arrays)
            .expect("columns of one length, null only where they may be");
        Table { name, batch, about: self.about }
    }
}
