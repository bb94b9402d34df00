//! `tojson` as transformers defines it for chat templates: json.dumps(x, ensure_ascii=False), with its arguments.

use minijinja::value::{Kwargs, Value, ValueKind};
use minijinja::{Error, ErrorKind, State};

use crate::python::float_repr;

/// Deeper than any tool's schema; the context itself is at most 128 deep.
const MAX_DEPTH: usize = 256;

struct Writer<'a> {
    state: &'a State<'a, 'a>,
    out: String,
    charged: usize,
    ensure_ascii: bool,
    sort_keys: bool,
    indent: Option<String>,
    item_separator: String,
    key_separator: String,
}

fn refuse(text: impl Into<String>) -> Error {
    Error::new(ErrorKind::BadSerialization, text.into())
}

impl Writer<'_> {
    fn string(&mut self, text: &str) {
        self.out.push('"');
        for c in text.chars() {
            match c {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                '\u{8}' => self.out.push_str("\\b"),
                '\u{c}' => self.out.push_str("\\f"),
                c if c < ' ' => self.out.push_str(&format!("\\u{:04x}", c as u32)),
                c if self.ensure_ascii && !(' '..='~').contains(&c) => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        self.out.push_str(&format!("\\u{unit:04x}"));
                    }
                }
                c => self.out.push(c),
            }
        }
        self.out.push('"');
    }

    fn scalar(&self, value: &Value) -> Result<String, Error> {
        Ok(match value.kind() {
            ValueKind::None => "null".into(),
            ValueKind::Bool => if value.is_true() { "true" } else { "false" }.into(),
            ValueKind::Number if value.is_integer() => value.to_string(),
            ValueKind::Number => match f64::try_from(value.clone())? {
                x if x.is_nan() => "NaN".into(),
                x if x.is_infinite() => if x > 0.0 { "Infinity" } else { "-Infinity" }.into(),
                x => float_repr(x),
            },
            kind => return Err(refuse(format!("a value that is {kind} has no JSON"))),
        })
    }

    /// Before an item: the separator, and with an indent the line.
    fn begin(&mut self, first: bool, depth: usize) {
        if !first {
            self.out.push_str(&self.item_separator);
        }
        self.line(depth);
    }

    fn line(&mut self, depth: usize) {
        if let Some(indent) = &self.indent {
            self.out.push('\n');
            for _ in 0..depth {
                self.out.push_str(indent);
            }
        }
    }

    fn list(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        self.out.push('[');
        let mut first = true;
        for item in value.try_iter()? {
            self.begin(first, depth + 1);
            self.value(&item, depth + 1)?;
            first = false;
        }
        if !first {
            self.line(depth);
        }
        self.out.push(']');
        Ok(())
    }

    fn object(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        let mut keys: Vec<Value> = value.try_iter()?.collect();
        if self.sort_keys {
            keys.sort();
        }
        self.out.push('{');
        for (index, key) in keys.iter().enumerate() {
            self.begin(index == 0, depth + 1);
            match key.as_str() {
                Some(text) => self.string(text),
                None => {
                    let text = self.scalar(key)?;
                    self.string(&text);
                }
            }
            self.out.push_str(&self.key_separator);
            self.value(&value.get_item(key)?, depth + 1)?;
        }
        if !keys.is_empty() {
            self.line(depth);
        }
        self.out.push('}');
        Ok(())
    }

    fn value(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        if depth > MAX_DEPTH {
            return Err(refuse(format!("tojson: more than {MAX_DEPTH} levels")));
        }
        // One step for a value and for every 64 bytes, as they come.
        self.state.consume_fuel(1 + (self.out.len() - self.charged) as u64 / 64)?;
        self.charged = self.out.len();
        match value.kind() {
            ValueKind::String => self.string(value.as_str().unwrap_or_default()),
            ValueKind::Seq => self.list(value, depth)?,
            ValueKind::Map => self.object(value, depth)?,
            _ => {
                let text = self.scalar(value)?;
                self.out.push_str(&text);
            }
        }
        Ok(())
    }
}

fn indent_of(indent: Option<Value>) -> Result<Option<String>, Error> {
    let Some(indent) = indent.filter(|value| !value.is_none()) else {
        return Ok(None);
    };
    if let Some(text) = indent.as_str() {
        return Ok(Some(text.to_string()));
    }
    let count = i64::try_from(indent)?;
    if count > 64 {
        return Err(refuse(format!("tojson: an indent of {count}, more than 64")));
    }
    Ok(Some(" ".repeat(count.max(0) as usize)))
}

pub fn tojson(state: &State, value: &Value, indent: Option<Value>, options: Kwargs) -> Result<Value, Error> {
    let indent = indent_of(match indent {
        Some(indent) => Some(indent),
        None => options.get("indent")?,
    })?;
    let separators: Option<Value> = options.get("separators")?;
    let (item_separator, key_separator) = match separators.filter(|value| !value.is_none()) {
        Some(pair) => {
            let text = |at: usize| pair.get_item_by_index(at).map(|part| part.to_string());
            (text(0)?, text(1)?)
        }
        None => (if indent.is_some() { "," } else { ", " }.to_string(), ": ".to_string()),
    };
    let ensure_ascii: Option<bool> = options.get("ensure_ascii")?;
    let sort_keys: Option<bool> = options.get("sort_keys")?;
    options.assert_all_used()?;
    let mut writer = Writer {
        state,
        out: String::new(),
        charged: 0,
        ensure_ascii: ensure_ascii.unwrap_or(false),
        sort_keys: sort_keys.unwrap_or(false),
        indent,
        item_separator,
        key_separator,
    };
    writer.value(value, 0)?;
    Ok(Value::from(writer.out))
}
