//! Quick-Start's end points of a build without a loader: there are none.

use std::convert::Infallible;

use crate::base::ends_settings::{EndSettings, EndStep};
use crate::{KernelError, no_loader};

/// Quick-Start's end points in the kernel: there are none.
#[derive(Debug)]
pub struct KernelEnds(Infallible);

impl KernelEnds {
    /// Refuses.
    ///
    /// # Errors
    /// Always.
    pub fn load() -> Result<Self, KernelError> {
        no_loader::none()
    }

    /// Never called.
    pub const fn hash(&self) -> &str {
        match self.0 {}
    }

    /// Never called.
    ///
    /// # Errors
    /// Never.
    pub const fn add_host(&mut self, _: u64, _: u32) -> Result<(), KernelError> {
        match self.0 {}
    }

    /// Never called.
    ///
    /// # Errors
    /// Never.
    pub const fn add_end(&self, _: [u8; 4], _: &EndSettings) -> Result<(), KernelError> {
        match self.0 {}
    }

    /// Never called.
    pub const fn steps(&self) -> Vec<EndStep> {
        match self.0 {}
    }
}
