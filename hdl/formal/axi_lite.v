// axi_lite: the register block keeps the rules of AXI4-Lite, and does what its answers say.
//
// Proven on the whole register block, without bound on time:
//   * after reset nothing is valid; there is exactly one answer for each accepted request, and it stays unchanged
//     until it is taken;
//   * requests are accepted in any order, but never while one waits; ready is high when none does;
//   * an answer is offered two cycles after the acceptance, or after the answer before it was taken;
//   * a write to `control` is answered OKAY when all bytes of a legal value are written, else SLVERR, and only the
//     former changes `control`; the strobes are high for exactly the first cycle of the OKAY to their write;
//   * prefix lengths, their interval and a schedule are accepted exactly when the hardware allows it;
//   * a write to an address without a register, or to a read-only register, is refused; so is a read of an address
//     without one;
//   * a read of `control` returns what it held, a read of `block_type` its constant.
//
// Assumed about the master: what it offers stays until it is accepted. A reset may come at any time; the master
// withdraws its requests then.
module axi_lite_proof(
    input wire clk,
    input wire rst,
    input wire [11:0] s_axil_awaddr,
    input wire [2:0] s_axil_awprot,
    input wire s_axil_awvalid,
    input wire [31:0] s_axil_wdata,
    input wire [3:0] s_axil_wstrb,
    input wire s_axil_wvalid,
    input wire s_axil_bready,
    input wire [11:0] s_axil_araddr,
    input wire [2:0] s_axil_arprot,
    input wire s_axil_arvalid,
    input wire s_axil_rready
);
    wire s_axil_awready, s_axil_wready, s_axil_bvalid, s_axil_arready, s_axil_rvalid;
    wire [1:0] s_axil_bresp, s_axil_rresp;
    wire [31:0] s_axil_rdata;
    wire control_role, snapshot, interval_end, clock_command_set, clock_command_step, clock_command_slew;
    wire [1:0] control_interval_source;
    wire [5:0] control_interval_log2;
    // The inputs from the hardware are unconstrained in every cycle.
    (* anyseq *) wire [408:0] reported;
    // Whether the hardware allows prefix lengths, their interval, a schedule; a boot epoch, a key's halves, its identifier and
    // interval, its schedule; a mixing's matrix, offset, identifier and interval, its schedule.
    (* anyseq *) wire [13:0] allowed;
    wire [63:0] prefixes_next;
    wire [31:0] prefixes_from;
    wire [31:0] point_id;
    wire [31:0] least_interval;
    wire prefixes_schedule, key_schedule;
    wire [31:0] boot_epoch, key_from;
    wire [63:0] key_low, key_high;
    wire [15:0] key_id;
    wire [62:0] mixing_matrix;
    wire [31:0] mixing_offset, mixing_id, mixing_from;
    wire mixing_schedule;
    registers dut(
        .clk(clk), .rst(rst), .s_axil_awaddr(s_axil_awaddr), .s_axil_awprot(s_axil_awprot),
        .s_axil_awvalid(s_axil_awvalid), .s_axil_awready(s_axil_awready), .s_axil_wdata(s_axil_wdata),
        .s_axil_wstrb(s_axil_wstrb), .s_axil_wvalid(s_axil_wvalid), .s_axil_wready(s_axil_wready),
        .s_axil_bresp(s_axil_bresp), .s_axil_bvalid(s_axil_bvalid), .s_axil_bready(s_axil_bready),
        .s_axil_araddr(s_axil_araddr), .s_axil_arprot(s_axil_arprot), .s_axil_arvalid(s_axil_arvalid),
        .s_axil_arready(s_axil_arready), .s_axil_rdata(s_axil_rdata), .s_axil_rresp(s_axil_rresp),
        .s_axil_rvalid(s_axil_rvalid), .s_axil_rready(s_axil_rready),
        .control_role(control_role), .control_interval_source(control_interval_source),
        .control_interval_log2(control_interval_log2), .snapshot(snapshot), .interval_end(interval_end),
        .clock_command_set(clock_command_set), .clock_command_step(clock_command_step),
        .clock_command_slew(clock_command_slew),
        .status_running(reported[0]), .status_ptp_locked(reported[1]), .status_drain_busy(reported[2]),
        .status_end_refused(reported[3]), .interval(reported[35:4]), .packets(reported[83:36]),
        .bytes(reported[131:84]), .unmeasured(reported[163:132]), .bad(reported[195:164]),
        .refused_ends(reported[211:196]), .control_frames(reported[243:212]), .unmatched(reported[275:244]),
        .delimiters(reported[307:276]), .delimiter_gaps(reported[339:308]), .timestamp(reported[403:340]),
        .clock_status_locked(reported[404]), .clock_status_slewing(reported[405]),
        .status_prefixes_pending(reported[406]), .status_key_pending(reported[407]), .status_mixing_pending(reported[408]),
        .mixing_matrix(mixing_matrix), .mixing_matrix_allowed(allowed[9]), .mixing_offset(mixing_offset),
        .mixing_offset_allowed(allowed[10]), .mixing_id(mixing_id), .mixing_id_allowed(allowed[11]), .mixing_from(mixing_from),
        .mixing_from_allowed(allowed[12]), .mixing_schedule(mixing_schedule), .mixing_schedule_allowed(allowed[13]),
        .boot_epoch(boot_epoch), .boot_epoch_allowed(allowed[3]), .key_low(key_low), .key_low_allowed(allowed[4]),
        .key_high(key_high), .key_high_allowed(allowed[5]), .key_id(key_id), .key_id_allowed(allowed[6]),
        .key_from(key_from), .key_from_allowed(allowed[7]), .key_schedule(key_schedule), .key_schedule_allowed(allowed[8]),
        .prefixes_next(prefixes_next), .prefixes_next_allowed(allowed[0]), .prefixes_from(prefixes_from),
        .prefixes_from_allowed(allowed[1]), .prefixes_schedule(prefixes_schedule), .point_id(point_id),
        .least_interval(least_interval),
        .prefixes_schedule_allowed(allowed[2])
    );

    // The master.
    reg started = 0;
    always @(posedge clk) started <= 1;
    always @* if (!started) assume (rst);
    reg rst_before = 1;
    reg aw_stays = 0, w_stays = 0, ar_stays = 0;
    reg [11:0] awaddr_before, araddr_before;
    reg [31:0] wdata_before;
    reg [3:0] wstrb_before;
    always @(posedge clk) begin
        rst_before <= rst;
        aw_stays <= !rst && s_axil_awvalid && !s_axil_awready;
        w_stays <= !rst && s_axil_wvalid && !s_axil_wready;
        ar_stays <= !rst && s_axil_arvalid && !s_axil_arready;
        awaddr_before <= s_axil_awaddr;
        araddr_before <= s_axil_araddr;
        wdata_before <= s_axil_wdata;
        wstrb_before <= s_axil_wstrb;
    end
    always @* begin
        if (rst) assume (!s_axil_awvalid && !s_axil_wvalid && !s_axil_arvalid);
        else begin
            if (aw_stays) assume (s_axil_awvalid && s_axil_awaddr == awaddr_before);
            if (w_stays) assume (s_axil_wvalid && s_axil_wdata == wdata_before && s_axil_wstrb == wstrb_before);
            if (ar_stays) assume (s_axil_arvalid && s_axil_araddr == araddr_before);
        end
    end

    // Requests accepted but not answered, and answers seen but not taken.
    reg aw = 0, w = 0, ar = 0, b_seen = 0, r_seen = 0;
    reg [11:0] awaddr, araddr;
    reg [31:0] wdata;
    reg [3:0] wstrb;
    reg [1:0] bresp, rresp;
    reg [31:0] rdata;
    wire b_new = s_axil_bvalid && !b_seen;
    wire r_new = s_axil_rvalid && !r_seen;
    always @(posedge clk) begin
        if (b_new) begin aw <= 0; w <= 0; end
        if (r_new) ar <= 0;
        if (s_axil_awvalid && s_axil_awready) begin aw <= 1; awaddr <= s_axil_awaddr; end
        if (s_axil_wvalid && s_axil_wready) begin w <= 1; wdata <= s_axil_wdata; wstrb <= s_axil_wstrb; end
        if (s_axil_arvalid && s_axil_arready) begin ar <= 1; araddr <= s_axil_araddr; end
        b_seen <= s_axil_bvalid && !s_axil_bready;
        r_seen <= s_axil_rvalid && !s_axil_rready;
        bresp <= s_axil_bresp;
        rresp <= s_axil_rresp;
        rdata <= s_axil_rdata;
        if (rst) begin aw <= 0; w <= 0; ar <= 0; b_seen <= 0; r_seen <= 0; end
    end

    // The rules.
    reg write_due = 0, read_due = 0;
    always @(posedge clk) begin
        write_due <= !rst && aw && w && !s_axil_bvalid;
        read_due <= !rst && ar && !s_axil_rvalid;
    end
    always @* if (started) begin
        if (rst_before) begin
            assert (!s_axil_bvalid && !s_axil_rvalid && !s_axil_awready && !s_axil_wready && !s_axil_arready);
        end
        if (b_seen) assert (s_axil_bvalid && s_axil_bresp == bresp);
        if (r_seen) assert (s_axil_rvalid && s_axil_rresp == rresp && s_axil_rdata == rdata);
        if (b_new) assert (aw && w && write_due);
        if (r_new) assert (ar && read_due);
        if (write_due) assert (s_axil_bvalid);
        if (read_due) assert (s_axil_rvalid);
        if (!rst_before) begin
            assert (s_axil_awready == (!aw || b_new));
            assert (s_axil_wready == (!w || b_new));
            assert (s_axil_arready == (!ar || r_new));
        end
    end

    // What is written.
    wire control_legal = awaddr == 12'h20 && wstrb == 4'hf && (wdata & 32'hffffc0ee) == 0 && wdata[13:8] < 48;
    wire okay = b_new && s_axil_bresp == 0;
    wire one = wdata == 1;
    reg [8:0] control_before = 0;
    wire [8:0] control = {control_interval_log2, control_interval_source, control_role};
    reg [13:0] allowed_before;
    reg [63:0] next_before = 0;
    reg [31:0] from_before = 0;
    reg [31:0] id_before = 0;
    reg [31:0] least_before = 0;
    reg [207:0] key_before = 0;
    wire [207:0] key = {boot_epoch, key_from, key_id, key_high, key_low};
    reg [158:0] mixing_before = 0;
    wire [158:0] mixing = {mixing_from, mixing_id, mixing_offset, mixing_matrix};
    always @(posedge clk) begin
        mixing_before <= mixing;
        control_before <= control;
        allowed_before <= allowed;
        next_before <= prefixes_next;
        from_before <= prefixes_from;
        id_before <= point_id;
        least_before <= least_interval;
        key_before <= key;
    end
    always @* if (started) begin
        assert (!s_axil_bresp[0] && !s_axil_rresp[0]);
        if (b_new && awaddr == 12'h20) assert (okay == control_legal);
        if (b_new && (awaddr < 12'h20 || awaddr > 12'he4 || awaddr == 12'h8c || awaddr == 12'hc8 || awaddr == 12'hcc || awaddr[1:0] != 0 || wstrb != 4'hf)) assert (!okay);
        if (b_new && (awaddr == 12'h24 || (awaddr >= 12'h2c && awaddr < 12'h5c) || awaddr == 12'h68)) assert (!okay);
        if (rst_before) assert (control == 0);
        else if (b_new && control_legal) assert (control == {wdata[13:8], wdata[5:4], wdata[0]});
        else assert (control == control_before);
        assert (snapshot == (okay && awaddr == 12'h28 && one));
        assert (interval_end == (okay && awaddr == 12'h5c && one));
        if (b_new && (awaddr == 12'h90 || awaddr == 12'h94)) assert (okay == (wstrb == 4'hf && allowed_before[0]));
        if (b_new && awaddr == 12'h98) assert (okay == (wstrb == 4'hf && allowed_before[1]));
        if (b_new && awaddr == 12'h9c) assert (okay == (wstrb == 4'hf && wdata[31:1] == 0 && allowed_before[2]));
        assert (prefixes_next[31:0] == (rst_before ? 0 : okay && awaddr == 12'h90 ? wdata : next_before[31:0]));
        assert (prefixes_next[63:32] == (rst_before ? 0 : okay && awaddr == 12'h94 ? wdata : next_before[63:32]));
        assert (prefixes_from == (rst_before ? 0 : okay && awaddr == 12'h98 ? wdata : from_before));
        assert (point_id == (rst_before ? 0 : okay && awaddr == 12'ha0 ? wdata : id_before));
        if (b_new && awaddr == 12'ha0) assert (okay == (wstrb == 4'hf));
        assert (least_interval == (rst_before ? 0 : okay && awaddr == 12'hc4 ? wdata : least_before));
        if (b_new && awaddr == 12'hc4) assert (okay == (wstrb == 4'hf));
        if (b_new && awaddr == 12'ha4) assert (okay == (wstrb == 4'hf && allowed_before[3]));
        if (b_new && (awaddr == 12'ha8 || awaddr == 12'hac)) assert (okay == (wstrb == 4'hf && allowed_before[4]));
        if (b_new && (awaddr == 12'hb0 || awaddr == 12'hb4)) assert (okay == (wstrb == 4'hf && allowed_before[5]));
        if (b_new && awaddr == 12'hb8) assert (okay == (wstrb == 4'hf && wdata[31:16] == 0 && allowed_before[6]));
        if (b_new && awaddr == 12'hbc) assert (okay == (wstrb == 4'hf && allowed_before[7]));
        if (b_new && awaddr == 12'hc0) assert (okay == (wstrb == 4'hf && wdata[31:1] == 0 && allowed_before[8]));
        assert (key_schedule == (okay && awaddr == 12'hc0 && one));
        if (rst_before) assert (key == 0);
        else if (!(okay && awaddr >= 12'ha4 && awaddr < 12'hc0)) assert (key == key_before);
        if (b_new && awaddr == 12'hd0) assert (okay == (wstrb == 4'hf && allowed_before[9]));
        if (b_new && awaddr == 12'hd4) assert (okay == (wstrb == 4'hf && !wdata[31] && allowed_before[9]));
        if (b_new && awaddr == 12'hd8) assert (okay == (wstrb == 4'hf && allowed_before[10]));
        if (b_new && awaddr == 12'hdc) assert (okay == (wstrb == 4'hf && allowed_before[11]));
        if (b_new && awaddr == 12'he0) assert (okay == (wstrb == 4'hf && allowed_before[12]));
        if (b_new && awaddr == 12'he4) assert (okay == (wstrb == 4'hf && wdata[31:1] == 0 && allowed_before[13]));
        assert (mixing_schedule == (okay && awaddr == 12'he4 && one));
        assert (mixing_matrix[31:0] == (rst_before ? 0 : okay && awaddr == 12'hd0 ? wdata : mixing_before[31:0]));
        assert (mixing_matrix[62:32] == (rst_before ? 0 : okay && awaddr == 12'hd4 ? wdata[30:0] : mixing_before[62:32]));
        assert (mixing_offset == (rst_before ? 0 : okay && awaddr == 12'hd8 ? wdata : mixing_before[94:63]));
        assert (mixing_id == (rst_before ? 0 : okay && awaddr == 12'hdc ? wdata : mixing_before[126:95]));
        assert (mixing_from == (rst_before ? 0 : okay && awaddr == 12'he0 ? wdata : mixing_before[158:127]));
        assert (prefixes_schedule == (okay && awaddr == 12'h9c && one));
        assert (clock_command_set == (okay && awaddr == 12'h88 && wdata[0]));
        assert (clock_command_step == (okay && awaddr == 12'h88 && wdata[1]));
        assert (clock_command_slew == (okay && awaddr == 12'h88 && wdata[2]));
    end

    // What is read.
    wire [31:0] control_word = {18'h0, control_before[8:3], 2'h0, control_before[2:1], 3'h0, control_before[0]};
    always @* if (started && r_new) begin
        if (araddr[1:0] != 0 || araddr > 12'he4 || araddr == 12'h1c || araddr == 12'h8c || araddr == 12'hc8 || araddr == 12'hcc) assert (s_axil_rresp == 2 && s_axil_rdata == 0);
        else assert (s_axil_rresp == 0);
        // Neither a key nor a mixing can be read.
        if (araddr >= 12'hd0 && araddr < 12'hdc) assert (s_axil_rdata == 0);
        if (araddr >= 12'ha8 && araddr < 12'hb8) assert (s_axil_rdata == 0);
        if (araddr == 0) assert (s_axil_rdata == 32'h44454c54);
        if (araddr == 12'h20) assert (s_axil_rdata == control_word);
    end

    // Induction needs to know that the requests waiting inside are the accepted ones.
`ifdef INVARIANTS
    (* hierconn *) wire [11:0] \dut.axi.aw_address_q , \dut.axi.ar_address_q ;
    (* hierconn *) wire [31:0] \dut.axi.w_data_q ;
    (* hierconn *) wire \dut.axi.w_whole_q ;
    always @* if (started) begin
        if (aw && !b_new) assert (\dut.axi.aw_address_q == awaddr);
        if (ar && !r_new) assert (\dut.axi.ar_address_q == araddr);
        if (w && !b_new) assert (\dut.axi.w_data_q == wdata && \dut.axi.w_whole_q == (wstrb == 4'hf));
    end
`endif

    // Every interesting case can be reached.
    reg two = 0;
    always @(posedge clk) two <= !rst && (two || (okay && awaddr == 12'h20 && control == 9'h0b3));
    always @* if (started && !rst) begin
        cover (two && r_new && araddr == 12'h20 && s_axil_rdata == 32'h1611);
        cover (b_new && r_new);
        cover (b_seen && aw && w);
        cover (w && !aw && b_seen);
        cover (b_new && s_axil_bresp == 2);
        cover (snapshot);
        cover (prefixes_schedule && prefixes_next == 64'h0001ffffffffffff && prefixes_from == 7);
    end
endmodule
