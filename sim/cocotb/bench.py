"""Shared by the benches."""

import json
import os
import random
from pathlib import Path

from cocotb.clock import Clock
from cocotb.triggers import RisingEdge
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp, AxiStreamBus


def pauses(longest=5):
    """An endless sequence of cycles with and without a pause, in runs of 1 to `longest` cycles."""
    while True:
        pause = random.random() < 0.5
        for _ in range(random.randint(1, longest)):
            yield pause


def quiet(*parts):
    """Silences the log line of every transfer."""
    for part in parts:
        part.log.setLevel("WARNING")


async def reset(dut, inputs):
    """Starts the clock and resets the module with these inputs at zero."""
    for name in inputs:
        getattr(dut, name).value = 0
    dut.rst.value = 1
    Clock(dut.clk, 8, unit="ns").start()
    for _ in range(3):
        await RisingEdge(dut.clk)
    dut.rst.value = 0
    await RisingEdge(dut.clk)


def vectors():
    """The vectors that `cargo xtask cocotb` made for this bench."""
    return json.loads(Path(os.environ["DELTALINE_VECTORS"]).read_text())


def stream(part, dut, prefix, longest=5):
    """An AXI4-Stream source or sink of cocotbext-axi, with pauses."""
    part = part(AxiStreamBus.from_prefix(dut, prefix), dut.clk, dut.rst)
    quiet(part)
    part.set_pause_generator(pauses(longest))
    return part


# Registers: docs/registers.md.
BLOCK_TYPE, VERSION, NEXT_BLOCK, CAPABILITY, CONFIGURATION, BUILD = 0x00, 0x04, 0x08, 0x0C, 0x10, 0x18
CONTROL, STATUS, SNAPSHOT, INTERVAL, INTERVAL_END, TIMESTAMP = 0x20, 0x24, 0x28, 0x2C, 0x5C, 0x60
REFUSED_ENDS, CONTROL_FRAMES, DELIMITERS, DELIMITER_GAPS, POINT_ID = 0x48, 0x4C, 0x54, 0x58, 0xA0
# Offset, words.
COUNTS = {"packets": (0x30, 2), "bytes": (0x38, 2), "unmeasured": (0x40, 1), "bad": (0x44, 1), "unmatched": (0x50, 1)}
RUNNING, PTP_LOCKED, DRAIN_BUSY, END_REFUSED = 1, 2, 4, 8


class Registers:
    """The registers of a design by cocotbext-axi's AXI4-Lite master, with pauses on every channel."""

    def __init__(self, dut):
        self.master = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil"), dut.clk, dut.rst)
        write, read = self.master.write_if, self.master.read_if
        quiet(write, read)
        for channel in [write.aw_channel, write.w_channel, write.b_channel, read.ar_channel, read.r_channel]:
            channel.set_pause_generator(pauses())

    async def read(self, address, words=1):
        answer = await self.master.read(address, 4 * words)
        assert answer.resp == AxiResp.OKAY, hex(address)
        return int.from_bytes(answer.data, "little")

    async def write(self, address, value, words=1):
        answer = await self.master.write(address, value.to_bytes(4 * words, "little"))
        assert answer.resp == AxiResp.OKAY, hex(address)

    async def refused(self, address, value):
        """Whether a write is answered with SLVERR."""
        answer = await self.master.write(address, value.to_bytes(4, "little"))
        return answer.resp == AxiResp.SLVERR

    async def running(self):
        """Waits until the memories are clear."""
        while not await self.read(STATUS) & RUNNING:
            pass

    async def identify(self, configuration, has_clock):
        """Checks what a host reads first from a design of 64 bits with two banks of 16 rows, hashed by H3."""
        assert await self.read(BLOCK_TYPE) == int.from_bytes(b"DELT", "big")
        assert await self.read(VERSION) == 0x0001_0005
        assert await self.read(NEXT_BLOCK) == 0
        capability = 1 << 29 | has_clock << 28 | 0 << 24 | 1 << 21 | 4 << 16 | 2 << 12 | 1 << 8 | 8
        assert await self.read(CAPABILITY) == capability
        assert await self.read(CONFIGURATION, 2) == configuration
        assert await self.read(BUILD) == 0x1234_5678

    async def counts(self):
        """Takes a snapshot and returns the running interval's counts in it."""
        await self.write(SNAPSHOT, 1)
        return {name: await self.read(address, words) for name, (address, words) in COUNTS.items()}
