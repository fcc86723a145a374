//! Mutations: faults planted in the emitted Verilog, to show that the checks notice them.
