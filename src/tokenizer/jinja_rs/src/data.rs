//! JSON as the engine's values; the order of members is kept.

use minijinja::value::Value;

/// Depth is bounded by the parser.
pub fn value_of(json: serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::from(()),
        serde_json::Value::Bool(value) => Value::from(value),
        serde_json::Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(value), _) => Value::from(value),
            (None, Some(value)) => Value::from(value),
            (None, None) => Value::from(number.as_f64().unwrap_or(f64::NAN)),
        },
        serde_json::Value::String(text) => Value::from(text),
        serde_json::Value::Array(items) => items.into_iter().map(value_of).collect::<Vec<_>>().into(),
        serde_json::Value::Object(members) => {
            Value::from_pairs(members.into_iter().map(|(key, value)| (key, value_of(value))))
        }
    }
}
