//! Parquet with a checksum of every page, which Arrow's library reads and does not write.
//!
//! A row group is encoded in memory. Its column chunks then go into the file, with the field `crc` (4) put into the header of each
//! page, a `PageHeader` of parquet.thrift in Thrift's compact protocol, between the fields 3, `compressed_page_size`, and 5, 7 or 8, the
//! header of the page's kind.

use std::io::Write;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use bytes::Bytes;
use parquet::arrow::{ArrowSchemaConverter, ArrowWriter, add_encoded_arrow_schema_to_metadata};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::SerializedFileWriter;

/// Rows of a row group, which a writer holds in encoded form: some 5 MB, and enough for what reads
/// them by column.
pub(crate) const ROW_GROUP_ROWS: usize = 1 << 17;

/// A table under way.
pub(crate) struct CheckedWriter<W: Write + Send> {
    file: SerializedFileWriter<W>,
    schema: SchemaRef,
    properties: WriterPropertiesPtr,
    /// The row group under way, and its rows.
    group: Option<(ArrowWriter<Vec<u8>>, usize)>,
}

impl<W: Write + Send> CheckedWriter<W> {
    /// Begins a file.
    pub(crate) fn new(file: W, schema: SchemaRef, properties: &WriterProperties) -> Result<Self> {
        let mut of_file = properties.clone();
        add_encoded_arrow_schema_to_metadata(&schema, &mut of_file);
        let root = ArrowSchemaConverter::new().convert(&schema)?.root_schema_ptr();
        let properties = Arc::new(of_file);
        let file = SerializedFileWriter::new(file, root, Arc::clone(&properties))?;
        Ok(Self { file, schema, properties, group: None })
    }

    /// Adds rows.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let mut from = 0;
        while from < batch.num_rows() {
            if self.group.is_none() {
                let properties = WriterProperties::clone(&self.properties);
                let schema = Arc::clone(&self.schema);
                self.group = Some((ArrowWriter::try_new(Vec::new(), schema, Some(properties))?, 0));
            }
            let Some((group, rows)) = &mut self.group else { break };
            let count = (ROW_GROUP_ROWS - *rows).min(batch.num_rows() - from);
            group.write(&batch.slice(from, count))?;
            *rows += count;
            from += count;
            if *rows == ROW_GROUP_ROWS {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Writes the rows that are held, and the end of the file.
    pub(crate) fn close(mut self) -> Result<W> {
        self.flush()?;
        self.file.into_inner()
    }

    fn flush(&mut self) -> Result<()> {
        let Some((mut group, _)) = self.group.take() else { return Ok(()) };
        let metadata: ParquetMetaData = group.finish()?;
        let encoded = group.inner();
        for row_group in metadata.row_groups() {
            let mut into = self.file.next_row_group()?;
            for column in row_group.columns() {
                let (chunk, close) = checked(encoded, column, row_group.num_rows())?;
                into.append_column(&chunk, close)?;
            }
            into.close()?;
        }
        Ok(())
    }
}

fn damaged() -> ParquetError {
    ParquetError::General("a page that was just written cannot be read".to_owned())
}

/// A column chunk of `encoded` with checksums, and what its file tells of it.
fn checked(
    encoded: &[u8],
    column: &ColumnChunkMetaData,
    rows: i64,
) -> Result<(Bytes, ColumnCloseResult)> {
    let (start, length) = column.byte_range();
    let place = |number: u64| usize::try_from(number).map_err(|_| damaged());
    let (start, length) = (place(start)?, place(length)?);
    let mut left = encoded.get(start..start + length).ok_or_else(damaged)?;
    let mut chunk = Vec::with_capacity(length + 64);
    let mut first_data = None;
    while !left.is_empty() {
        let header = Header::read(left).ok_or_else(damaged)?;
        let (head, rest) = left.split_at(header.end);
        let page = rest.get(..header.page).ok_or_else(damaged)?;
        if header.kind != DICTIONARY {
            first_data = first_data.or(Some(chunk.len()));
        }
        chunk.extend_from_slice(&head[..header.behind_size]);
        // A field of type i32 (5), one number on; the next field is one nearer then.
        chunk.push(0x15);
        put_zigzag(&mut chunk, crc32fast::hash(page).cast_signed());
        chunk.push(head[header.behind_size] - 0x10);
        chunk.extend_from_slice(&head[header.behind_size + 1..]);
        chunk.extend_from_slice(page);
        left = &rest[header.page..];
    }
    let added = i64::try_from(chunk.len() - length).map_err(|_| damaged())?;
    let first_data = i64::try_from(first_data.ok_or_else(damaged)?).map_err(|_| damaged())?;
    let metadata = column
        .clone()
        .into_builder()
        .set_dictionary_page_offset(column.dictionary_page_offset().map(|_| 0))
        .set_data_page_offset(first_data)
        .set_total_compressed_size(column.compressed_size() + added)
        .set_total_uncompressed_size(column.uncompressed_size() + added)
        .build()?;
    let close = ColumnCloseResult {
        bytes_written: chunk.len() as u64,
        rows_written: rows.cast_unsigned(),
        metadata,
        bloom_filter: None,
        column_index: None,
        offset_index: None,
    };
    Ok((Bytes::from(chunk), close))
}

/// `DICTIONARY_PAGE` of parquet.thrift.
const DICTIONARY: i64 = 2;

/// The fields of a page's header that are read.
#[derive(Debug, PartialEq, Eq)]
struct Header {
    kind: i64,
    /// Bytes of the page that follows.
    page: usize,
    /// The offset of the field after `compressed_page_size`.
    behind_size: usize,
    /// The end of the header.
    end: usize,
}

impl Header {
    fn read(bytes: &[u8]) -> Option<Self> {
        let mut thrift = Thrift { bytes, at: 0 };
        let (mut kind, mut page, mut behind_size) = (None, None, None);
        let mut field = 0;
        while let Next::Field(number, kind_of) = thrift.field(field)? {
            field = number;
            match number {
                1 => kind = Some(thrift.zigzag()?),
                3 => {
                    page = usize::try_from(thrift.zigzag()?).ok();
                    behind_size = Some(thrift.at);
                }
                _ => thrift.skip(kind_of)?,
            }
        }
        Some(Self { kind: kind?, page: page?, behind_size: behind_size?, end: thrift.at })
    }
}

/// The next element of a struct: a field with its number and type, or the end.
enum Next {
    Field(i64, u8),
    End,
}

/// Thrift's compact protocol, as far as page headers have it.
struct Thrift<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Thrift<'_> {
    fn byte(&mut self) -> Option<u8> {
        let byte = self.bytes.get(self.at).copied()?;
        self.at += 1;
        Some(byte)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn zigzag(&mut self) -> Option<i64> {
        let number = self.varint()?;
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    /// The element after field number `last`.
    fn field(&mut self, last: i64) -> Option<Next> {
        let head = self.byte()?;
        if head == 0 {
            return Some(Next::End);
        }
        let number = match head >> 4 {
            0 => self.zigzag()?,
            delta => last + i64::from(delta),
        };
        Some(Next::Field(number, head & 0x0f))
    }

    /// Passes over a value.
    fn skip(&mut self, kind: u8) -> Option<()> {
        match kind {
            // The type of a boolean field holds its value.
            1 | 2 => {}
            3 => drop(self.byte()?),
            4..=6 => drop(self.varint()?),
            7 => self.at += 8,
            8 => self.at += usize::try_from(self.varint()?).ok()?,
            12 => {
                let mut field = 0;
                while let Next::Field(number, kind) = self.field(field)? {
                    field = number;
                    self.skip(kind)?;
                }
            }
            // Lists, sets and maps are in no page's header.
            _ => return None,
        }
        (self.at <= self.bytes.len()).then_some(())
    }
}

fn put_zigzag(to: &mut Vec<u8>, number: i32) {
    let mut left = ((number << 1) ^ (number >> 31)).cast_unsigned();
    loop {
        let [low, ..] = left.to_le_bytes();
        left >>= 7;
        if left == 0 {
            to.push(low & 0x7f);
            return;
        }
        to.push(low | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::{ArrayRef, Float64Array, Int64Array, StringArray};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use parquet::file::metadata::RowGroupMetaData;

    use super::*;

    fn batch(rows: usize) -> RecordBatch {
        let numbers = (0..rows).map(|n| n as f64 * 0.37);
        let words = (0..rows).map(|n| (!n.is_multiple_of(7)).then(|| format!("w{}", n % 5)));
        RecordBatch::try_from_iter_with_nullable([
            ("x", Arc::new(Float64Array::from_iter_values(numbers)) as ArrayRef, false),
            ("word", Arc::new(words.collect::<StringArray>()) as ArrayRef, true),
            ("n", Arc::new((0_i64..).take(rows).collect::<Int64Array>()) as ArrayRef, true),
        ])
        .unwrap()
    }

    fn written(batches: &[RecordBatch]) -> Vec<u8> {
        let properties = WriterProperties::builder()
            .set_statistics_enabled(parquet::file::properties::EnabledStatistics::Chunk)
            .set_offset_index_disabled(true)
            .build();
        let schema = batches[0].schema();
        let mut writer = CheckedWriter::new(Vec::new(), schema, &properties).unwrap();
        for batch in batches {
            writer.write(batch).unwrap();
        }
        writer.close().unwrap()
    }

    fn read(bytes: Vec<u8>) -> Result<Vec<RecordBatch>> {
        let builder = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(bytes))?;
        let reader = builder.with_batch_size(1 << 20).build()?;
        reader.map(|batch| batch.map_err(Into::into)).collect()
    }

    #[test]
    fn what_is_written_is_read_back_in_whole_row_groups() {
        let whole = batch(300_000);
        let parts: Vec<RecordBatch> =
            [(0, 1), (1, 199_999), (200_000, 100_000)].map(|(at, n)| whole.slice(at, n)).to_vec();
        let bytes = written(&parts);
        let builder = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(bytes.clone())).unwrap();
        let groups: Vec<i64> =
            builder.metadata().row_groups().iter().map(RowGroupMetaData::num_rows).collect();
        assert_eq!(groups, [131_072, 131_072, 37_856]);
        assert_eq!(builder.schema(), &whole.schema());
        let mut at = 0;
        for batch in read(bytes).unwrap() {
            assert_eq!(batch, whole.slice(at, batch.num_rows()));
            at += batch.num_rows();
        }
        assert_eq!(at, 300_000);
    }

    #[test]
    fn a_bit_that_has_changed_in_a_page_is_noticed() {
        let bytes = written(&[batch(3000)]);
        let metadata =
            ParquetRecordBatchReaderBuilder::try_new(Bytes::from(bytes.clone())).unwrap();
        let mut noticed = 0;
        for column in metadata.metadata().row_group(0).columns() {
            let (start, length) = column.byte_range();
            let (start, length) =
                (usize::try_from(start).unwrap(), usize::try_from(length).unwrap());
            let mut at = start;
            while at < start + length {
                let header = Header::read(&bytes[at..]).unwrap();
                at += header.end;
                for byte in [at, at + header.page / 2, at + header.page - 1] {
                    let mut damaged = bytes.clone();
                    damaged[byte] ^= 1;
                    let error = read(damaged).unwrap_err().to_string();
                    assert!(error.contains("CRC checksum mismatch"), "{error}");
                    noticed += 1;
                }
                at += header.page;
            }
            assert_eq!(at, start + length);
        }
        // Three columns of two pages at the least, a dictionary and its indices.
        assert!(noticed >= 18, "{noticed}");
    }

    #[test]
    fn an_empty_table_has_its_columns() {
        let bytes = written(&[batch(0)]);
        let builder = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(bytes)).unwrap();
        assert_eq!(builder.schema().fields().len(), 3);
        assert_eq!(builder.metadata().file_metadata().num_rows(), 0);
    }

    #[test]
    fn numbers_are_as_thrift_writes_them() {
        // Zigzag (thrift-compact-protocol.md): 0, -1, 1, -2 are 0, 1, 2, 3; 300 is 600, 0xd8 0x04.
        for (number, bytes) in
            [(0, &[0][..]), (-1, &[1]), (1, &[2]), (-2, &[3]), (300, &[0xd8, 0x04])]
        {
            let mut found = Vec::new();
            put_zigzag(&mut found, number);
            assert_eq!(found, bytes);
            assert_eq!(Thrift { bytes, at: 0 }.zigzag(), Some(i64::from(number)));
        }
        // i32::MIN is 2^32 - 1 in zigzag: five bytes.
        let mut found = Vec::new();
        put_zigzag(&mut found, i32::MIN);
        assert_eq!(found, [0xff, 0xff, 0xff, 0xff, 0x0f]);
    }
}
