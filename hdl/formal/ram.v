// ram: the leaf `Ram` keeps the contract of memory.v.
//
// Proven, without bound on time, for an arbitrary word: a read returns what was written last, one cycle later,
// unless the word is written in the same cycle. All memories are emitted from the same leaf; this one belongs to
// the lda.
//
// Assumed: nothing.
//
// Parameters: A, the width of an address. The module gets a window into its memory: `held`, the word at `chosen`.
module ram_proof(
    input wire clk,
    input wire [`A-1:0] read_address,
    input wire write_enable,
    input wire [`A-1:0] write_address,
    input wire [35:0] write_data
);
    (* hierconn *) wire [`A-1:0] \dut.chosen ;
    wire [`A-1:0] chosen = \dut.chosen ;
    wire [35:0] read_data;
    lda_lower_ram_0 dut(
        .clk(clk), .read_address(read_address), .read_data(read_data), .write_enable(write_enable),
        .write_address(write_address), .write_data(write_data)
    );

    reg known = 0, due = 0;
    reg [35:0] value, expected;
    wire is_write = write_enable && write_address == chosen;
    always @(posedge clk) begin
        if (is_write) {known, value} <= {1'b1, write_data};
        due <= known && read_address == chosen && !is_write;
        expected <= value;
    end
    always @* if (due) assert (read_data == expected);
    always @* cover (due && &read_data);

`ifdef INVARIANTS
    (* hierconn *) wire [35:0] \dut.held ;
    always @* if (known) assert (\dut.held == value);
`endif
endmodule
