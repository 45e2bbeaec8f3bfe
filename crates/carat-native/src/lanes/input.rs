//! `Carat::Native::Input`: the body of one request, read while it arrives.

use carat_lane::{BodyStatus, Cut, Portion, WaitFor};
use magnus::rb_sys::{AsRawValue, protect};
use magnus::typed_data::Obj;
use magnus::value::Opaque;
use magnus::{
    Class, DataTypeFunctions, Error, Module, RModule, RString, Ruby, TypedData, gc, method,
};

use crate::interpreter::{borrow, error, text};
use crate::lanes::lane::Lane;

/// The native part of a `rack.input` that is read while it arrives.
#[derive(TypedData)]
#[magnus(class = "Carat::Native::Input", free_immediately, mark, size)]
pub(crate) struct Input {
    lane: Opaque<Obj<Lane>>,
    /// The id of the request on that lane.
    id: u32,
}

impl DataTypeFunctions for Input {
    fn mark(&self, marker: &gc::Marker) {
        marker.mark(self.lane);
    }
}

/// Defines the class.
pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    let class = native.define_class("Input", ruby.class_object())?;
    class.undef_default_alloc_func();
    class.define_method("fill", method!(Input::fill, 2))?;
    class.define_method("fill_some", method!(Input::fill_some, 2))?;
    class.define_method("fill_line", method!(Input::fill_line, 1))?;
    class.define_method("ended?", method!(Input::has_ended, 0))?;
    Ok(())
}

impl Input {
    /// The body of request `id` on `lane`.
    pub(crate) fn new(lane: Obj<Lane>, id: u32) -> Input {
        Input {
            lane: lane.into(),
            id,
        }
    }

    /// Replaces the content of `buffer` with the next `length` bytes, or with the rest for nil. Returns how many there
    /// were: fewer only at the end. Raises `IncompleteBody`, and `IOError` when the request is over.
    fn fill(
        ruby: &Ruby,
        input: &Input,
        buffer: RString,
        length: Option<usize>,
    ) -> Result<usize, Error> {
        input.read(ruby, buffer, length.map_or(Portion::All, Portion::Bytes))
    }

    /// Does the same as `fill` with the bytes that have arrived: at least one byte, unless the body has ended.
    fn fill_some(
        ruby: &Ruby,
        input: &Input,
        buffer: RString,
        length: usize,
    ) -> Result<usize, Error> {
        input.read(ruby, buffer, Portion::Arrived(length))
    }

    /// Does the same as `fill` with the next line.
    fn fill_line(ruby: &Ruby, input: &Input, buffer: RString) -> Result<usize, Error> {
        input.read(ruby, buffer, Portion::Line)
    }

    /// Waits until there is something to read, or the end.
    fn has_ended(ruby: &Ruby, input: &Input) -> Result<bool, Error> {
        Ok(!input.wait(ruby)?)
    }

    fn read(&self, ruby: &Ruby, buffer: RString, portion: Portion) -> Result<usize, Error> {
        protect(|| {
            text::restart(ruby, buffer.as_raw(), portion.room());
            buffer.as_raw()
        })?;
        let mut count = 0;
        while portion.is_wanted(count) && self.wait(ruby)? {
            let taken = self.take(ruby, buffer, |piece| portion.cut(count, piece))?;
            count += taken.bytes;
            if taken.is_last {
                break;
            }
        }
        Ok(count)
    }

    /// Waits until there is something to read. Returns false at the end.
    fn wait(&self, ruby: &Ruby) -> Result<bool, Error> {
        let lane = ruby.get_inner(self.lane);
        let arrived = lane.drive(ruby, WaitFor::Update(self.id), |session, socket| {
            session.await_body(socket, self.id)
        })?;
        match arrived {
            Some(BodyStatus::Complete) => Ok(false),
            Some(BodyStatus::Broken) => Err(error::incomplete_body(ruby)),
            Some(_) => Ok(true),
            None => Err(error::request_over(ruby)),
        }
    }

    /// Appends to `buffer` the part of what has arrived that `cut` chooses.
    fn take(
        &self,
        ruby: &Ruby,
        buffer: RString,
        cut: impl FnOnce(&[u8]) -> Cut<'_>,
    ) -> Result<Taken, Error> {
        let lane = ruby.get_inner(self.lane);
        let mut session = borrow(ruby, &lane.session)?;
        let body = session
            .body(self.id)
            .ok_or_else(|| error::request_over(ruby))?;
        let Cut { piece, is_last } = cut(body.peek());
        protect(|| {
            text::append(ruby, buffer.as_raw(), piece);
            buffer.as_raw()
        })?;
        let bytes = piece.len();
        body.consume(bytes);
        Ok(Taken { bytes, is_last })
    }
}

struct Taken {
    bytes: usize,
    is_last: bool,
}
