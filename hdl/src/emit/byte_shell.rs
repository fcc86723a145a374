//! The shell of the byte core whose control frames can be authenticated: the core, and the registers for its key.
//!
//! # Theory of operation
//!
//! All pins of the [core](crate::byte) but those that go to the [keys](crate::byte::keys) stay pins: this core has no other registers.
//!
//! ```text
//! s_axis, interval_end, .. -> core -> m_axis
//!                              | ^
//!               ended, places  v |  key, epoch
//! s_axil ------------------> keys
//! ```
//!
//! # Test plan
//!
//! `sim/cosim` `checks::signed_byte`: control frames against the model, keys that change. `checks::forgery`: forged delimiters.

use crate::byte;
use crate::byte::keys::Keys;
use crate::emit::block::{check_name, emit_block};
use crate::emit::refusal::EmitError;
use crate::emit::wiring::Wiring;
use deltaline_model::configuration::Configuration;

/// The Verilog of a configuration's byte core with its keys, without a header; all names are prefixed by `prefix`.
///
/// # Errors
///
/// As [`byte::emit`].
pub(crate) fn emit(configuration: &Configuration, prefix: &str) -> Result<String, EmitError> {
    check_name(prefix)?;
    let mut wiring = Wiring::new(prefix);
    wiring.port("input", 1, "clk");
    wiring.port("input", 1, "rst");
    wiring.part("core", byte::emit_signed(configuration, &format!("{prefix}_core"))?);
    wiring.part("keys", emit_block(&mut Keys::default(), &format!("{prefix}_keys"))?);
    for (wire, driver) in [
        ("keys_ends", "core_ended_0"),
        ("keys_number", "core_ended_number_0"),
        ("keys_place", "core_key_place_0"),
        ("core_keys_busy_0", "keys_busy"),
        ("core_is_keyed_0", "keys_is_keyed"),
        ("core_key_word_0", "keys_word"),
        ("core_key_waits_0", "keys_waits"),
        ("core_keys_renew_0", "keys_renews"),
        ("keys_tag_place", "core_tag_place_0"),
        ("core_tag_word_0", "keys_tag_word"),
    ] {
        wiring.connect(wire, driver);
    }
    wiring.other_ports("core");
    wiring.other_ports("keys");
    wiring.text()
}
