//! Chat templates behind the C functions of `tokenizer/chat_jinja.h`, which says what they promise.
//!
//! The work runs in a thread of its own, for the size of its stack: values may nest as deep as fuel allows, and
//! dropping or comparing them recurses.

mod calls;
mod data;
mod environment;
mod guard;
mod json;
mod numbers;
mod python;
mod tags;

use std::ffi::c_void;
use std::os::raw::c_char;
use std::sync::Once;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Text {
    data: *const c_char,
    size: usize,
}

#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Ok = 0,
    Syntax = 1,
    Failed = 2,
    Raised = 3,
    Limit = 4,
    Input = 5,
    Internal = 6,
}

pub type Strftime = extern "C" fn(*mut c_void, *const c_char, usize, *mut c_char, usize) -> i64;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Options {
    fuel: u64,
    strftime: Option<Strftime>,
    user: *mut c_void,
}

#[repr(C)]
pub struct RenderResult {
    status: Status,
    text: Text,
    line: u64,
}

/// What went wrong, before it is handed over as C.
pub struct Failure {
    pub status: Status,
    pub text: String,
    pub line: u64,
}

impl Failure {
    pub fn new(status: Status, text: impl Into<String>) -> Self {
        Failure { status, text: text.into(), line: 0 }
    }
}

/// A clock that a thread other than the caller's may ask: the caller waits for that thread.
#[derive(Clone, Copy)]
pub struct Clock {
    strftime: Option<Strftime>,
    user: *mut c_void,
}
unsafe impl Send for Clock {}
unsafe impl Sync for Clock {}

impl Clock {
    /// The time by a strftime format; None when there is no clock or the text is too long.
    pub fn format(&self, format: &str) -> Option<String> {
        let strftime = self.strftime?;
        let mut out = vec![0u8; 4096];
        let size =
            strftime(self.user, format.as_ptr().cast(), format.len(), out.as_mut_ptr().cast(), out.len());
        out.truncate(usize::try_from(size).ok().filter(|&size| size <= out.len())?);
        String::from_utf8(out).ok()
    }
}

/// Address space, of which only what is touched becomes memory. A level of nesting costs at least 3 steps, and 512
/// bytes of stack in the deepest recursion there is.
const STACK_BASE: u64 = 64 << 20;
const STACK_PER_STEP: u64 = 192;
const STACK_MOST: u64 = 4 << 30;

unsafe fn text_of<'a>(text: Text, what: &str) -> Result<&'a str, Failure> {
    if text.size == 0 {
        return Ok("");
    }
    std::str::from_utf8(std::slice::from_raw_parts(text.data.cast::<u8>(), text.size))
        .map_err(|_| Failure::new(Status::Input, format!("{what} is not UTF-8")))
}

fn give(text: String) -> Text {
    let bytes = text.into_bytes().into_boxed_slice();
    let size = bytes.len();
    Text { data: Box::into_raw(bytes).cast::<c_char>(), size }
}

fn one_line(text: &str) -> String {
    text.split(['\n', '\r']).map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

fn run(source: &str, context: &str, fuel: u64, clock: Clock) -> Result<String, Failure> {
    let stack = (STACK_BASE + fuel.saturating_mul(STACK_PER_STEP)).min(STACK_MOST);
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .stack_size(stack as usize)
            .spawn_scoped(scope, || environment::render(source, context, fuel, clock))
            .map_err(|error| Failure::new(Status::Limit, format!("no thread to render in: {error}")))?;
        thread.join().unwrap_or_else(|_| Err(Failure::new(Status::Internal, "the template engine panicked")))
    })
}

/// # Safety
/// `source` and `context` are readable; `options` points to options.
#[no_mangle]
pub unsafe extern "C" fn headrace_jinja_render(source: Text, context: Text, options: *const Options) -> RenderResult {
    static QUIET: Once = Once::new();
    let outcome = std::panic::catch_unwind(|| {
        // A panic is a result here; a library does not print it.
        QUIET.call_once(|| std::panic::set_hook(Box::new(|_| {})));
        let options = &*options;
        let clock = Clock { strftime: options.strftime, user: options.user };
        let source = text_of(source, "the template")?;
        let context = text_of(context, "the context")?;
        run(source, context, options.fuel, clock)
    })
    .unwrap_or_else(|_| Err(Failure::new(Status::Internal, "the template engine panicked")));
    match outcome {
        Ok(text) => RenderResult { status: Status::Ok, text: give(text), line: 0 },
        Err(failure) => {
            RenderResult { status: failure.status, text: give(one_line(&failure.text)), line: failure.line }
        }
    }
}

/// # Safety
/// `text` is one that headrace_jinja_render gave, and is freed once.
#[no_mangle]
pub unsafe extern "C" fn headrace_jinja_free(text: Text) {
    if !text.data.is_null() {
        let bytes = std::ptr::slice_from_raw_parts_mut(text.data.cast_mut().cast::<u8>(), text.size);
        drop(Box::from_raw(bytes));
    }
}
