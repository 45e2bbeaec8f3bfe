//! `Carat::Native::Hijack`: what `rack.hijack` knows of its request.

use magnus::value::Opaque;
use magnus::{
    Class, DataTypeFunctions, Error, Module, RHash, RModule, Ruby, TypedData, Value, gc, method,
};

/// A request whose connection the application may take over. Each request gets such an object, so it must be cheap: a
/// Struct cost five times as much.
#[derive(TypedData)]
#[magnus(class = "Carat::Native::Hijack", free_immediately, mark, size)]
pub(crate) struct HijackHandle {
    slot: Opaque<Value>,
    id: u32,
    env: Opaque<RHash>,
}

impl DataTypeFunctions for HijackHandle {
    fn mark(&self, marker: &gc::Marker) {
        marker.mark(self.slot);
        marker.mark(self.env);
    }
}

/// Defines the class.
pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    let class = native.define_class("Hijack", ruby.class_object())?;
    class.undef_default_alloc_func();
    class.define_method("slot", method!(HijackHandle::slot, 0))?;
    class.define_method("id", method!(HijackHandle::id, 0))?;
    class.define_method("env", method!(HijackHandle::env, 0))?;
    Ok(())
}

impl HijackHandle {
    /// The request with this id, in a slot.
    pub(crate) fn new(slot: Value, id: u32, env: RHash) -> HijackHandle {
        HijackHandle {
            slot: slot.into(),
            id,
            env: env.into(),
        }
    }

    fn slot(ruby: &Ruby, hijack: &HijackHandle) -> Value {
        ruby.get_inner(hijack.slot)
    }

    fn id(&self) -> u32 {
        self.id
    }

    fn env(ruby: &Ruby, hijack: &HijackHandle) -> RHash {
        ruby.get_inner(hijack.env)
    }
}
