//! The keyed function that secrets rest on: the tag of Ascon-AEAD128 (NIST SP 800-232) with an empty plaintext.
//!
//! Without the key the tag cannot be told from chance, and neither key nor other tags can be computed from it.
//!
//! # Test plan
//!
//! Known answers of the standard's reference.

use ascon_aead::AsconAead128;
use ascon_aead::aead::array::Array;
use ascon_aead::aead::inout::InOutBuf;
use ascon_aead::aead::{AeadInOut, KeyInit};

/// Bytes of key, nonce and tag.
pub const BYTES: usize = 16;

/// The tag of associated data.
pub fn tag(key: &[u8; BYTES], nonce: [u8; BYTES], data: &[u8]) -> [u8; BYTES] {
    let cipher = AsconAead128::new(&Array(*key));
    // Fails for plaintexts of 2^64 bytes and more only, and here there is none.
    let tag = cipher.encrypt_inout_detached(&Array(nonce), data, InOutBuf::from(&mut [][..]));
    tag.map_or([0; BYTES], |tag| tag.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Count 1, 2, 10 and 17 of the reference's known answers: an empty plaintext, and so much associated data.
    #[test]
    fn known_answers() {
        let [key, nonce, data] = [0, 0x10, 0x30].map(|first: u8| core::array::from_fn(|i| first + i as u8));
        for (length, expected) in [
            (0, 0x4f9c_2782_11be_c931_6bf6_8f46_ee8b_2ec6_u128),
            (1, 0xcccb_674f_e18a_09a2_85d6_ab11_b356_75c0),
            (9, 0x24f1_3284_a0f9_0f90_6b18_c7e4_061c_0896),
            (16, 0xe423_0cdb_8330_ee9d_c0cf_d7c7_b346_e6dc),
        ] {
            assert_eq!(tag(&key, nonce, &data[..length]), expected.to_be_bytes());
        }
    }
}
