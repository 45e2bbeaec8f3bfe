//! Calls as a tree, with what each has allocated.

use std::collections::HashMap;
use std::ffi::c_int;
use std::hash::BuildHasherDefault;

use rb_sys::VALUE;

use crate::address_hasher::AddressHasher;

/// Calls that are kept; those beyond count as [`Function::Further`].
const CALLS_LIMIT: usize = 100_000;

/// A function that was running.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Function {
    /// A method or a block, by what `rb_profile_frames` returns, and the line that runs.
    Ruby(VALUE, c_int),
    /// A function of C, by the address at which it begins.
    Native(usize),
    /// The class of an allocated object.
    Class(VALUE),
    /// The type of an allocated object that has no class, by its number.
    Type(VALUE),
    /// Ruby's garbage collector.
    Collector,
    /// A thread that runs no Ruby code.
    NoRuby,
    /// Stands for calls that are not kept.
    Further,
}

/// An estimate of allocated memory.
#[derive(Clone, Copy, Default)]
pub(super) struct Weight {
    pub(super) bytes: f64,
    pub(super) objects: f64,
}

impl Weight {
    pub(super) fn add(&mut self, other: Weight) {
        self.bytes += other.bytes;
        self.objects += other.objects;
    }
}

/// A function, called by another.
pub(super) struct CallNode {
    /// The call that made this one.
    pub(super) caller: Option<u32>,
    /// An index in [`CallTree::functions`].
    pub(super) function: u32,
    /// What it allocated itself.
    pub(super) allocated: Weight,
}

/// All calls.
#[derive(Default)]
pub(super) struct CallTree {
    pub(super) functions: Vec<Function>,
    pub(super) calls: Vec<CallNode>,
    function_numbers: HashMap<Function, u32, BuildHasherDefault<AddressHasher>>,
    call_numbers: HashMap<(Option<u32>, u32), u32, BuildHasherDefault<AddressHasher>>,
    pub(super) is_truncated: bool,
}

impl CallTree {
    /// Returns the number of the call that this stack ends with; the stack begins with the outermost function.
    pub(super) fn enter(&mut self, stack: impl Iterator<Item = Function>) -> u32 {
        let mut call = None;
        for function in stack {
            if self.calls.len() >= CALLS_LIMIT {
                self.is_truncated = true;
                return self.child(None, Function::Further);
            }
            call = Some(self.child(call, function));
        }
        call.unwrap_or_else(|| self.child(None, Function::NoRuby))
    }

    /// Adds to what a call has allocated.
    pub(super) fn add(&mut self, call: u32, weight: Weight) {
        if let Some(call) = self.calls.get_mut(call as usize) {
            call.allocated.add(weight);
        }
    }

    fn child(&mut self, caller: Option<u32>, function: Function) -> u32 {
        let functions = &mut self.functions;
        let function = *self
            .function_numbers
            .entry(function)
            .or_insert_with(|| push(functions, function));
        let calls = &mut self.calls;
        *self
            .call_numbers
            .entry((caller, function))
            .or_insert_with(|| {
                let allocated = Weight::default();
                push(
                    calls,
                    CallNode {
                        caller,
                        function,
                        allocated,
                    },
                )
            })
    }
}

/// Returns the index of the element.
fn push<T>(list: &mut Vec<T>, element: T) -> u32 {
    let index = u32::try_from(list.len()).unwrap_or(u32::MAX);
    list.push(element);
    index
}
