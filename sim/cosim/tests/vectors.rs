//! The golden keys and hashes through the hardware: `host/model/vectors`, which the model is tested against too.
#![allow(clippy::unwrap_used)]

use deltaline_cosim::bench::Bench;
use deltaline_cosim::stream::beats;
use deltaline_hdl::emit::kind::Module;
use deltaline_hdl::emit::module::emit;
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::packet::hash::HashKind;
use deltaline_model::packet::identity::KEY_WORDS;
use deltaline_model::time::Timestamp;
use verilator_sys::{Port, Toolchain};

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap()).collect()
}

fn lines(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().filter(|line| !line.starts_with('#')).map(|line| line.split(' ').collect())
}

fn words(bench: &Bench) -> Vec<Port> {
    (0..17).map(|i| bench.port(&format!("word_{i}")).unwrap()).collect()
}

#[test]
fn keys() {
    let configuration = Configuration::new(Settings::default()).unwrap();
    let verilog = emit(&configuration, Module::Identity, "identity").unwrap();
    let mut bench = Bench::new(&Toolchain::find().unwrap(), "identity", &verilog).unwrap();
    let [data, keep, valid, ready, last, user] = ["tdata", "tkeep", "tvalid", "tready", "tlast", "tuser"]
        .map(|port| bench.port(&format!("s_axis_{port}")).unwrap());
    let [commit, measured, length] =
        ["commit", "measured", "ip_length"].map(|port| bench.port(port).unwrap());
    let key_port = bench.port("key").unwrap();
    bench.set(ready, 1);
    let running = bench.port("running").unwrap();
    bench.set(running, 1);
    let files = [
        include_str!("../../../host/model/vectors/keys.txt"),
        include_str!("../../../host/model/vectors/keys_by_hand.txt"),
    ];
    let mut vectors = 0;
    for columns in files.into_iter().flat_map(lines) {
        for beat in beats(8, &bytes(columns[0]), Timestamp(0), false) {
            bench.set_beat(data, &beat.data);
            bench.set(keep, beat.keep);
            bench.set(last, beat.last.into());
            bench.set_wide(user, 0);
            bench.set(valid, 1);
            bench.tick().unwrap();
        }
        bench.set(valid, 0);
        let mut waited = 0;
        while bench.get(commit) == 0 {
            bench.tick().unwrap();
            waited += 1;
            assert!(waited < 10, "{columns:?}");
        }
        assert_eq!(bench.get(measured) == 1, columns.len() > 2, "{columns:?}");
        if columns.len() > 2 {
            let mut words = [0; KEY_WORDS];
            bench.get_words(key_port, &mut words);
            let key: String = words.iter().map(|word| format!("{word:08x}")).collect();
            assert_eq!(key, columns[1]);
            assert_eq!(bench.get(length).to_string(), columns[2]);
        }
        vectors += 1;
    }
    assert!(vectors > 50);
}

#[test]
fn hashes() {
    let text = include_str!("../../../host/model/vectors/hashes.txt");
    let mut vectors = 0;
    let mut built: Option<(String, Bench)> = None;
    for columns in lines(text) {
        let name = format!("{} {}", columns[0], columns[1]);
        if built.as_ref().is_none_or(|(last, _)| *last != name) {
            let hash = if columns[0] == "h3" { HashKind::H3 } else { HashKind::Rabin };
            let seed = u64::from_str_radix(columns[1], 16).unwrap();
            let settings = Settings { hash, seed, ..Settings::default() };
            let verilog = emit(&Configuration::new(settings).unwrap(), Module::Hash, "hash").unwrap();
            built = Some((name, Bench::new(&Toolchain::find().unwrap(), "hash", &verilog).unwrap()));
        }
        let (_, bench) = built.as_mut().unwrap();
        for (word, bytes) in words(bench).into_iter().zip(bytes(columns[2]).chunks(4)) {
            bench.set(word, u32::from_be_bytes(bytes.try_into().unwrap()).into());
        }
        bench.tick().unwrap();
        bench.tick().unwrap();
        let hash = u64::from_str_radix(columns[3], 16).unwrap();
        let bits = bench.port("bits").unwrap();
        assert_eq!(bench.get(bits), hash >> 48 << 16 | hash & 0xffff, "{columns:?}");
        vectors += 1;
    }
    assert!(vectors >= 60);
}
