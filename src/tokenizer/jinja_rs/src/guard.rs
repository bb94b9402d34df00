//! Work that the engine's fuel does not see. A value may hold another one twice, that one again, and so on: forty lines
//! of template make a tree of 2^40 leaves in little memory, and comparing or printing it would take for ever. So the
//! operators that walk their operands are replaced, instruction by instruction, by calls that first pay for the walk.

use minijinja::machinery::{Instruction, Instructions};
use minijinja::value::{Kwargs, Rest, Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind, State};

const MAX_DEPTH: usize = 1000;
const MAX_FORMAT_DIGITS: usize = 3;

fn error(text: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, text.into())
}

fn is_container(value: &Value) -> bool {
    matches!(value.kind(), ValueKind::Seq | ValueKind::Map | ValueKind::Iterable | ValueKind::Plain)
}

/// Pays for a walk over the whole tree of a value: one step a node, and one for 64 bytes of text.
pub fn pay(state: &State, value: &Value) -> Result<(), Error> {
    pay_below(state, value, 0)
}

fn pay_below(state: &State, value: &Value, depth: usize) -> Result<(), Error> {
    if depth > MAX_DEPTH {
        return Err(error(format!("recursion limit exceeded: a value of more than {MAX_DEPTH} levels")));
    }
    if let Some(text) = value.as_str() {
        return if text.len() < 64 { Ok(()) } else { state.consume_fuel(text.len() as u64 / 64) };
    }
    match value.kind() {
        ValueKind::Seq | ValueKind::Iterable => {
            for item in value.try_iter()? {
                state.consume_fuel(1)?;
                pay_below(state, &item, depth + 1)?;
            }
        }
        ValueKind::Map => {
            for key in value.try_iter()? {
                state.consume_fuel(1)?;
                pay_below(state, &value.get_item(&key)?, depth + 1)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// Equality walks both sides in step, so that either one pays for both.
fn equal(state: &State, left: &Value, right: &Value) -> Result<bool, Error> {
    if is_container(left) && is_container(right) {
        pay(state, right)?;
    } else if let (Some(left), Some(right)) = (left.as_str(), right.as_str()) {
        state.consume_fuel(left.len().min(right.len()) as u64 / 64)?;
    }
    Ok(left == right)
}

fn ordered(state: &State, left: &Value, right: &Value) -> Result<std::cmp::Ordering, Error> {
    if is_container(left) || is_container(right) || left.kind() != right.kind() {
        return Err(error(format!("{} and {} have no order", left.kind(), right.kind())));
    }
    equal(state, left, right)?;
    Ok(left.cmp(right))
}

fn contains(state: &State, needle: &Value, hay: &Value) -> Result<bool, Error> {
    if let Some(text) = hay.as_str() {
        let needle = needle.as_str().ok_or_else(|| error(format!("{} in a string", needle.kind())))?;
        state.consume_fuel(text.len() as u64 / 16)?;
        return Ok(text.contains(needle));
    }
    match hay.kind() {
        ValueKind::Map => {
            key(needle)?;
            Ok(!hay.get_item(needle)?.is_undefined())
        }
        ValueKind::Seq | ValueKind::Iterable => {
            for item in hay.try_iter()? {
                state.consume_fuel(1)?;
                if equal(state, needle, &item)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        ValueKind::Undefined => Ok(false),
        kind => Err(error(format!("in: {kind} holds nothing"))),
    }
}

/// What a dict is asked for. Python hashes no list or dict; a tuple as a key is refused too.
fn key(value: &Value) -> Result<(), Error> {
    if is_container(value) {
        return Err(error(format!("a {} as a key", value.kind())));
    }
    Ok(())
}

fn add(state: &State, left: &Value, right: &Value) -> Result<Value, Error> {
    let refuse = || error(format!("tried to use + operator on unsupported types {} and {}", left.kind(), right.kind()));
    match (left.kind(), right.kind()) {
        (ValueKind::String, ValueKind::String) => concat(state, left, right),
        (ValueKind::Number | ValueKind::Bool, ValueKind::Number | ValueKind::Bool) => {
            if let (Ok(a), Ok(b)) = (integer(left), integer(right)) {
                return a.checked_add(b).map(Value::from).ok_or_else(|| error("an integer beyond 128 bits"));
            }
            Ok(Value::from(f64::try_from(left.clone())? + f64::try_from(right.clone())?))
        }
        (ValueKind::Seq, ValueKind::Seq) => {
            let size = left.len().unwrap_or(0).saturating_add(right.len().unwrap_or(0));
            state.consume_fuel(size as u64)?;
            Ok(left.try_iter()?.chain(right.try_iter()?).collect::<Vec<_>>().into())
        }
        _ => Err(refuse()),
    }
}

fn integer(value: &Value) -> Result<i128, Error> {
    match value.kind() {
        ValueKind::Bool => Ok(value.is_true() as i128),
        _ if value.is_integer() => i128::try_from(value.clone()),
        _ => Err(error("not an integer")),
    }
}

fn concat(state: &State, left: &Value, right: &Value) -> Result<Value, Error> {
    pay(state, left)?;
    pay(state, right)?;
    let mut text = crate::environment::text_form(left);
    text.push_str(&crate::environment::text_form(right));
    Ok(Value::from(text))
}

fn item(state: &State, value: &Value, at: &Value) -> Result<Value, Error> {
    key(at)?;
    if value.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    state.consume_fuel(at.as_str().map_or(0, str::len) as u64 / 64)?;
    value.get_item(at)
}

fn dict(state: &State, parts: Rest<Value>) -> Result<Value, Error> {
    state.consume_fuel(2 * parts.len() as u64)?;
    for pair in parts.chunks(2) {
        key(&pair[0])?;
    }
    Ok(Value::from_pairs(parts.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone()))))
}

/// str.format pads to any width that it is told.
pub fn check_format(text: &str) -> Result<(), Error> {
    let longest = text.split(|c: char| !c.is_ascii_digit()).map(str::len).max().unwrap_or(0);
    if longest > MAX_FORMAT_DIGITS {
        return Err(error(format!("format: a number of more than {MAX_FORMAT_DIGITS} digits")));
    }
    Ok(())
}

pub fn add_operators(environment: &mut Environment) {
    environment.add_filter("operator:~", concat);
    environment.add_filter("operator:+", add);
    environment.add_filter("operator:[]", item);
    environment.add_filter("operator:{}", dict);
    environment.add_filter("operator:==", equal);
    environment.add_filter("operator:!=", |state: &State, a: &Value, b: &Value| equal(state, a, b).map(|same| !same));
    environment.add_filter("operator:<", |state: &State, a: &Value, b: &Value| ordered(state, a, b).map(|o| o.is_lt()));
    environment.add_filter("operator:<=", |state: &State, a: &Value, b: &Value| ordered(state, a, b).map(|o| o.is_le()));
    environment.add_filter("operator:>", |state: &State, a: &Value, b: &Value| ordered(state, a, b).map(|o| o.is_gt()));
    environment.add_filter("operator:>=", |state: &State, a: &Value, b: &Value| ordered(state, a, b).map(|o| o.is_ge()));
    environment.add_filter("operator:in", contains);
    environment.add_test("in", contains);
    for name in ["eq", "equalto", "=="] {
        environment.add_test(name, equal);
    }
    for name in ["ne", "!="] {
        environment.add_test(name, |state: &State, a: &Value, b: &Value| equal(state, a, b).map(|same| !same));
    }
}

/// Filters that look at no more of their input than they pay for. All others pay for a walk first.
const FREE_FILTERS: [&str; 21] = [
    "length", "count", "first", "last", "list", "items", "selectattr", "rejectattr", "map", "select", "reject", "default",
    "d", "reverse", "batch", "slice", "tojson", "string", "attr", "bool", "safe",
];
/// Of filters that apply another filter or a test by name: those names that are free, or that pay themselves.
const FREE_NAMES: [&str; 17] = [
    "defined", "undefined", "none", "string", "number", "integer", "float", "boolean", "mapping", "sequence", "iterable",
    "eq", "equalto", "==", "ne", "in", "true",
];

/// Whether these arguments of a free filter name something that is not free.
fn names_costly(filter: &str, args: &[Value]) -> bool {
    let name = match filter {
        "selectattr" | "rejectattr" => args.get(2),
        "select" | "reject" | "map" => args.get(1),
        _ => None,
    };
    name.is_some_and(|name| name.as_str().is_some_and(|name| !FREE_NAMES.contains(&name)))
}

fn guarded_filter(name: String) -> impl Fn(&mut State, Rest<Value>, Kwargs) -> Result<Value, Error> {
    move |state, args, keywords| {
        let mut args = args.0;
        if keywords.args().next().is_some() {
            args.push(Value::from(keywords));
        }
        let free = FREE_FILTERS.contains(&name.as_str()) && !names_costly(&name, &args);
        for arg in args.iter().filter(|arg| !free && is_container(arg)) {
            // Sorting walks a value for each comparison.
            for _ in 0..if matches!(name.as_str(), "sort" | "unique" | "groupby" | "dictsort") { 16 } else { 1 } {
                pay(state, arg)?;
            }
        }
        state.apply_filter(&name, &args).map_err(|error| match error.kind() {
            ErrorKind::UnknownFilter => Error::new(ErrorKind::UnknownFilter, name.clone()),
            _ => error,
        })
    }
}

const GUARD: &str = "guarded:";

/// Replaces the instructions; adds a guard for every filter that they name. `names` keeps what the instructions refer to.
pub fn replace<'s>(instructions: &mut Instructions<'s>, environment: &mut Environment, names: &'s [String]) -> Result<(), Error> {
    let mut at = 0;
    while let Some(instruction) = instructions.get_mut(at) {
        let operator = |name: &'static str, count: u16| Instruction::ApplyFilter(name, Some(count), LOCAL_NONE);
        let replaced = match *instruction {
            Instruction::StringConcat => operator("operator:~", 2),
            Instruction::Add => operator("operator:+", 2),
            Instruction::Eq => operator("operator:==", 2),
            Instruction::Ne => operator("operator:!=", 2),
            Instruction::Lt => operator("operator:<", 2),
            Instruction::Lte => operator("operator:<=", 2),
            Instruction::Gt => operator("operator:>", 2),
            Instruction::Gte => operator("operator:>=", 2),
            Instruction::In => operator("operator:in", 2),
            Instruction::GetItem => operator("operator:[]", 2),
            Instruction::BuildMap(pairs) if pairs > 0 => {
                let count = u16::try_from(2 * pairs).map_err(|_| error("a dict of more than 32767 members"))?;
                operator("operator:{}", count)
            }
            Instruction::CompareAndPreserve(_) => return Err(error("chained comparisons are not supported")),
            Instruction::ApplyFilter(name, count, _) => {
                let guard = names.iter().find(|guard| guard.strip_prefix(GUARD) == Some(name));
                let guard = guard.ok_or_else(|| error("more filters than are known"))?;
                environment.add_filter(guard.clone(), guarded_filter(name.to_string()));
                Instruction::ApplyFilter(guard.as_str(), count, LOCAL_NONE)
            }
            _ => {
                at += 1;
                continue;
            }
        };
        *instruction = replaced;
        at += 1;
    }
    Ok(())
}

/// No slot in the engine's cache of looked-up filters.
const LOCAL_NONE: u8 = !0;

/// The guards' names for every filter that these instructions apply.
pub fn guard_names(instructions: &Instructions) -> Vec<String> {
    let mut names = std::collections::BTreeSet::new();
    let mut at = 0;
    while let Some(instruction) = instructions.get(at) {
        if let Instruction::ApplyFilter(name, ..) = instruction {
            names.insert(format!("{GUARD}{name}"));
        }
        at += 1;
    }
    names.into_iter().collect()
}
