"""The core between cocotbext-axi's stream source and sink, against control frames that the model made."""

import json
import os
import random
from pathlib import Path

import cocotb
from bench import pauses, quiet, reset
from cocotb.triggers import RisingEdge
from cocotbext.axi import AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource


async def ready(dut):
    """The consumer of the observed stream: the core itself drives nothing back."""
    while True:
        dut.s_axis_tready.value = random.random() < 0.7
        await RisingEdge(dut.clk)


@cocotb.test()
async def control_frames(dut):
    vectors = json.loads(Path(os.environ["DELTALINE_VECTORS"]).read_text())
    await reset(dut, ["interval_end", "interval_log2", "ptp_ts", "s_axis_tready"])
    dut.ptp_locked.value = 1
    dut.receiver.value = vectors["receiver"]
    source = AxiStreamSource(AxiStreamBus.from_prefix(dut, "s_axis"), dut.clk, dut.rst)
    sink = AxiStreamSink(AxiStreamBus.from_prefix(dut, "m_axis"), dut.clk, dut.rst)
    quiet(source, sink)
    source.set_pause_generator(pauses())
    sink.set_pause_generator(pauses())
    cocotb.start_soon(ready(dut))
    while not int(dut.running.value):
        await RisingEdge(dut.clk)
    for interval in vectors["intervals"]:
        for frame in interval["frames"]:
            # The first beat's timestamp, the last beat's mark; what the other beats carry is not looked at.
            user = frame["timestamp"] << 1 | frame["bad"]
            await source.send(AxiStreamFrame(bytes.fromhex(frame["bytes"]), tuser=user))
        await source.wait()
        dut.interval_end.value = 1
        await RisingEdge(dut.clk)
        dut.interval_end.value = 0
        for expected in interval["control_frames"]:
            assert bytes((await sink.recv()).tdata).hex() == expected
        # The drain takes some cycles behind its last word.
        for _ in range(20):
            await RisingEdge(dut.clk)
    assert sink.empty()
