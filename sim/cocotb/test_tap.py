"""A whole tap: cocotbext-axi's stream source and sink and its AXI4-Lite master, compared with the model."""

import random

import cocotb
from bench import (
    CONTROL,
    CONTROL_FRAMES,
    DELIMITER_GAPS,
    DELIMITERS,
    DRAIN_BUSY,
    END_REFUSED,
    INTERVAL,
    INTERVAL_END,
    POINT_ID,
    PTP_LOCKED,
    REFUSED_ENDS,
    RUNNING,
    SNAPSHOT,
    STATUS,
    TIMESTAMP,
    Registers,
    reset,
    stream,
    vectors,
)
from cocotb.triggers import ClockCycles, RisingEdge
from cocotbext.axi import AxiStreamFrame, AxiStreamSink, AxiStreamSource

RECEIVER = 1


async def ready(dut):
    """The consumer of the observed stream: the tap itself drives nothing back."""
    while True:
        dut.s_axis_tready.value = random.random() < 0.7
        await RisingEdge(dut.clk)


async def start(dut):
    await reset(dut, ["interval_end", "ptp_ts", "ptp_locked", "s_axis_tvalid", "s_axis_tready", "m_axis_tready"])
    dut.ptp_locked.value = 1
    cocotb.start_soon(ready(dut))
    return Registers(dut)


@cocotb.test(timeout_time=100, timeout_unit="us")
async def identity_and_illegal_writes(dut):
    registers = await start(dut)
    await registers.identify(vectors()["configuration"], has_clock=0)
    for address, value in [(0x00, 0), (STATUS, 1), (0x30, 0), (0x1C, 0), (CONTROL, 1 << 1), (CONTROL, 48 << 8)]:
        assert await registers.refused(address, value), (hex(address), value)
    assert await registers.read(CONTROL) == 0
    dut.ptp_ts.value = 0x0123_4567_89AB_CDEF
    await registers.write(SNAPSHOT, 1)
    dut.ptp_ts.value = 0
    assert await registers.read(TIMESTAMP, 2) == 0x0123_4567_89AB_CDEF


@cocotb.test(timeout_time=100, timeout_unit="us")
async def intervals(dut):
    intervals = vectors()["intervals"]
    registers = await start(dut)
    source = stream(AxiStreamSource, dut, "s_axis")
    # Single cycles: longer runs would hardly ever stall one of the few last beats, which the tap counts.
    sink = stream(AxiStreamSink, dut, "m_axis", longest=1)
    await registers.write(CONTROL, RECEIVER)
    assert await registers.read(CONTROL) == RECEIVER
    await registers.write(POINT_ID, vectors()["point_id"])
    await registers.running()
    control_frames = 0
    for number, interval in enumerate(intervals):
        frames = interval["frames"]
        # Half of them, then the rest; a delimiter alone, because all counts start from zero after it.
        packets = len(frames) - interval["delimited"]
        for part in [frames[: packets // 2], frames[packets // 2 : packets]]:
            for frame in part:
                # The timestamp counts at the first beat, the mark at the last; the other beats' values are ignored.
                user = frame["timestamp"] << 1 | frame["bad"]
                await source.send(AxiStreamFrame(bytes.fromhex(frame["bytes"]), tuser=user))
            await source.wait()
            # The last frame is counted some cycles after its last beat.
            await ClockCycles(dut.clk, 20)
            assert await registers.counts() == part[-1]["counts"]
            assert await registers.read(INTERVAL) == number
            assert await registers.read(REFUSED_ENDS) == (number >= 1)
        if interval["delimited"]:
            await source.send(AxiStreamFrame(bytes.fromhex(frames[-1]["bytes"]), tuser=0))
            await source.wait()
        else:
            await registers.write(INTERVAL_END, 1)
            if intervals[number + 1]["refuses"]:
                # The drain is under way.
                await registers.write(INTERVAL_END, 1)
                await ClockCycles(dut.clk, 20)
                status = await registers.read(STATUS)
                assert status == RUNNING | PTP_LOCKED | DRAIN_BUSY | END_REFUSED, status
        for expected in interval["control_frames"]:
            frame = await sink.recv()
            assert (bytes(frame.tdata).hex(), frame.tuser) == (expected, 0)
        control_frames += len(interval["control_frames"])
        # The drain takes some cycles after its last word.
        await ClockCycles(dut.clk, 50)
        await registers.write(SNAPSHOT, 1)
        assert await registers.read(CONTROL_FRAMES) == control_frames
        refused = number + 1 < len(intervals) and intervals[number + 1]["refuses"]
        assert await registers.read(STATUS) == RUNNING | PTP_LOCKED | refused * END_REFUSED
    assert await registers.read(DELIMITERS) == 1
    assert await registers.read(DELIMITER_GAPS) == 0
    assert sink.empty()
