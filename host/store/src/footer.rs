//! The footer of a Parquet file, looked at before the library reads it.
//!
//! The library makes room for as many entries as a list says that it has, and goes as deep as a schema says that it is nested. Neither ends in an error that can be
//! caught: a file of a few hundred bytes would end the program that reads a folder. A store's own files have one level of columns.
//!
//! ```text
//! "PAR1"   pages   footer   its length, 4 bytes   "PAR1"
//! ```
//!
//! The footer is a struct in Thrift's compact protocol. A field is a byte with its type and how far its number is from the one before, and its value; a list has
//! its length and type in front. What is looked at is that every value lies within the footer, that a list has no more entries than bytes are left, and that of the
//! schema, the field 2, the first element has all others as its children (their field 5), and these have none.
//!
//! # Test plan
//!
//! Footers made by hand: schemas nested as deep as they have elements, and with any number of children; lists longer than the file; values that are nested
//! deep; all cut anywhere. What [`write()`](crate::table_file::write) makes is taken: `tests/table_file.rs`.

use parquet::errors::ParquetError;

/// Structs in structs, at most: those of the format are half as deep.
const DEEPEST: usize = 16;
/// The fields of a schema, and of how many children an element has.
const SCHEMA: i64 = 2;
const CHILDREN: i64 = 5;
/// Types of values.
const NUMBER: u8 = 5;
const LIST: u8 = 9;
const STRUCT: u8 = 12;
/// What is at either end of a file.
const MAGIC: &[u8] = b"PAR1";

/// Looks at a file's footer. What is no Parquet file at all is left to the library.
///
/// # Errors
///
/// It contradicts itself, or its columns are nested.
pub(crate) fn check(file: &[u8]) -> Result<(), ParquetError> {
    let Some((rest, length)) = file.strip_suffix(MAGIC).and_then(<[u8]>::split_last_chunk) else {
        return Ok(());
    };
    let length = u32::from_le_bytes(*length) as usize;
    let Some(begins) = rest.len().checked_sub(length) else { return Ok(()) };
    let is_sound = Reader(&rest[begins..]).footer();
    is_sound.filter(|is_flat| *is_flat).map(drop).ok_or_else(|| {
        ParquetError::General("its footer contradicts itself, or has columns in columns".into())
    })
}

/// What of a footer was not read yet. All of it says none where a value does not lie within it.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    /// Whether all schemas are flat.
    fn footer(&mut self) -> Option<bool> {
        let mut is_flat = true;
        self.fields(&mut |reader, field, kind| {
            if (field, kind) != (SCHEMA, LIST) {
                return reader.pass(kind, 1);
            }
            let mut children = vec![];
            let (many, of_element) = reader.list()?;
            if of_element != STRUCT {
                return None;
            }
            for _ in 0..many {
                children.push(reader.children()?);
            }
            let mut others = children.iter().skip(1);
            is_flat &= children.first() == Some(&(many as i64 - 1)) && others.all(|many| *many == 0);
            Some(())
        })?;
        Some(is_flat)
    }

    /// How many children a schema's element has.
    fn children(&mut self) -> Option<i64> {
        let mut children = 0;
        self.fields(&mut |reader, field, kind| {
            if (field, kind) == (CHILDREN, NUMBER) {
                children = reader.number()?;
                return Some(());
            }
            reader.pass(kind, 2)
        })?;
        Some(children)
    }

    /// Hands out the number and type of each field of a struct; its value is to be read then.
    fn fields(&mut self, take: &mut dyn FnMut(&mut Self, i64, u8) -> Option<()>) -> Option<()> {
        let mut field = 0;
        loop {
            let head = self.byte()?;
            let (step, kind) = (head >> 4, head & 0xf);
            if head == 0 {
                return Some(());
            }
            field = if step == 0 { self.number()? } else { field + i64::from(step) };
            take(self, field, kind)?;
        }
    }

    /// Reads over a value of this type.
    fn pass(&mut self, kind: u8, depth: usize) -> Option<()> {
        match kind {
            // A field that is true or false has no more than its type.
            1 | 2 => Some(()),
            3 => self.byte().map(drop),
            4..=6 => self.number().map(drop),
            7 => self.pass_bytes(8),
            8 => {
                let length = self.varint()?;
                self.pass_bytes(length)
            }
            LIST if depth < DEEPEST => {
                let (many, kind) = self.list()?;
                (0..many).try_for_each(|_| match kind {
                    1 | 2 => self.byte().map(drop),
                    _ => self.pass(kind, depth + 1),
                })
            }
            STRUCT if depth < DEEPEST => self.fields(&mut |reader, _, kind| reader.pass(kind, depth + 1)),
            _ => None,
        }
    }

    /// How many entries a list has, of one byte at least, and of which type.
    fn list(&mut self) -> Option<(usize, u8)> {
        let head = self.byte()?;
        let many = if head >> 4 == 0xf { self.varint()? } else { (head >> 4).into() };
        let many = usize::try_from(many).ok().filter(|many| *many <= self.0.len())?;
        Some((many, head & 0xf))
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn pass_bytes(&mut self, length: u64) -> Option<()> {
        self.0 = self.0.get(usize::try_from(length).ok()?..)?;
        Some(())
    }

    /// A number of 64 bits at most, 7 in each byte, the low ones first.
    fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for place in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << place;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// The same with a sign, in its lowest bit.
    fn number(&mut self) -> Option<i64> {
        let number = self.varint()?;
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::table_file::TableFile;

    fn varint(mut number: u64) -> Vec<u8> {
        let mut bytes = vec![];
        while number >= 0x80 {
            bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        [bytes, vec![number as u8]].concat()
    }

    /// A list's head: so many entries of a type.
    fn list(many: u64, kind: u8) -> Vec<u8> {
        if many < 15 { vec![(many as u8) << 4 | kind] } else { [vec![0xf0 | kind], varint(many)].concat() }
    }

    /// A footer: version 1, and a schema that says how many elements it has, with those that have so many children each; then rows, and no groups of them.
    fn footer(many: u64, children: &[u64]) -> Vec<u8> {
        let mut footer = vec![0x15, 2, 0x19];
        footer.extend(list(many, STRUCT));
        for children in children {
            // A name, and how many children.
            footer.extend([0x48, 1, b'x', 0x15]);
            footer.extend(varint(2 * children));
            footer.push(0);
        }
        footer.extend([0x16, 0, 0x19, 0x0c, 0]);
        footer
    }

    fn file(footer: &[u8]) -> Vec<u8> {
        [MAGIC, footer, &(footer.len() as u32).to_le_bytes(), MAGIC].concat()
    }

    #[test]
    fn flat_schemas_are_taken_and_no_others() {
        for columns in [1, 5, 14, 15, 300] {
            let children = [vec![columns], vec![0; columns as usize]].concat();
            check(&file(&footer(columns + 1, &children))).unwrap();
            for wrong in [columns - 1, columns + 1, (1 << 31) - 1, u64::MAX >> 1] {
                let children = [vec![wrong], vec![0; columns as usize]].concat();
                check(&file(&footer(columns + 1, &children))).unwrap_err();
            }
        }
        // The library would go as deep, and end the program.
        let nested = [vec![1; 100_000], vec![0]].concat();
        assert!(TableFile::open(file(&footer(100_001, &nested)).into()).is_err());
        check(&file(&footer(4, &[2, 1, 0, 0]))).unwrap_err();
    }

    #[test]
    fn lists_are_no_longer_than_their_footers() {
        for many in [3, 1 << 20, 1 << 31, u64::MAX] {
            check(&file(&footer(many, &[1, 0]))).unwrap_err();
            // Of groups of rows.
            let mut long = footer(2, &[1, 0]);
            long.truncate(long.len() - 2);
            long.extend(list(many, STRUCT));
            long.push(0);
            check(&file(&long)).unwrap_err();
        }
    }

    #[test]
    fn what_is_nested_or_cut_is_refused() {
        let lists = |depth: usize| [vec![0x15, 2, 0x89], vec![0x19; depth], vec![0x10 | 3, 7, 0]].concat();
        check(&file(&[lists(5), vec![0]].concat())).unwrap();
        check(&file(&lists(100_000))).unwrap_err();
        let structs = |depth: usize| [vec![0x8c], vec![0x1c; depth], vec![0; depth + 2]].concat();
        check(&file(&structs(5))).unwrap();
        check(&file(&structs(100_000))).unwrap_err();
        let whole = footer(3, &[2, 0, 0]);
        check(&file(&whole)).unwrap();
        for end in 0..whole.len() {
            check(&file(&whole[..end])).unwrap_err();
        }
    }
}
