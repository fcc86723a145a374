//! A table in a Parquet file.
//!
//! | column | type |
//! |---|---|
//! | `segment`, `interval` | 32 bits, unsigned |
//! | `reported` | time in microseconds, UTC |
//! | `authenticated` | yes or no |
//! | `reason` | text, or null |
//! | each number, under its key | 64 bits, signed, or null |
//!
//! Where control frames are signed, its metadata says under [`PASSED`] how far each segment has come up to its recording's end, a line for each segment: its
//! number, and its [`Passed`] in words; under [`LEFT_OUT`], how many of the recording's frames were left out, by the five kinds of [`LeftOut`]; under
//! `deltaline.stretches`, what its intervals are together, a line for each run of numbers within an hour.
//!
//! Rows are in order of segment, then of time. A row group holds at most [`GROUP`] rows, and those of one segment where that has enough: who
//! asks for one segment unpacks little else. Pages are compressed by Zstandard.

use crate::continuity::{Place, Reported};
use crate::footer;
use crate::stretch::{STRETCHES, Stretch};
use crate::table::{Column, Filter, LeftOut, Row, Table};
use bytes::Bytes;
use deltaline_collect::collector::Passed;
use parquet::basic::{Compression, Encoding, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::column::reader::ColumnReader;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, RowGroupMetaData};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::statistics::Statistics;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type};
use std::collections::BTreeMap;
use std::io::Write;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

/// Rows of a group at most.
pub const GROUP: usize = 1 << 16;
/// A group of so many rows ends with its segment.
const ENOUGH: usize = 1024;
/// Bytes of a reason at most: many rows can share one text in a file, and in memory they do not.
const MOST_OF_REASON: usize = 4096;
/// Columns that every file begins with.
const FIXED: [&str; 5] = ["segment", "interval", "reported", "authenticated", "reason"];

/// The key of what segments have come to.
pub const PASSED: &str = "deltaline.passed";
/// The key of what was left out.
pub const LEFT_OUT: &str = "deltaline.left_out";

/// Writes a table, what segments have come to in the end, and what of the recording was left out; its rows are put in order, and reasons are cut
/// behind 4096 bytes.
///
/// # Errors
///
/// What the file cannot take.
pub fn write(
    mut table: Table,
    passed: &BTreeMap<u32, Passed>,
    left_out: LeftOut,
    file: impl Write + Send,
) -> Result<(), ParquetError> {
    for reason in table.rows_mut().iter_mut().filter_map(|row| row.reason.as_mut()) {
        let end = (0..=reason.len().min(MOST_OF_REASON)).rev().find(|at| reason.is_char_boundary(*at));
        reason.truncate(end.unwrap_or(0));
    }
    write_in_groups(table, passed, left_out, file, GROUP)
}

fn write_in_groups(
    mut table: Table,
    passed: &BTreeMap<u32, Passed>,
    left_out: LeftOut,
    file: impl Write + Send,
    group: usize,
) -> Result<(), ParquetError> {
    table.sort();
    let mut properties = WriterProperties::builder().set_compression(Compression::ZSTD(Default::default()));
    // Numbers of intervals and times rise; other numbers vary in their low bytes, which compress best apart from the high ones. A
    // dictionary would hold each number once.
    let rising = ["interval", "reported"].map(|name| (name, Encoding::DELTA_BINARY_PACKED));
    let names: Vec<&str> = table.columns().iter().map(|column| column.name.as_str()).collect();
    let varying = names.iter().map(|name| (*name, Encoding::BYTE_STREAM_SPLIT));
    // Nobody passes over pages by these, and where a column has no value at all they are most of what it takes.
    for name in &names {
        properties =
            properties.set_column_statistics_enabled(ColumnPath::from(*name), EnabledStatistics::Chunk);
    }
    for (name, encoding) in rising.into_iter().chain(varying) {
        let column = ColumnPath::from(name);
        properties = properties
            .set_column_dictionary_enabled(column.clone(), false)
            .set_column_encoding(column, encoding);
    }
    let lines = passed.iter().map(|(segment, passed)| format!("{segment} {passed}\n")).collect::<String>();
    let passed = (!lines.is_empty()).then(|| KeyValue::new(PASSED.to_string(), lines));
    let left_out = (!left_out.is_none()).then(|| KeyValue::new(LEFT_OUT.to_string(), words_of(left_out)));
    let lines =
        |stretches: Vec<Stretch>| stretches.iter().map(|each| format!("{each}\n")).collect::<String>();
    let stretches =
        Stretch::of(&table).map(|stretches| KeyValue::new(STRETCHES.to_string(), lines(stretches)));
    let said: Vec<KeyValue> = passed.into_iter().chain(left_out).chain(stretches).collect();
    properties = properties.set_key_value_metadata(Some(said).filter(|said| !said.is_empty()));
    let schema = Arc::new(schema(&names)?);
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties.build()))?;
    for rows in groups(table.rows(), group) {
        let mut group = writer.next_row_group()?;
        let mut place = 0_usize;
        while let Some(mut column) = group.next_column()? {
            let numbers = place.checked_sub(FIXED.len()).and_then(|number| table.columns().get(number));
            match numbers {
                Some(Column { numbers, .. }) => fill_numbers(column.untyped(), &numbers[rows.clone()])?,
                None => fill(column.untyped(), place, &table.rows()[rows.clone()])?,
            }
            column.close()?;
            place += 1;
        }
        group.close()?;
    }
    writer.close()?;
    Ok(())
}

/// The places of the groups of rows in order.
fn groups(rows: &[Row], group: usize) -> Vec<Range<usize>> {
    let mut groups = vec![];
    let mut begins = 0;
    while begins < rows.len() {
        let most = rows.len().min(begins + group);
        let ends = (begins + ENOUGH..most).find(|end| rows[end - 1].segment != rows[*end].segment);
        let ends = ends.unwrap_or(most);
        groups.push(begins..ends);
        begins = ends;
    }
    groups
}

fn schema(columns: &[&str]) -> Result<Type, ParquetError> {
    let unsigned = || Some(LogicalType::integer(32, false));
    let time = Some(LogicalType::timestamp(true, TimeUnit::MICROS));
    let fixed = [
        (Physical::INT32, unsigned(), Repetition::REQUIRED),
        (Physical::INT32, unsigned(), Repetition::REQUIRED),
        (Physical::INT64, time, Repetition::REQUIRED),
        (Physical::BOOLEAN, None, Repetition::REQUIRED),
        (Physical::BYTE_ARRAY, Some(LogicalType::String), Repetition::OPTIONAL),
    ];
    let numbers = columns.iter().map(|name| (*name, (Physical::INT64, None, Repetition::OPTIONAL)));
    let fields = FIXED.into_iter().zip(fixed).chain(numbers);
    let fields = fields.map(|(name, (physical, logical, repetition))| {
        let field = Type::primitive_type_builder(name, physical);
        Ok(Arc::new(field.with_logical_type(logical).with_repetition(repetition).build()?))
    });
    let fields = fields.collect::<Result<_, ParquetError>>()?;
    Type::group_type_builder("intervals").with_fields(fields).build()
}

/// Writes the column at this place, which is one of those that every file begins with.
fn fill(column: &mut ColumnWriter, place: usize, rows: &[Row]) -> Result<(), ParquetError> {
    match (column, place) {
        (ColumnWriter::Int32ColumnWriter(column), 0 | 1) => {
            let value = |row: &Row| if place == 0 { row.segment } else { row.interval };
            let values: Vec<i32> = rows.iter().map(|row| value(row).cast_signed()).collect();
            column.write_batch(&values, None, None)?;
        }
        (ColumnWriter::Int64ColumnWriter(column), 2) => {
            let values: Vec<i64> = rows.iter().map(|row| row.reported).collect();
            column.write_batch(&values, None, None)?;
        }
        (ColumnWriter::BoolColumnWriter(column), 3) => {
            let values: Vec<bool> = rows.iter().map(|row| row.authenticated).collect();
            column.write_batch(&values, None, None)?;
        }
        (ColumnWriter::ByteArrayColumnWriter(column), 4) => {
            let texts: Vec<ByteArray> =
                rows.iter().filter_map(|row| Some(row.reason.as_deref()?.into())).collect();
            let levels: Vec<i16> = rows.iter().map(|row| i16::from(row.reason.is_some())).collect();
            column.write_batch(&texts, Some(&levels), None)?;
        }
        _ => return Err(ParquetError::General(format!("column {place} has another type than its schema"))),
    }
    Ok(())
}

/// Writes a column of numbers.
fn fill_numbers(column: &mut ColumnWriter, numbers: &[Option<i64>]) -> Result<(), ParquetError> {
    let ColumnWriter::Int64ColumnWriter(column) = column else {
        return Err(ParquetError::General("a column of numbers has another type than its schema".into()));
    };
    let values: Vec<i64> = numbers.iter().copied().flatten().collect();
    let levels: Vec<i16> = numbers.iter().map(|number| i16::from(number.is_some())).collect();
    column.write_batch(&values, Some(&levels), None)?;
    Ok(())
}

/// A file of a store's intervals.
pub struct TableFile {
    reader: SerializedFileReader<Bytes>,
    /// Of its columns.
    names: Vec<String>,
}

impl TableFile {
    /// Reads what a file says of itself.
    ///
    /// # Errors
    ///
    /// A file that was not written by [`write()`].
    pub fn open(file: Bytes) -> Result<Self, ParquetError> {
        footer::check(&file)?;
        let reader = SerializedFileReader::new(file)?;
        // Rows that are alike take no room in a file, in memory they do.
        if reader.metadata().row_groups().iter().any(|group| group.num_rows() > GROUP as i64) {
            return Err(ParquetError::General(format!("a group of its rows has more than {GROUP}")));
        }
        let schema = reader.metadata().file_metadata().schema_descr_ptr();
        let names: Vec<String> = schema.columns().iter().map(|column| column.name().to_string()).collect();
        if names.len() < FIXED.len() || names[..FIXED.len()] != FIXED {
            return Err(ParquetError::General("its columns are not those of a store's intervals".into()));
        }
        Ok(TableFile { reader, names })
    }

    /// Reads the rows that are asked for, and the columns in which any row of the file has a number: most have none, as what is known of intervals differs
    /// by how they were measured. Row groups that hold none of the rows are passed over.
    ///
    /// # Errors
    ///
    /// Damaged pages, which need not be noticed: a [`Folder`](crate::Folder) compares whole files with the check in their name.
    pub fn rows(&self, filter: &Filter) -> Result<Table, ParquetError> {
        self.rows_of(filter, None)
    }

    /// As [`TableFile::rows`]; row groups without any of these intervals' numbers are passed over, too.
    pub(crate) fn rows_of(
        &self,
        filter: &Filter,
        intervals: Option<&RangeInclusive<u32>>,
    ) -> Result<Table, ParquetError> {
        let has_numbers = |place: &usize| self.groups().iter().any(|group| may_have_numbers(group, *place));
        let places: Vec<usize> = (FIXED.len()..self.names.len()).filter(has_numbers).collect();
        let is_asked = |group: &RowGroupMetaData| {
            may_hold(group, filter) && intervals.is_none_or(|numbers| may_be_in(group, 1, numbers))
        };
        self.read(filter, is_asked, &places)
    }

    /// Reads what is asked for of some groups, with the numbers of the columns at these places.
    fn read(
        &self,
        filter: &Filter,
        is_asked: impl Fn(&RowGroupMetaData) -> bool,
        places: &[usize],
    ) -> Result<Table, ParquetError> {
        let asked = || self.groups().iter().enumerate().filter(|(_, group)| is_asked(group));
        // Who wrote the file may have stated any number of groups.
        let most = asked().map(|(_, group)| usize::try_from(group.num_rows()).unwrap_or(0)).sum::<usize>();
        let most = most.min(GROUP);
        let mut rows = Vec::with_capacity(most);
        let named = |place: &usize| Some((*place, self.names.get(*place)?.clone()));
        let mut columns: Vec<(usize, Column)> = places
            .iter()
            .filter_map(named)
            .map(|(place, name)| (place, Column { name, numbers: Vec::with_capacity(most) }))
            .collect();
        for (number, _) in asked() {
            let group = self.reader.get_row_group(number)?;
            let kept = read_rows(group.as_ref(), filter, &mut rows)?;
            for (place, column) in &mut columns {
                read_numbers(group.as_ref(), *place, &kept, &mut column.numbers)?;
            }
        }
        Ok(Table::of(rows, columns.into_iter().map(|(_, column)| column).collect()))
    }

    /// Where its intervals lie.
    pub(crate) fn place(&self, filter: &Filter) -> Place {
        let (mut from, mut to) = (i64::MAX, i64::MIN);
        for group in self.groups() {
            let Some(Statistics::Int64(values)) = group.column(2).statistics() else { return Place::Inside };
            from = from.min(values.min_opt().copied().unwrap_or(i64::MIN));
            to = to.max(values.max_opt().copied().unwrap_or(i64::MAX));
        }
        if from > to { Place::Inside } else { Place::of([from, to], filter.reported.as_ref()) }
    }

    /// The numbers of the intervals that are asked for, without what was measured in them.
    pub(crate) fn reported(&self, filter: &Filter) -> Result<Vec<Reported>, ParquetError> {
        let table = self.read(filter, |group| may_hold(group, filter), &[])?;
        Ok(table.rows().iter().map(Reported::from).collect())
    }

    /// How many of the intervals that are asked for are not of signed control frames alone, or were not looked at for that.
    pub(crate) fn unsigned(&self, filter: &Filter) -> Result<usize, ParquetError> {
        let any = Filter { authenticated: false, ..filter.clone() };
        let table = self.read(&any, |group| may_hold(group, &any), &[])?;
        Ok(table.rows().iter().filter(|row| !row.authenticated).count())
    }

    /// What was left out of the recording.
    ///
    /// # Errors
    ///
    /// It says something else there.
    pub fn left_out(&self) -> Result<LeftOut, ParquetError> {
        let Some(words) = self.said(LEFT_OUT) else { return Ok(LeftOut::default()) };
        let counts = words.split(' ').map(|word| word.parse().ok()).collect::<Option<Vec<u64>>>();
        match counts.as_deref() {
            Some(&[corrupted, unauthentic, replayed, stray, beyond]) => {
                Ok(LeftOut { corrupted, unauthentic, replayed, stray, beyond })
            }
            _ => Err(ParquetError::General("what was left out of its recording cannot be read".into())),
        }
    }

    /// What segments had come to; empty if it does not say.
    ///
    /// # Errors
    ///
    /// It says something else there.
    pub fn passed(&self) -> Result<BTreeMap<u32, Passed>, ParquetError> {
        let of_line = |line: &str| {
            let (segment, passed) = line.split_once(' ')?;
            Some((segment.parse().ok()?, passed.parse().ok()?))
        };
        let all = self.said(PASSED).unwrap_or_default().lines().map(of_line).collect::<Option<_>>();
        all.ok_or_else(|| ParquetError::General("what its segments have come to cannot be read".into()))
    }

    /// The stretches of all its intervals, in order of segment and number; none where it does not say them.
    ///
    /// # Errors
    ///
    /// It says something else there, or some that are not those of so many rows.
    pub(crate) fn stretches(&self) -> Result<Option<Vec<Stretch>>, ParquetError> {
        let Some(lines) = self.said(STRETCHES) else { return Ok(None) };
        let wrong = || ParquetError::General("what its intervals are together cannot be read".into());
        let stretches: Vec<Stretch> =
            lines.lines().map(str::parse).collect::<Result<_, _>>().map_err(|_| wrong())?;
        let intervals = stretches.iter().map(Stretch::len).fold(0, u64::saturating_add);
        let rows = self.groups().iter().map(|group| group.num_rows().cast_unsigned());
        if intervals == rows.fold(0, u64::saturating_add) { Ok(Some(stretches)) } else { Err(wrong()) }
    }

    fn groups(&self) -> &[RowGroupMetaData] {
        self.reader.metadata().row_groups()
    }

    /// What it says under a key.
    fn said(&self, key: &str) -> Option<&str> {
        let pairs = self.reader.metadata().file_metadata().key_value_metadata();
        pairs.and_then(|pairs| pairs.iter().find(|pair| pair.key == key)?.value.as_deref())
    }
}

fn words_of(LeftOut { corrupted, unauthentic, replayed, stray, beyond }: LeftOut) -> String {
    [corrupted, unauthentic, replayed, stray, beyond].map(|count| count.to_string()).join(" ")
}

/// Whether a group may hold what is asked for, as far as its least and greatest values say.
fn may_hold(group: &RowGroupMetaData, filter: &Filter) -> bool {
    let may_be_of = filter.segment.is_none_or(|segment| may_be_in(group, 0, &(segment..=segment)));
    let may_be_then = match (&filter.reported, group.column(2).statistics()) {
        (Some(range), Some(Statistics::Int64(values))) => {
            values.min_opt().is_none_or(|least| *least < range.end)
                && values.max_opt().is_none_or(|greatest| range.start <= *greatest)
        }
        _ => true,
    };
    may_be_of && may_be_then
}

/// Whether any row of a group may have a number in the column at this place.
fn may_have_numbers(group: &RowGroupMetaData, place: usize) -> bool {
    let lacking = group.column(place).statistics().and_then(Statistics::null_count_opt);
    lacking.is_none_or(|lacking| lacking != group.num_rows().cast_unsigned())
}

/// Whether the column at this place, of unsigned numbers, may have any of these.
fn may_be_in(group: &RowGroupMetaData, place: usize, numbers: &RangeInclusive<u32>) -> bool {
    let Some(Statistics::Int32(values)) = group.column(place).statistics() else { return true };
    let [least, greatest] =
        [values.min_opt(), values.max_opt()].map(|end| end.map(|end| end.cast_unsigned()));
    least.is_none_or(|least| least <= *numbers.end())
        && greatest.is_none_or(|greatest| *numbers.start() <= greatest)
}

/// Appends those of a group's rows that are asked for; of each of all of them it says whether it is.
fn read_rows(
    group: &dyn RowGroupReader,
    filter: &Filter,
    rows: &mut Vec<Row>,
) -> Result<Vec<bool>, ParquetError> {
    let segments = all::<Int32Type>(group, 0)?;
    let intervals = all::<Int32Type>(group, 1)?;
    let times = all::<Int64Type>(group, 2)?;
    let authenticated = all::<BoolType>(group, 3)?;
    let reasons = all::<ByteArrayType>(group, 4)?;
    let mut kept = Vec::with_capacity(segments.len());
    let fixed = segments.into_iter().zip(intervals).zip(times).zip(authenticated).zip(reasons);
    for ((((segment, interval), reported), authenticated), reason) in fixed {
        let (Some(segment), Some(interval), Some(reported), Some(authenticated)) =
            (segment, interval, reported, authenticated)
        else {
            return Err(ParquetError::General("an interval without segment, number or time".into()));
        };
        if reason.as_ref().is_some_and(|text| text.len() > MOST_OF_REASON) {
            return Err(ParquetError::General(format!("a reason of more than {MOST_OF_REASON} bytes")));
        }
        let reason = reason.map(|text| String::from_utf8_lossy(text.data()).into_owned());
        let (segment, interval) = (segment.cast_unsigned(), interval.cast_unsigned());
        let row = Row { segment, interval, reported, authenticated, reason };
        let is_kept = filter.takes(&row);
        kept.push(is_kept);
        if is_kept {
            rows.push(row);
        }
    }
    Ok(kept)
}

/// Appends a column's numbers in the rows that are kept.
fn read_numbers(
    group: &dyn RowGroupReader,
    place: usize,
    kept: &[bool],
    numbers: &mut Vec<Option<i64>>,
) -> Result<(), ParquetError> {
    let read = all::<Int64Type>(group, place)?;
    // Mostly all of them are.
    if kept.iter().all(|is_kept| *is_kept) {
        numbers.extend(read);
    } else {
        numbers.extend(read.into_iter().zip(kept).filter_map(|(number, is_kept)| is_kept.then_some(number)));
    }
    Ok(())
}

/// A column's values, as many as its group has rows.
fn all<T: DataType>(group: &dyn RowGroupReader, place: usize) -> Result<Vec<Option<T::T>>, ParquetError> {
    let count = usize::try_from(group.metadata().num_rows())?;
    let reader: ColumnReader = group.get_column_reader(place)?;
    let is_optional = group.metadata().column(place).column_descr().max_def_level() > 0;
    let mut reader = T::get_column_reader(reader)
        .ok_or_else(|| ParquetError::General(format!("column {place} has another type")))?;
    let (mut values, mut levels) = (Vec::with_capacity(count), Vec::with_capacity(count));
    let (records, ..) = reader.read_records(count, is_optional.then_some(&mut levels), None, &mut values)?;
    if records != count {
        return Err(ParquetError::General(format!("column {place} has {records} of {count} rows")));
    }
    if values.len() == count {
        return Ok(values.into_iter().map(Some).collect());
    }
    if levels.len() != count {
        return Err(ParquetError::General(format!("column {place} lacks values")));
    }
    let mut values = values.into_iter();
    Ok(levels.into_iter().map(|level| if level > 0 { values.next() } else { None }).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn read(file: Bytes) -> Result<Table, ParquetError> {
        TableFile::open(file)?.rows(&Filter::default())
    }

    fn table(reason: Option<String>, rows: usize) -> Table {
        let (segment, interval, reported, authenticated) = (1, 2, 3, false);
        let row = Row { segment, interval, reported, authenticated, reason };
        let column = Column { name: "sent".into(), numbers: vec![Some(4); rows] };
        Table::of(vec![row; rows], vec![column])
    }

    /// A file's bytes as [`write_in_groups`] makes them.
    fn in_groups(table: &Table, group: usize) -> Bytes {
        let mut bytes = vec![];
        write_in_groups(table.clone(), &BTreeMap::new(), LeftOut::default(), &mut bytes, group).unwrap();
        bytes.into()
    }

    /// Rows that are all alike take a few bytes in a file, and gigabytes in memory: a store writes no such groups.
    #[test]
    fn groups_larger_than_a_store_writes_are_refused() {
        let table = table(None, GROUP + 1);
        for group in [GROUP, GROUP + 1] {
            let read = read(in_groups(&table, group));
            match group {
                GROUP => assert_eq!(read.unwrap(), table),
                _ => assert!(read.unwrap_err().to_string().contains("more than 65536")),
            }
        }
    }

    /// A line of a stretch that is sound by itself, and has an interval more than the file has rows.
    #[test]
    fn stretches_are_of_as_many_intervals_as_there_are_rows() {
        let file = in_groups(&table(None, 1), GROUP).to_vec();
        let (line, longer) = (&b"1 2 2 3 3 0 1 0 4 "[..], &b"1 2 3 3 3 0 2 0 4 "[..]);
        let at = file.windows(line.len()).position(|window| window == line).unwrap();
        let wrong = [&file[..at], longer, &file[at + line.len()..]].concat();
        let stretches = |file: Vec<u8>| TableFile::open(file.into()).unwrap().stretches();
        assert_eq!(stretches(file).unwrap().unwrap().len(), 1);
        assert!(stretches(wrong).unwrap_err().to_string().contains("together cannot be read"));
    }

    /// A reason that is longer than any is cut where it is written, between two characters; a file that has one all the same is refused.
    #[test]
    fn long_reasons_are_cut_or_refused() {
        for (bytes, kept) in
            [(MOST_OF_REASON - 1, MOST_OF_REASON - 1), (MOST_OF_REASON + 1, MOST_OF_REASON - 1)]
        {
            let table = table(Some(format!("x{}", "ä".repeat(bytes / 2))), 3);
            assert_eq!(table.rows()[0].reason.as_ref().unwrap().len(), bytes);
            let mut file = vec![];
            write(table.clone(), &BTreeMap::new(), LeftOut::default(), &mut file).unwrap();
            let found = read(file.into()).unwrap();
            assert!(found.rows().iter().all(|row| row.reason.as_ref().unwrap().len() == kept));
            assert_eq!(read(in_groups(&table, GROUP)).is_ok(), bytes == kept);
        }
    }
}
