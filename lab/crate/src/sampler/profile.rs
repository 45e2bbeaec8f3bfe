//! A profile as values of Ruby.

use std::fmt::{Display, Write};

use magnus::rb_sys::{FromRawValue, protect};
use magnus::value::ReprValue;
use magnus::{Error, IntoValue, RArray, Ruby, Value};
use rb_sys::{
    VALUE, rb_class_path, rb_profile_frame_absolute_path, rb_profile_frame_full_label,
    rb_profile_frame_path,
};

use super::Session;
use super::call_tree::{CallNode, CallTree, Function, Weight};
use crate::libraries::place;

/// Names of types without a class, by their numbers.
const TYPES: [(VALUE, &str); 6] = [
    (0x02, "Class"),
    (0x03, "Module"),
    (0x1a, "(code)"),
    (0x1b, "(syntax tree)"),
    (0x1c, "(included module)"),
    (0x08, "(hidden Hash)"),
];

/// Returns an Array: an Array for each function (kind, name or nil, file or nil, line or offset), the callers and the
/// functions of all calls, what each call has allocated (bytes, objects), what of that is not freed (bytes, objects), the
/// number of samples, for how many bytes one stands at the end, and whether a limit was reached. Those of the calls are
/// JSON.
pub(super) fn describe(ruby: &Ruby, session: &Session) -> Result<RArray, Error> {
    let calls = &session.tree.calls;
    let profile = describe_calls(ruby, &session.tree)?;
    let allocated: Vec<Weight> = calls.iter().map(|call| call.weight).collect();
    for weights in [allocated, session.live.weights(calls.len())] {
        profile.push(json(weights.iter().map(|weight| weight.bytes.round())))?;
        profile.push(json(weights.iter().map(|weight| weight.objects.round())))?;
    }
    profile.push(session.samples)?;
    profile.push(session.sampling_bytes())?;
    profile.push(session.tree.is_truncated || session.live.is_truncated)?;
    Ok(profile)
}

/// Returns an Array of the first three: the functions, and the callers and the functions of all calls.
pub(crate) fn describe_calls<W>(ruby: &Ruby, tree: &CallTree<W>) -> Result<RArray, Error> {
    let functions = ruby.ary_new();
    for function in &tree.functions {
        functions.push(describe_function(ruby, *function))?;
    }
    let profile = ruby.ary_new();
    profile.push(functions)?;
    profile.push(json(tree.calls.iter().map(caller)))?;
    profile.push(json(tree.calls.iter().map(|call| call.function)))?;
    Ok(profile)
}

fn caller<W>(call: &CallNode<W>) -> String {
    call.caller
        .map_or_else(|| "null".to_owned(), |caller| caller.to_string())
}

fn describe_function(ruby: &Ruby, function: Function) -> Value {
    match function {
        Function::Ruby(frame, line) => {
            let path = text(rb_profile_frame_absolute_path, frame)
                .filter(|path| !path.is_nil())
                .or_else(|| text(rb_profile_frame_path, frame));
            let label = text(rb_profile_frame_full_label, frame);
            ("ruby", label, path, line).into_value_with(ruby)
        }
        Function::Native(address) => native(ruby, address),
        Function::Class(class) => {
            let name = text(rb_class_path, class);
            ("object", name, (), ()).into_value_with(ruby)
        }
        Function::Type(kind) => {
            let name = TYPES.iter().find(|(number, _)| *number == kind);
            let name = name.map_or("(internal)", |(_, name)| *name);
            ("object", name, (), ()).into_value_with(ruby)
        }
        Function::Collector => ("other", "(garbage collector)", (), ()).into_value_with(ruby),
        Function::NoRuby => ("other", "(no Ruby code)", (), ()).into_value_with(ruby),
        Function::Further => ("other", "(further calls)", (), ()).into_value_with(ruby),
    }
}

/// The nearest name that a library exports is that of another function, unless it begins at the same address.
fn native(ruby: &Ruby, address: usize) -> Value {
    match place(address) {
        Some(place) => {
            let name = place.function.filter(|(_, is_exact)| *is_exact);
            let name = name.map(|(name, _)| name);
            ("c", name, place.library, place.offset).into_value_with(ruby)
        }
        None => ("c", (), (), ()).into_value_with(ruby),
    }
}

// SAFETY: the argument must be a frame or a class, as the function expects.
type Describe = unsafe extern "C" fn(VALUE) -> VALUE;

/// What Ruby says of a frame or a class, unless it raises.
fn text(describe: Describe, subject: VALUE) -> Option<Value> {
    // SAFETY: it is a frame or a class, as the function expects.
    let text = protect(|| unsafe { describe(subject) }).ok()?;
    // SAFETY: Ruby returned it, and the collector is off.
    Some(unsafe { Value::from_raw(text) })
}

/// An array of JSON.
pub(crate) fn json<T: Display>(elements: impl Iterator<Item = T>) -> String {
    let mut text = String::from("[");
    for (index, element) in elements.enumerate() {
        let comma = if index == 0 { "" } else { "," };
        // A String takes everything.
        let _ = write!(text, "{comma}{element}");
    }
    text.push(']');
    text
}
