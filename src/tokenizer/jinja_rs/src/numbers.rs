//! jinja2's `int` and `float`: what cannot be read is the default, never an error.

use minijinja::value::{Kwargs, Value, ValueKind};
use minijinja::{Error, ErrorKind};

/// int(text, base) of Python, without underscores. Base 16, 8 and 2 allow their prefix.
fn parse_int(text: &str, base: u32) -> Option<i128> {
    let text = text.trim();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let prefix = match base {
        16 => "0x",
        8 => "0o",
        2 => "0b",
        _ => "",
    };
    let plain = digits.get(..2).filter(|start| start.eq_ignore_ascii_case(prefix)).map_or(digits, |_| &digits[2..]);
    if plain.is_empty() || plain.starts_with(['+', '-']) {
        return None;
    }
    i128::from_str_radix(plain, base).ok().map(|value| sign * value)
}

fn parse_float(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok()
}

fn read_float(value: &Value) -> Option<f64> {
    match value.kind() {
        ValueKind::String => parse_float(value.as_str().unwrap_or_default()),
        ValueKind::Bool => Some(f64::from(u8::from(value.is_true()))),
        ValueKind::Number => f64::try_from(value.clone()).ok(),
        _ => None,
    }
}

fn read_int(value: &Value, base: u32) -> Option<i128> {
    match value.kind() {
        ValueKind::Number if value.is_integer() => return i128::try_from(value.clone()).ok(),
        ValueKind::String => {
            if let Some(read) = parse_int(value.as_str().unwrap_or_default(), base) {
                return Some(read);
            }
        }
        _ => {}
    }
    let float = read_float(value).filter(|float| float.is_finite() && float.abs() < 1e38)?;
    Some(float.trunc() as i128)
}

pub fn int(value: &Value, default: Option<Value>, base: Option<u32>, options: Kwargs) -> Result<Value, Error> {
    let default = default.or(options.get("default")?).unwrap_or(Value::from(0));
    let base = base.or(options.get("base")?).unwrap_or(10).clamp(2, 36);
    options.assert_all_used()?;
    if value.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    Ok(read_int(value, base).map_or(default, Value::from))
}

pub fn float(value: &Value, default: Option<Value>, options: Kwargs) -> Result<Value, Error> {
    let default = default.or(options.get("default")?).unwrap_or(Value::from(0.0));
    options.assert_all_used()?;
    if value.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    Ok(read_float(value).map_or(default, Value::from))
}
