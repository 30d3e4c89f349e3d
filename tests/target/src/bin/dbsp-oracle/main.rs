//! What DBSP's own profile functions give, written into a folder, for the tests to compare with.
//!
//! `scenarios` takes the circuits of the test pipeline after a few steps; `generated` takes circuits
//! of random shape whose operators report random readings, the same ones for the same seed.

mod generate;
mod give;
mod values;

#[allow(dead_code)]
#[path = "../../options.rs"]
mod options;
#[path = "../../scenarios.rs"]
mod scenarios;

use dbsp::DBSPHandle;
use options::Options;
use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

const USAGE: &str = "usage: dbsp-oracle scenarios FOLDER
       dbsp-oracle generated FOLDER COUNT SEED";

/// Each with its arguments; those that get stuck stop one step before.
const SCENARIOS: [&str; 9] = [
    "spine --steps 20",
    "sharded --steps 20",
    "sleeper --steps 10",
    "join --steps 20",
    "nested --steps 10 --records 30",
    "stuck --steps 2",
    "spin --steps 2",
    "wide --steps 2 --operators 1000 --records 10",
    "idle --steps 0",
];

fn say(fault: impl std::fmt::Display) -> String {
    fault.to_string()
}

fn scenario(folder: &Path, line: &str, cpu: bool) -> Result<(), String> {
    let options = Options::parse(line.split(' ').map(str::to_string))?;
    let scenarios::Pipeline {
        mut circuit,
        mut feed,
        storage: _storage,
    } = scenarios::build(&options).map_err(say)?;
    if cpu {
        circuit.enable_cpu_profiler().map_err(say)?;
    }
    for step in 0..options.steps {
        feed(step);
        circuit.transaction().map_err(say)?;
    }
    finish(circuit, folder)
}

fn scenarios(folder: &Path) -> Result<(), String> {
    for line in SCENARIOS {
        let name = line.split(' ').next().unwrap_or(line);
        scenario(&folder.join(name), line, false)?;
        scenario(&folder.join(format!("{name}-cpu")), line, true)?;
    }
    Ok(())
}

fn generated(folder: &Path, count: u64, seed: u64) -> Result<(), String> {
    for number in 0..count {
        let circuit = generate::circuit(seed, number).map_err(say)?;
        finish(circuit, &folder.join(format!("generated-{number:04}")))?;
    }
    Ok(())
}

fn finish(mut circuit: DBSPHandle, folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(say)?;
    give::all(&mut circuit, folder)?;
    circuit
        .kill()
        .map_err(|_| "a worker thread panicked".to_string())
}

fn run(arguments: &[String]) -> Result<(), String> {
    let number = |text: &String| text.parse().map_err(|_| USAGE.to_string());
    match arguments {
        [what, folder] if what == "scenarios" => scenarios(&PathBuf::from(folder)),
        [what, folder, count, seed] if what == "generated" => {
            generated(&PathBuf::from(folder), number(count)?, number(seed)?)
        }
        _ => Err(USAGE.to_string()),
    }
}

fn main() -> ExitCode {
    let arguments = std::env::args().skip(1).collect::<Vec<_>>();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("dbsp-oracle: {message}");
            ExitCode::FAILURE
        }
    }
}
