//! Python's methods where minijinja's own set lacks them or differs.

use minijinja::value::{from_args, Value, ValueKind};
use minijinja::{Error, State};
use minijinja_contrib::pycompat;

use crate::guard;
use crate::python::{is_space, split_lines};

pub fn method(state: &mut State, value: &Value, name: &str, args: &[Value]) -> Result<Value, Error> {
    if let Some(text) = value.as_str() {
        if let Some(result) = string_method(text, name, args)? {
            return Ok(result);
        }
    }
    if value.kind() == ValueKind::Map && name == "copy" {
        let () = from_args(args)?;
        return Ok(value.clone());
    }
    if name == "format" {
        guard::check_format(value.as_str().unwrap_or_default())?;
    }
    // Of the others only these walk what they are given.
    if matches!(name, "join" | "format" | "count" | "get") {
        for arg in args {
            guard::pay(state, arg)?;
        }
    }
    if name == "count" {
        guard::pay(state, value)?;
    }
    pycompat::unknown_method_callback(state, value, name, args)
}

fn strip<'a>(text: &'a str, chars: Option<&str>, left: bool, right: bool) -> &'a str {
    let taken = |c: char| chars.map_or_else(|| is_space(c), |chars| chars.contains(c));
    let text = if left { text.trim_start_matches(taken) } else { text };
    if right { text.trim_end_matches(taken) } else { text }
}

fn string_method(text: &str, name: &str, args: &[Value]) -> Result<Option<Value>, Error> {
    Ok(Some(match name {
        "strip" | "lstrip" | "rstrip" => {
            let (chars,): (Option<&str>,) = from_args(args)?;
            Value::from(strip(text, chars, name != "rstrip", name != "lstrip"))
        }
        "splitlines" => {
            let (keep_ends,): (Option<bool>,) = from_args(args)?;
            split_lines(text, keep_ends.unwrap_or(false)).into_iter().map(Value::from).collect::<Vec<_>>().into()
        }
        "removeprefix" => {
            let (prefix,): (&str,) = from_args(args)?;
            Value::from(text.strip_prefix(prefix).unwrap_or(text))
        }
        "removesuffix" => {
            let (suffix,): (&str,) = from_args(args)?;
            Value::from(text.strip_suffix(suffix).unwrap_or(text))
        }
        _ => return Ok(None),
    }))
}
