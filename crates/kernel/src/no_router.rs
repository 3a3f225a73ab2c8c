//! The Quick-Start router of a build without a loader: there is none.

use std::convert::Infallible;
use std::time::Duration;

use crate::base::router_settings::{
    Passed, RouterCounts, RouterDecision, RouterLoad, RouterSettings,
};
use crate::{KernelError, no_loader};

/// A Quick-Start router in the kernel: there is none.
#[derive(Debug)]
pub struct KernelRouter(Infallible);

impl KernelRouter {
    /// Refuses.
    ///
    /// # Errors
    /// Always.
    pub fn load(_: &RouterSettings) -> Result<Self, KernelError> {
        no_loader::none()
    }

    /// Never called.
    ///
    /// # Errors
    /// Never.
    pub const fn start(&self, _: Option<u64>) -> Result<(), KernelError> {
        match self.0 {}
    }

    /// Never called.
    pub const fn object(&self) -> &'static str {
        match self.0 {}
    }

    /// Never called.
    pub const fn hash(&self) -> String {
        match self.0 {}
    }

    /// Never called.
    ///
    /// # Errors
    /// Never.
    pub const fn carry_beside(&self, _: u64) -> Result<(), KernelError> {
        match self.0 {}
    }

    /// Never called.
    ///
    /// # Errors
    /// Never.
    pub const fn decisions(&self) -> Result<Vec<RouterDecision>, KernelError> {
        match self.0 {}
    }

    /// Never called.
    ///
    /// # Errors
    /// Never.
    pub const fn advance(&self, _: u64, _: u64) -> Result<(), KernelError> {
        match self.0 {}
    }

    /// Never called.
    ///
    /// # Errors
    /// Never.
    pub const fn attach(&mut self, _: u32, _: bool) -> Result<(), KernelError> {
        match self.0 {}
    }

    /// Never called.
    ///
    /// # Errors
    /// Never.
    pub const fn pass(&mut self, _: &mut [u8], _: bool) -> Result<Passed, KernelError> {
        match self.0 {}
    }

    /// Never called.
    ///
    /// # Errors
    /// Never.
    pub const fn time(&mut self, _: &[u8], _: u32, _: bool) -> Result<Duration, KernelError> {
        match self.0 {}
    }

    /// Never called.
    ///
    /// # Errors
    /// Never.
    pub const fn load_now(&self) -> Result<RouterLoad, KernelError> {
        match self.0 {}
    }

    /// Never called.
    ///
    /// # Errors
    /// Never.
    pub const fn counts(&self) -> Result<RouterCounts, KernelError> {
        match self.0 {}
    }
}
