// ECP5's block RAM as hdl/ecp5 uses it: port A writes, port B reads through its output register, both of the same width.
// Written from Lattice's memory usage guide (FPGA-TN-02204). A read that meets a write of the same word gives what
// neither word is, which is as bad as unknown.
module DP16KD #(
    parameter DATA_WIDTH_A = 18, DATA_WIDTH_B = 18, REGMODE_A = "NOREG", REGMODE_B = "NOREG", RESETMODE = "SYNC",
    ASYNC_RESET_RELEASE = "SYNC", CSDECODE_A = "0b000", CSDECODE_B = "0b000", CLKAMUX = "CLKA", CLKBMUX = "CLKB",
    WRITEMODE_A = "NORMAL", WRITEMODE_B = "NORMAL", GSR = "AUTO"
) (
    input wire CLKA, WEA, CEA, OCEA, RSTA, CSA0, CSA1, CSA2,
    input wire CLKB, WEB, CEB, OCEB, RSTB, CSB0, CSB1, CSB2,
    input wire ADA0, ADA1, ADA2, ADA3, ADA4, ADA5, ADA6, ADA7, ADA8, ADA9, ADA10, ADA11, ADA12, ADA13,
    input wire ADB0, ADB1, ADB2, ADB3, ADB4, ADB5, ADB6, ADB7, ADB8, ADB9, ADB10, ADB11, ADB12, ADB13,
    input wire DIA0, DIA1, DIA2, DIA3, DIA4, DIA5, DIA6, DIA7, DIA8, DIA9, DIA10, DIA11, DIA12, DIA13, DIA14,
        DIA15, DIA16, DIA17,
    output wire DOB0, DOB1, DOB2, DOB3, DOB4, DOB5, DOB6, DOB7, DOB8, DOB9, DOB10, DOB11, DOB12, DOB13, DOB14,
        DOB15, DOB16, DOB17
);
    localparam SHIFT =
        DATA_WIDTH_A == 18 ? 4 : DATA_WIDTH_A == 9 ? 3 : DATA_WIDTH_A == 4 ? 2 : DATA_WIDTH_A == 2 ? 1 : 0;
    reg [17:0] words [0:16383];
    reg [17:0] read, registered;
    wire [13:0] a = {ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1,
        ADA0} >> SHIFT;
    wire [13:0] b = {ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1,
        ADB0} >> SHIFT;
    wire [17:0] d = {DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5,
        DIA4, DIA3, DIA2, DIA1, DIA0};
    wire writes = CEA && WEA && !CSA0 && !CSA1 && !CSA2;
    wire [17:0] old = words[a];
    wire [17:0] new_word = {
        DATA_WIDTH_A < 18 || ADA1 ? d[17:9] : old[17:9],
        DATA_WIDTH_A < 18 || ADA0 ? d[8:0] : old[8:0]
    };
    always @(posedge CLKA) if (writes) words[a] <= new_word;
    always @(posedge CLKB) begin
        if (CEB && !WEB && !CSB0 && !CSB1 && !CSB2) read <= writes && a == b ? ~(words[b] ^ d) : words[b];
        if (OCEB) registered <= read;
        if (RSTB) registered <= 0;
    end
    assign {DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4, DOB3,
        DOB2, DOB1, DOB0} = REGMODE_B == "OUTREG" ? registered : read;
endmodule
