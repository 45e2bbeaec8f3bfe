//! Carat's Ruby extension.
