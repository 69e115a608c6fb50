//! Prints random modules: `random-modules <first seed> <count> ends|free [new|policy]`.
//!
//! Each is its seed and its length (four bytes each, little endian), and its bytes. `ends`: every module ends by itself, by a
//! counter that wasm-smith puts into it. `free`: it may run for ever. `new`: with what only Node.js 22 and later have.
//! `policy`: with a memory, without imports, all its state in memory and numbers, as most policies have it.
use arbitrary::Unstructured;
use std::io::Write;
use wasm_smith::{Config, Module};

/// What a module may run before it ends, in wasm-smith's units: functions and loops entered.
const STEPS: u32 = 1_000;
/// Random bytes that a module is made of: 256 to 8448.
const FEWEST_BYTES: usize = 256;
const MORE_BYTES: usize = 8192;

/// Splitmix64: the same numbers for the same seed, anywhere.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

fn config(new: bool, policy: bool) -> Config {
    Config {
        allow_start_export: true,
        bulk_memory_enabled: !policy,
        canonicalize_nans: true,
        exceptions_enabled: new,
        extended_const_enabled: new,
        export_everything: true,
        gc_enabled: new,
        max_data_segments: 8,
        max_element_segments: 8,
        max_elements: 32,
        max_exports: 100,
        max_funcs: 24,
        max_globals: 12,
        max_imports: if policy { 0 } else { 8 },
        max_instructions: 200,
        max_memories: 1,
        min_memories: if policy { 1 } else { 0 },
        max_memory32_bytes: 16 * 65536,
        max_table_elements: 200,
        max_tables: 3,
        memory64_enabled: false,
        memory_max_size_required: true,
        min_funcs: 1,
        multi_value_enabled: true,
        reference_types_enabled: !policy,
        relaxed_simd_enabled: false,
        saturating_float_to_int_enabled: true,
        sign_extension_ops_enabled: true,
        simd_enabled: !policy,
        table_max_size_required: true,
        tail_call_enabled: true,
        threads_enabled: false,
        custom_page_sizes_enabled: false,
        wide_arithmetic_enabled: false,
        shared_everything_threads_enabled: false,
        ..Config::default()
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse::<u64>().ok()).expect("a number");
    let (first, count) = (number(0), number(1));
    let ends = arguments.get(2).map(String::as_str) != Some("free");
    let new = arguments.get(3).map(String::as_str) == Some("new");
    let policy = arguments.get(3).map(String::as_str) == Some("policy");
    let stdout = std::io::stdout();
    let mut out = std::io::BufWriter::new(stdout.lock());
    for seed in first..first + count {
        let mut numbers = Numbers(seed);
        let length = FEWEST_BYTES + (numbers.next() as usize) % MORE_BYTES;
        let bytes: Vec<u8> = (0..length).map(|_| numbers.next() as u8).collect();
        let Ok(mut module) = Module::new(config(new, policy), &mut Unstructured::new(&bytes)) else { continue };
        if ends && module.ensure_termination(STEPS).is_err() {
            continue;
        }
        let encoded = module.to_bytes();
        let written = out
            .write_all(&(seed as u32).to_le_bytes())
            .and_then(|()| out.write_all(&(encoded.len() as u32).to_le_bytes()))
            .and_then(|()| out.write_all(&encoded));
        // Whoever reads has enough.
        if written.is_err() {
            return;
        }
    }
}
