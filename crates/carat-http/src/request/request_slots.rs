use std::any::Any;

/// The facts that parts remember about a request: at most one value of each type. An empty list allocates nothing.
#[derive(Debug, Default)]
pub struct RequestSlots(Option<Box<RequestSlot<dyn Any>>>);

/// A value, and the slots behind it.
#[derive(Debug)]
struct RequestSlot<T: ?Sized> {
    next: RequestSlots,
    /// An `Option<T>`: `None` once the value was taken.
    value: T,
}

impl RequestSlots {
    /// Remembers a value. It replaces an earlier one of the same type.
    pub fn set<T: 'static>(&mut self, value: T) {
        if let Some(slot) = self.slot::<T>() {
            *slot = Some(value);
            return;
        }
        let next = RequestSlots(self.0.take());
        let value = Some(value);
        self.0 = Some(Box::new(RequestSlot { next, value }));
    }

    /// The value of a type.
    pub fn get<T: 'static>(&mut self) -> Option<&mut T> {
        self.slot::<T>()?.as_mut()
    }

    /// Takes the value of a type.
    pub fn take<T: 'static>(&mut self) -> Option<T> {
        self.slot::<T>()?.take()
    }

    fn slot<T: 'static>(&mut self) -> Option<&mut Option<T>> {
        let RequestSlot { next, value } = &mut **self.0.as_mut()?;
        match value.downcast_mut() {
            Some(value) => Some(value),
            None => next.slot(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_has_one_value_of_each_type() {
        let mut slots = RequestSlots::default();
        assert_eq!(slots.get::<u8>(), None);
        slots.set(1_u8);
        slots.set("text");
        slots.set(2_u8);
        assert_eq!(
            (slots.get::<u8>(), size_of::<RequestSlots>()),
            (Some(&mut 2), 16)
        );
        assert_eq!((slots.take::<u8>(), slots.take::<u8>()), (Some(2), None));
        assert_eq!(slots.take::<&str>(), Some("text"));
        slots.set(3_u8);
        assert_eq!(slots.take::<u8>(), Some(3));
    }
}
