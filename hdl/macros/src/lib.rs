//! Attributes that write into `update` what every module would repeat.
//!
//! RustHDL's `#[hdl_gen]` turns the text of `update` into Verilog and expands no macro in it but its own `dff_setup!`,
//! which knows no reset. These stand in front of it instead: [`macro@clocked`] writes what every flip-flop needs into
//! the function, [`macro@passes`] what goes through unchanged to a part and back.
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
    let setup = each(&flops, "self.NAME.clock.next = self.clk.val();")
        + &each(&flops, "self.NAME.d.next = self.NAME.q.val();")
        + &each(&flops, "self.NAME.rst.next = self.rst.val();");
    let attribute: TokenStream = "#[hdl_gen]".parse().unwrap_or_default();
    attribute.into_iter().chain(in_front(&setup, update)).collect()
}

/// `#[passes(part, in(a, b), out(c))]` in front of `#[hdl_gen]` or [`macro@clocked`]: the ports a and b of the module go
/// to those of the same names of its part, and those of the part's port c come out of the module's.
#[proc_macro_attribute]
pub fn passes(ports: TokenStream, update: TokenStream) -> TokenStream {
    let mut part = String::new();
    let mut direction = String::new();
    let mut statements = String::new();
    for token in ports {
        match token {
            TokenTree::Ident(name) if part.is_empty() => part = name.to_string(),
            TokenTree::Ident(name) => direction = name.to_string(),
            TokenTree::Group(list) => {
                let statement = match direction.as_str() {
                    "in" => "self.PART.NAME.next = self.NAME.val();",
                    "out" => "self.NAME.next = self.PART.NAME.val();",
                    _ => "compile_error!(\"in(..) or out(..)\");",
                };
                statements += &each(&list.stream().to_string(), &statement.replace("PART", &part));
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
    in_front(&statements, update)
}

/// A statement for each name of a list.
fn each(names: &str, statement: &str) -> String {
    let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
    names.map(|name| statement.replace("NAME", name)).collect()
}

/// A function with statements in front of its body.
fn in_front(statements: &str, function: TokenStream) -> TokenStream {
    let statements: TokenStream = match statements.parse() {
        Ok(statements) => statements,
        Err(error) => return format!("compile_error!({:?});", error.to_string()).parse().unwrap_or_default(),
    };
    let mut tokens: Vec<TokenTree> = function.into_iter().collect();
    if let Some(TokenTree::Group(body)) = tokens.last_mut()
        && body.delimiter() == Delimiter::Brace
    {
        *body = Group::new(Delimiter::Brace, statements.into_iter().chain(body.stream()).collect());
    }
    tokens.into_iter().collect()
}
