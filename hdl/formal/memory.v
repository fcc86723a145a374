// What the datapath may rely on in a memory, be it the leaf `Ram` or a macro in its place.
//
// One word, chosen arbitrarily and then kept, is modelled: a read of it gives what was written last, one cycle later.
// All else is anything: every other word, the content before the first write, and a read in the cycle of a write
// of the same word. So a proof on this contract holds for any number of words, for any memory macro, and for
// synthesis that was told not to care about collisions. `ram.v` proves that the leaf keeps it.
module contract #(parameter A = 1) (
    input wire clk,
    input wire [A-1:0] read_address,
    output reg [35:0] read_data,
    input wire write_enable,
    input wire [A-1:0] write_address,
    input wire [35:0] write_data
);
    (* anyconst *) wire [A-1:0] chosen;
    (* anyseq *) wire [35:0] anything;
    reg [35:0] held;
    wire is_write = write_enable && write_address == chosen;
    always @(posedge clk) begin
        if (is_write) held <= write_data;
        if (read_address == chosen && !is_write) read_data <= held;
        else read_data <= anything;
    end
endmodule
