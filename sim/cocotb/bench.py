"""What the benches have in common."""

import random

from cocotb.clock import Clock
from cocotb.triggers import RisingEdge


def pauses():
    """An endless sequence of cycles with and without a pause, in runs of some length."""
    while True:
        pause = random.random() < 0.5
        for _ in range(random.randrange(1, 6)):
            yield pause


def quiet(*parts):
    """Not a line for every transfer."""
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
