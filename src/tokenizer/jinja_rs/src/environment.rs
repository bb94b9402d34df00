//! The environment that transformers gives chat templates, on minijinja.

use std::sync::{Arc, Mutex};

use minijinja::machinery::{self, CompiledTemplate, TemplateConfig};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Value, ValueKind};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, State, UndefinedBehavior};

use crate::{calls, data, guard, json, numbers, python, tags, Clock, Failure, Status};

/// Calls of macros and loops within each other; a step deeper costs a few kB of stack.
const MAX_RECURSION: usize = 200;

pub fn text_form(value: &Value) -> String {
    match value.kind() {
        ValueKind::Number if !value.is_integer() => {
            f64::try_from(value.clone()).map_or_else(|_| value.to_string(), python::float_repr)
        }
        _ => value.to_string(),
    }
}

fn string(state: &State, value: &Value) -> Result<String, Error> {
    guard::pay(state, value)?;
    Ok(text_form(value))
}

/// MarkupSafe's spelling of the five characters.
fn escape(state: &State, value: &Value) -> Result<String, Error> {
    let text = string(state, value)?;
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&#34;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    Ok(out)
}

/// Where in the chain of causes the engine ran out of steps or depth.
fn is_limit(error: &Error) -> bool {
    error.kind() == ErrorKind::OutOfFuel || error.detail().is_some_and(|text| text.contains("recursion limit"))
}

fn failure_of(error: &Error, raised: Option<String>) -> Failure {
    // The innermost cause says what is wrong; the line is that of the innermost error that has one.
    let mut innermost = error;
    let mut line = error.line();
    while let Some(next) = std::error::Error::source(innermost).and_then(|cause| cause.downcast_ref::<Error>()) {
        innermost = next;
        line = next.line().or(line);
    }
    let line = line.unwrap_or(0) as u64;
    if let Some(text) = raised {
        return Failure { status: Status::Raised, text, line };
    }
    let status = match innermost.kind() {
        _ if is_limit(innermost) => Status::Limit,
        ErrorKind::SyntaxError => Status::Syntax,
        _ => Status::Failed,
    };
    let text = match innermost.detail() {
        Some(detail) => format!("{}: {detail}", innermost.kind()),
        None => innermost.kind().to_string(),
    };
    Failure { status, text, line }
}

fn add_names(environment: &mut Environment, clock: Clock, raised: &Arc<Mutex<Option<String>>>) {
    let raised = Arc::clone(raised);
    environment.add_function("raise_exception", move |state: &State, message: &Value| -> Result<Value, Error> {
        guard::pay(state, message)?;
        if let Ok(mut slot) = raised.lock() {
            slot.get_or_insert(message.to_string());
        }
        Err(Error::new(ErrorKind::InvalidOperation, "raise_exception"))
    });
    environment.add_function("strftime_now", move |format: &str| {
        clock
            .format(format)
            .ok_or_else(|| Error::new(ErrorKind::InvalidOperation, "strftime_now: no clock, or the text is too long"))
    });
    environment.add_function("joiner", minijinja_contrib::globals::joiner);
    environment.remove_global("debug");
    environment.add_filter("tojson", json::tojson);
    environment.add_filter("string", string);
    environment.add_filter("escape", escape);
    environment.add_filter("e", escape);
    // A Python string or dict has a length and items: jinja2 calls both sequences.
    environment.add_test("sequence", |value: &Value| {
        value.is_undefined() || matches!(value.kind(), ValueKind::Seq | ValueKind::String | ValueKind::Map)
    });
    environment.add_test("iterable", |value: &Value| !value.is_none() && value.try_iter().is_ok());
    environment.add_filter("int", numbers::int);
    environment.add_filter("float", numbers::float);
    environment.set_unknown_method_callback(calls::method);
    environment.set_formatter(|out, state, value| {
        guard::pay(state, value)?;
        out.write_str(&text_form(value)).map_err(Error::from)
    });
    guard::add_operators(environment);
}

fn syntax() -> Result<SyntaxConfig, Error> {
    SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()
}

fn compile(source: &str) -> Result<CompiledTemplate<'_>, Error> {
    let config = TemplateConfig { syntax_config: syntax()?, default_auto_escape: Arc::new(|_| AutoEscape::None) };
    CompiledTemplate::new("template", source, &config)
}

pub fn render(source: &str, context: &str, fuel: u64, clock: Clock) -> Result<String, Failure> {
    let context: serde_json::Value = serde_json::from_str(context)
        .map_err(|error| Failure::new(Status::Input, format!("the context is not JSON: {error}")))?;
    if !context.is_object() {
        return Err(Failure::new(Status::Input, "the context is not a JSON object"));
    }
    let source = tags::prepare(source).map_err(|line| Failure {
        status: Status::Limit,
        text: "a tag of more code than anybody writes".into(),
        line,
    })?;
    let raised = Arc::new(Mutex::new(None));
    let fail = |error: Error| failure_of(&error, raised.lock().ok().and_then(|mut text| text.take()));
    let mut template = compile(&source).map_err(fail)?;
    let names = guard::guard_names(&template.instructions);
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Lenient);
    environment.set_recursion_limit(MAX_RECURSION);
    environment.set_fuel(Some(fuel));
    add_names(&mut environment, clock, &raised);
    guard::replace(&mut template.instructions, &mut environment, &names).map_err(fail)?;
    let mut out = String::new();
    let root = data::value_of(context);
    let mut output = machinery::make_string_output(&mut out);
    machinery::eval(&environment, &template.instructions, root, &template.blocks, &mut output, AutoEscape::None)
        .map(|_| ())
        .map_err(fail)?;
    Ok(out)
}
