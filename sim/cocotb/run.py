"""Builds one module with Icarus Verilog and runs its bench: run.py NAME TOP FOLDER.

FOLDER holds NAME.v and the other files of the bench; results go there too.
"""

import sys
from pathlib import Path

from cocotb_tools.runner import get_results, get_runner

name, top, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
build = folder / f"{name}-build"
runner = get_runner("icarus")
runner.build(sources=[folder / f"{name}.v"], hdl_toplevel=top, build_dir=build, timescale=("1ns", "1ps"), always=True)
results = runner.test(
    hdl_toplevel=top,
    test_module=f"test_{name}",
    build_dir=build,
    test_dir=build,
    seed=1,
    extra_env={"PYTHONPATH": str(Path(__file__).parent), "DELTALINE_VECTORS": str(folder / f"{name}.json")},
)
tests, failures = get_results(results)
if failures or not tests:
    sys.exit(f"{name}: {failures} of {tests} tests failed")
