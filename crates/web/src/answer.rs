//! The form of an answer.

use serde_json::{Value, json};

/// An answer under way: a header, and buffers behind it.
///
/// Its bytes are the length of the header as a little-endian 32-bit number, the header as JSON text, zeros up to a
/// multiple of eight, and the buffers, each at a multiple of eight, where typed arrays can look at them.
#[derive(Debug, Default)]
pub struct Answer {
    buffers: Vec<u8>,
}

impl Answer {
    /// The place of `bytes` among the buffers, for the header: where they begin behind the header, and their length.
    pub fn place(&mut self, bytes: &[u8]) -> Value {
        let at = self.buffers.len();
        self.buffers.extend_from_slice(bytes);
        self.buffers.resize(self.buffers.len().next_multiple_of(8), 0);
        json!([at, bytes.len()])
    }

    /// The bytes of the answer with its `header`.
    ///
    /// # Panics
    /// With a header of four gigabytes.
    pub fn bytes(self, header: &Value) -> Vec<u8> {
        let header = header.to_string();
        let length = u32::try_from(header.len()).expect("a header below 4 GB");
        let mut bytes = Vec::with_capacity(16 + header.len() + self.buffers.len());
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(header.as_bytes());
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes.extend_from_slice(&self.buffers);
        bytes
    }
}
