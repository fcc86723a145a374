// The contract of a memory, be it the leaf `Ram` or a macro in its place: what the datapath may rely on.
//
// One word is modelled, chosen arbitrarily and then kept. A read of it returns what was written last, one cycle
// later. Everything else is unconstrained: every other word, the content before the first write, and a read in the
// cycle of a write to the same word. So a proof on this contract holds for any number of words, for any memory
// macro, and for synthesis with collisions declared as "don't care". `ram.v` proves that the leaf keeps it.
//
// It takes the place of a memory macro. A file that includes this one defines MEMORY as the macro's module name.
`define DELTALINE_RAM_MACRO
module `MEMORY #(parameter WIDTH = 36, ADDRESS = 1) (
    input wire clk,
    input wire [ADDRESS-1:0] read_address,
    output reg [WIDTH-1:0] read_data,
    input wire write_enable,
    input wire [ADDRESS-1:0] write_address,
    input wire [WIDTH-1:0] write_data
);
    (* anyconst *) wire [ADDRESS-1:0] chosen;
    (* anyseq *) wire [WIDTH-1:0] anything;
    reg [WIDTH-1:0] held;
    wire is_write = write_enable && write_address == chosen;
    always @(posedge clk) begin
        if (is_write) held <= write_data;
        if (read_address == chosen && !is_write) read_data <= held;
        else read_data <= anything;
    end
endmodule
