//! Calls as a tree, with a weight for each: what it has allocated, or the time that it has taken.

use std::collections::HashMap;
use std::ffi::c_int;
use std::hash::BuildHasherDefault;
use std::ops::AddAssign;

use rb_sys::{VALUE, rb_gc_mark};

use crate::address_hasher::AddressHasher;

/// Calls that are kept; those beyond count as [`Function::Further`].
const CALLS_LIMIT: usize = 100_000;

/// A function that was running.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Function {
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
pub(crate) struct Weight {
    pub(crate) bytes: f64,
    pub(crate) objects: f64,
}

impl AddAssign for Weight {
    fn add_assign(&mut self, other: Weight) {
        self.bytes += other.bytes;
        self.objects += other.objects;
    }
}

/// A function, called by another.
pub(crate) struct CallNode<W> {
    /// The call that made this one.
    pub(crate) caller: Option<u32>,
    /// An index in [`CallTree::functions`].
    pub(crate) function: u32,
    /// Its own.
    pub(crate) weight: W,
}

/// All calls.
#[derive(Default)]
pub(crate) struct CallTree<W> {
    pub(crate) functions: Vec<Function>,
    pub(crate) calls: Vec<CallNode<W>>,
    function_numbers: HashMap<Function, u32, BuildHasherDefault<AddressHasher>>,
    call_numbers: HashMap<(Option<u32>, u32), u32, BuildHasherDefault<AddressHasher>>,
    pub(crate) is_truncated: bool,
}

impl<W: Default + AddAssign> CallTree<W> {
    /// Returns the number of the call that this stack ends with; the stack begins with the outermost function.
    pub(crate) fn enter(&mut self, stack: impl Iterator<Item = Function>) -> u32 {
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

    /// Adds to the weight of a call.
    pub(crate) fn add(&mut self, call: u32, weight: W) {
        if let Some(call) = self.calls.get_mut(call as usize) {
            call.weight += weight;
        }
    }

    /// Marks what the stacks name, so that a method that is redefined can be described. Only the collector calls it.
    pub(crate) fn mark(&self) {
        for function in &self.functions {
            if let Function::Ruby(value, _) | Function::Class(value) = function {
                // SAFETY: the collector marks, and the value is an object that has been marked ever since.
                unsafe { rb_gc_mark(*value) };
            }
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
                let weight = W::default();
                push(
                    calls,
                    CallNode {
                        caller,
                        function,
                        weight,
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
