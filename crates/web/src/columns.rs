//! Arrow tables as buffers for typed arrays.

use ackclock_results::Table;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use serde_json::{Value, json};

use crate::answer::Answer;

/// A table in the header of an answer: `name`, `rows`, and `columns` with `name`, `kind` and the place of their `data`.
///
/// The kinds: `number`, 64-bit floating point, NaN where there is none; `count`, signed 64-bit integers, with a place of
/// bytes `known` (1 or 0) if any is missing; `word`, 32-bit numbers of places in `words`, −1 where there is none.
pub fn table(table: &Table, answer: &mut Answer) -> Value {
    let columns = table.batch.schema_ref().fields().iter().zip(table.batch.columns());
    let columns: Vec<Value> =
        columns.map(|(field, array)| column(field.name(), array, answer)).collect();
    json!({ "name": table.name, "rows": table.batch.num_rows(), "columns": columns })
}

fn column(name: &str, array: &ArrayRef, answer: &mut Answer) -> Value {
    match array.data_type() {
        DataType::Float64 => {
            let numbers = array.as_primitive::<Float64Type>().iter();
            let bytes = numbers.flat_map(|number| number.unwrap_or(f64::NAN).to_le_bytes());
            let data = answer.place(&bytes.collect::<Vec<u8>>());
            json!({ "name": name, "kind": "number", "data": data })
        }
        DataType::Int64 => {
            let counts = array.as_primitive::<Int64Type>();
            let bytes = counts.iter().flat_map(|count| count.unwrap_or(0).to_le_bytes());
            let data = answer.place(&bytes.collect::<Vec<u8>>());
            let known: Vec<u8> = counts.iter().map(|count| u8::from(count.is_some())).collect();
            let known = (counts.null_count() > 0).then(|| answer.place(&known));
            json!({ "name": name, "kind": "count", "data": data, "known": known })
        }
        DataType::Dictionary(..) => {
            let keys = array.as_dictionary::<Int32Type>();
            let words: Vec<Option<&str>> = keys.values().as_string::<i32>().iter().collect();
            let bytes = keys.keys().iter().flat_map(|key| key.unwrap_or(-1).to_le_bytes());
            let data = answer.place(&bytes.collect::<Vec<u8>>());
            json!({ "name": name, "kind": "word", "data": data, "words": words })
        }
        _ => {
            let texts = array.as_string::<i32>();
            let mut words: Vec<&str> = texts.iter().flatten().collect();
            words.sort_unstable();
            words.dedup();
            let place = |text: &str| {
                let place = words.binary_search(&text).ok().and_then(|at| i32::try_from(at).ok());
                place.unwrap_or(-1)
            };
            let bytes = texts.iter().flat_map(|text| text.map_or(-1, place).to_le_bytes());
            let data = answer.place(&bytes.collect::<Vec<u8>>());
            json!({ "name": name, "kind": "word", "data": data, "words": words })
        }
    }
}
