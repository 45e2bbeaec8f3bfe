//! The value that stands for a fiber.

use std::hash::Hash;

/// Stands for a fiber, or for an exception that is to be raised in one: in Ruby, a `VALUE`.
///
/// Two handles are equal when they stand for the same object.
/// [`SchedulerState::each_handle`](crate::SchedulerState::each_handle) tells which objects must be kept alive.
pub trait Handle: Copy + Default + Eq + Hash {}

impl<H: Copy + Default + Eq + Hash> Handle for H {}
