//! An attribute that states a module's flip-flops once.
//!
//! RustHDL's `#[hdl_gen]` turns the text of `update` into Verilog and expands no macro in it but its own `dff_setup!`,
//! which knows no reset. [`macro@clocked`] stands in front of it instead and writes what every flip-flop needs into
//! the function.
//!
//! # Test plan
//!
//! Every module of `deltaline-hdl` is built with it: their emitted text is pinned, their reset is simulated and proven.

use proc_macro::{Delimiter, Group, TokenStream, TokenTree};

/// `#[hdl_gen]` for the `update` of a module with a clock `clk` and a reset `rst`: every flip-flop that is named has both,
/// and keeps its value where the function says nothing else. Flip-flops are `deltaline_hdl::leaves::Flop`s.
#[proc_macro_attribute]
pub fn clocked(flops: TokenStream, update: TokenStream) -> TokenStream {
    let flops = flops.to_string();
    let names = || flops.split(',').map(str::trim).filter(|name| !name.is_empty());
    let each = |statement: &str| names().map(|name| statement.replace("flop", name)).collect::<String>();
    let setup = each("self.flop.clock.next = self.clk.val();")
        + &each("self.flop.d.next = self.flop.q.val();")
        + &each("self.flop.rst.next = self.rst.val();");
    let setup: TokenStream = match setup.parse() {
        Ok(setup) => setup,
        Err(error) => return format!("compile_error!({:?});", error.to_string()).parse().unwrap_or_default(),
    };
    let mut tokens: Vec<TokenTree> = update.into_iter().collect();
    if let Some(TokenTree::Group(body)) = tokens.last_mut()
        && body.delimiter() == Delimiter::Brace
    {
        *body = Group::new(Delimiter::Brace, setup.into_iter().chain(body.stream()).collect());
    }
    let attribute: TokenStream = "#[hdl_gen]".parse().unwrap_or_default();
    attribute.into_iter().chain(tokens).collect()
}
