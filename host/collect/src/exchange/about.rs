//! About: what an end says of its recording as a whole, once it has read it.
//!
//! # Test plan
//!
//! What is written is read, texts of any characters included; too many texts and too long ones are cut; words at random are read or refused, and what
//! is read is bounded.

/// What is to be said of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// Packets that were looked at.
    pub packets: u64,
    /// How many of them are fragments of IP packets.
    pub fragments: u64,
    /// How many are longer than an ordinary link carries.
    pub long: u64,
    /// How many bytes the longest has.
    pub longest: u32,
    /// Measured packets of intervals that nobody asked about, between those that were asked about: the asking end has none there.
    pub unasked: u64,
    /// What a reader of the numbers ought to know, a text each; of another end's, anything at all.
    pub remarks: Vec<String>,
}

/// Most remarks that are said, and most bytes of each.
const MOST_REMARKS: usize = 32;
const MOST_TEXT: usize = 2048;

impl About {
    /// As words: the numbers, and of each remark the number of its bytes, and these, eight to a word.
    pub(super) fn to_words(&self) -> Vec<u64> {
        let mut words = vec![self.packets, self.fragments, self.long, self.longest.into(), self.unasked];
        for remark in self.remarks.iter().take(MOST_REMARKS) {
            let most = remark.len().min(MOST_TEXT);
            let end = (0..=most).rev().find(|end| remark.is_char_boundary(*end)).unwrap_or(0);
            let bytes = &remark.as_bytes()[..end];
            words.push(bytes.len() as u64);
            words.extend(bytes.chunks(8).map(|chunk| {
                let mut word = [0; 8];
                word.iter_mut().zip(chunk).for_each(|(byte, of)| *byte = *of);
                u64::from_be_bytes(word)
            }));
        }
        words
    }

    /// What such words say, unless they say nothing. Bytes that are no text are replaced.
    pub(super) fn of_words(words: &[u64]) -> Option<Self> {
        let [packets, fragments, long, longest, unasked, rest @ ..] = words else { return None };
        let longest = u32::try_from(*longest).ok()?;
        let (mut rest, mut remarks) = (rest, vec![]);
        while let [length, texts @ ..] = rest {
            let length = usize::try_from(*length).ok().filter(|length| *length <= MOST_TEXT)?;
            let (text, others) = texts.split_at_checked(length.div_ceil(8))?;
            let bytes: Vec<u8> = text.iter().flat_map(|word| word.to_be_bytes()).take(length).collect();
            remarks.push(String::from_utf8_lossy(&bytes).into_owned());
            if remarks.len() > MOST_REMARKS {
                return None;
            }
            rest = others;
        }
        Some(About {
            packets: *packets,
            fragments: *fragments,
            long: *long,
            longest,
            unasked: *unasked,
            remarks,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(
            packets: u64, fragments: u64, long: u64, longest: u32, unasked: u64, remarks in prop::collection::vec(any::<String>(), 0..9),
        ) {
            let about = About { packets, fragments, long, longest, unasked, remarks };
            prop_assert_eq!(About::of_words(&about.to_words()), Some(about));
        }

        #[test]
        fn any_words_are_read_or_refused(words in prop::collection::vec(prop_oneof![any::<u64>(), 0u64..70], 0..60)) {
            if let Some(About { remarks, .. }) = About::of_words(&words) {
                let bytes: usize = remarks.iter().map(String::len).sum();
                // What is no text takes three bytes a byte.
                prop_assert!(bytes <= 3 * 8 * words.len());
            }
        }
    }

    #[test]
    fn what_is_too_much_is_cut() {
        let about = About { remarks: vec!["ä".repeat(2000) + "b"; 40], ..About::default() };
        let read = About::of_words(&about.to_words()).unwrap();
        assert_eq!(read.remarks, vec!["ä".repeat(1024); 32]);
        let long = About { remarks: vec![format!("a{}", "ä".repeat(2000))], ..About::default() };
        assert_eq!(About::of_words(&long.to_words()).unwrap().remarks[0].len(), 2047);
        for refused in [
            &[][..],
            &[1, 2, 3, 4],
            &[1, 2, 3, 1 << 32, 5],
            &[1, 2, 3, 4, 5, 9, 0],
            &[1, 2, 3, 4, 5, 2049],
            &[1, 2, 3, 4, 5, u64::MAX],
        ] {
            assert_eq!(About::of_words(refused), None, "{refused:?}");
        }
        assert_eq!(About::of_words(&[&[1, 2, 3, 4, 5][..], &[0; 33]].concat()), None);
    }
}
