// A memory with one write port, one read port and an output register, of ECP5 block RAMs.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// For the define DELTALINE_REGISTERED_RAM_MACRO: a word comes two cycles behind its address. yosys cannot infer the
// block RAM's output register, and without it the block RAM's 5.8 ns from clock to output limit speed grade 6.
//
// Each block RAM holds PART bits of every word. What a read gives that meets a write of the same word is anything.
// Port A writes, port B reads; both are as yosys connects those that it infers, but for the output register.
module deltaline_registered_ram_macro #(
    parameter WIDTH = 36,
    parameter ADDRESS = 11
) (
    input wire clk,
    input wire [ADDRESS-1:0] read_address,
    output wire [WIDTH-1:0] read_data,
    input wire write_enable,
    input wire [ADDRESS-1:0] write_address,
    input wire [WIDTH-1:0] write_data
);
    // Bits of a word in a block RAM of 2^ADDRESS words, and how far its address is shifted for it.
    localparam PART = ADDRESS <= 10 ? 18 : ADDRESS == 11 ? 9 : ADDRESS == 12 ? 4 : ADDRESS == 13 ? 2 : 1;
    localparam SHIFT = ADDRESS <= 10 ? 4 : ADDRESS == 11 ? 3 : ADDRESS == 12 ? 2 : ADDRESS == 13 ? 1 : 0;
    localparam PARTS = (WIDTH + PART - 1) / PART;
    wire [13:0] read;
    wire [13:0] written;
    genvar i, j;
    generate
        if (ADDRESS > 14) begin : check
            too_many_words_for_one_block_ram error();
        end
        for (i = 0; i < 14; i = i + 1) begin : line
            if (i >= SHIFT && i < SHIFT + ADDRESS) begin : address
                assign read[i] = read_address[i - SHIFT];
                assign written[i] = write_address[i - SHIFT];
            end else begin : fixed
                assign read[i] = 1'b0;
                // With 18 bits the lowest address bits enable the bytes.
                assign written[i] = PART == 18 && i < 2;
            end
        end
        for (i = 0; i < PARTS; i = i + 1) begin : part
            wire [17:0] data;
            wire [17:0] word;
            for (j = 0; j < 18; j = j + 1) begin : place
                if (j < PART && i * PART + j < WIDTH) begin : kept
                    assign data[j] = write_data[i * PART + j];
                    assign read_data[i * PART + j] = word[j];
                end else begin : empty
                    wire unused = word[j];
                    assign data[j] = 1'b0;
                end
            end
            DP16KD #(
                .DATA_WIDTH_A(PART), .DATA_WIDTH_B(PART), .REGMODE_A("NOREG"), .REGMODE_B("OUTREG"), .RESETMODE("SYNC"),
                .ASYNC_RESET_RELEASE("SYNC"), .CSDECODE_A("0b000"), .CSDECODE_B("0b000"), .CLKAMUX("CLKA"),
                .CLKBMUX("CLKB"), .WRITEMODE_A("NORMAL"), .WRITEMODE_B("NORMAL"), .GSR("AUTO")
            ) block (
                .CLKA(clk), .WEA(write_enable), .CEA(1'b1), .OCEA(1'b1), .RSTA(1'b0), .CSA0(1'b0), .CSA1(1'b0), .CSA2(1'b0),
                .CLKB(clk), .WEB(1'b0), .CEB(1'b1), .OCEB(1'b1), .RSTB(1'b0), .CSB0(1'b0), .CSB1(1'b0), .CSB2(1'b0),
                .DIA0(data[0]), .DIA1(data[1]), .DIA2(data[2]), .DIA3(data[3]), .DIA4(data[4]), .DIA5(data[5]),
                .DIA6(data[6]), .DIA7(data[7]), .DIA8(data[8]), .DIA9(data[9]), .DIA10(data[10]), .DIA11(data[11]),
                .DIA12(data[12]), .DIA13(data[13]), .DIA14(data[14]), .DIA15(data[15]), .DIA16(data[16]),
                .DIA17(data[17]), .ADA0(written[0]), .ADA1(written[1]), .ADA2(written[2]), .ADA3(written[3]),
                .ADA4(written[4]), .ADA5(written[5]), .ADA6(written[6]), .ADA7(written[7]), .ADA8(written[8]),
                .ADA9(written[9]), .ADA10(written[10]), .ADA11(written[11]), .ADA12(written[12]),
                .ADA13(written[13]), .ADB0(read[0]), .ADB1(read[1]), .ADB2(read[2]), .ADB3(read[3]), .ADB4(read[4]),
                .ADB5(read[5]), .ADB6(read[6]), .ADB7(read[7]), .ADB8(read[8]), .ADB9(read[9]), .ADB10(read[10]),
                .ADB11(read[11]), .ADB12(read[12]), .ADB13(read[13]), .DOB0(word[0]), .DOB1(word[1]), .DOB2(word[2]),
                .DOB3(word[3]), .DOB4(word[4]), .DOB5(word[5]), .DOB6(word[6]), .DOB7(word[7]), .DOB8(word[8]),
                .DOB9(word[9]), .DOB10(word[10]), .DOB11(word[11]), .DOB12(word[12]), .DOB13(word[13]),
                .DOB14(word[14]), .DOB15(word[15]), .DOB16(word[16]), .DOB17(word[17])
            );
        end
    endgenerate
endmodule
