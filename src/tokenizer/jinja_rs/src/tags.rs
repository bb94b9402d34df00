//! What happens to a template's tags before the engine reads them.
//!
//! `{% generation %}` … `{% endgeneration %}`, which transformers adds to mark what an assistant says, changes nothing
//! in the text but opens a scope: here it becomes `with`. Tags of more code than anybody writes are refused: the engine
//! folds constants in time that grows with the square of an expression.

/// Bytes of a tag outside its string literals; real ones have some hundred.
const MAX_CODE: usize = 4096;

/// The template with the two tags renamed where they are tags: not in comments, raw blocks or string literals.
/// Lines stay where they are. The error is the line of a tag that is too long.
pub fn prepare(source: &str) -> Result<String, u64> {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    let mut raw = false;
    while let Some(at) = rest.find('{') {
        let (before, tag) = rest.split_at(at);
        out.push_str(before);
        let (size, code) = match tag.as_bytes().get(1) {
            Some(b'#') if !raw => (tag.find("#}").map_or(tag.len(), |end| end + 2), 0),
            Some(b'{') if !raw => expression_size(tag, "}}"),
            // In raw text only the end of it is a tag.
            Some(b'%') if !raw || word_of(tag) == Some("endraw") => expression_size(tag, "%}"),
            _ => (1, 0),
        };
        if code > MAX_CODE {
            return Err(1 + out.matches('\n').count() as u64);
        }
        let (tag, after) = tag.split_at(size);
        match word_of(tag) {
            Some("raw") => raw = true,
            Some("endraw") => raw = false,
            _ => {}
        }
        match word_of(tag).filter(|_| !raw && size > 1) {
            Some("generation") => out.push_str(&tag.replacen("generation", "with", 1)),
            Some("endgeneration") => out.push_str(&tag.replacen("endgeneration", "endwith", 1)),
            _ => out.push_str(tag),
        }
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

/// Bytes of a tag up to and with its end, which does not count inside string literals; and how many are outside them.
fn expression_size(tag: &str, end: &str) -> (usize, usize) {
    let bytes = tag.as_bytes();
    let mut at = 2;
    let mut code = 0;
    let mut quote = None;
    while at < bytes.len() {
        match (quote, bytes[at]) {
            (Some(_), b'\\') => at += 1,
            (Some(open), byte) if open == byte => quote = None,
            (None, byte @ (b'\'' | b'"')) => quote = Some(byte),
            (None, _) if bytes[at..].starts_with(end.as_bytes()) => return (at + end.len(), code),
            _ => {}
        }
        code += usize::from(quote.is_none());
        at += 1;
    }
    (tag.len(), code)
}

/// The first word of a block tag.
fn word_of(tag: &str) -> Option<&str> {
    let inside = tag.strip_prefix("{%")?.trim_start_matches(['-', '+']).trim_start();
    let size = inside.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(inside.len());
    Some(&inside[..size])
}
