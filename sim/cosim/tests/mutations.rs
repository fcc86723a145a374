//! Every planted fault is caught, and the design without faults passes the same checks.
#![allow(clippy::unwrap_used)]

use deltaline_cosim::mutations::{CLASS_MUTATIONS, MUTATIONS, Outcome, check, name, run, with_classes};
use deltaline_hdl::verilog::{Module, emit};
use deltaline_model::configuration::{Configuration, Settings};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use verilator_sys::Toolchain;

#[test]
fn all_are_caught() {
    let toolchain = Toolchain::find().unwrap();
    let configuration = Configuration::new(Settings { rows: 16, ..Settings::default() }).unwrap();
    for module in [
        Module::Identity,
        Module::Identity256,
        Module::Identity512,
        Module::Hash,
        Module::Sampler,
        Module::Lda,
        Module::Core,
        Module::Core256,
        Module::TwoLanes512,
    ] {
        let verilog = emit(&configuration, module, name(module)).unwrap();
        check(&toolchain, &configuration, module, &verilog).unwrap();
    }
    let classes = with_classes().unwrap();
    for module in [Module::Classifier, Module::Core, Module::Core256] {
        let verilog = emit(&classes, module, name(module)).unwrap();
        check(&toolchain, &classes, module, &verilog).unwrap();
    }
    let mutations: Vec<_> = MUTATIONS.iter().map(|mutation| (&configuration, mutation)).collect();
    let of_classes = CLASS_MUTATIONS.iter().map(|mutation| (&classes, mutation));
    let mutations: Vec<_> = mutations.into_iter().chain(of_classes).collect();
    // Nearly all the time goes into building mutants: one on each core.
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let blind = Mutex::new(vec![]);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((configuration, mutation)) =
                    mutations.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    match run(&toolchain, configuration, mutation).unwrap() {
                        Outcome::Caught(_) => {}
                        outcome => blind.lock().unwrap().push(format!("{}: {outcome:?}", mutation.fault)),
                    }
                }
            });
        }
    });
    let blind = blind.into_inner().unwrap();
    assert!(blind.is_empty(), "{blind:#?}");
}
