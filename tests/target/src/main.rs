//! Real DBSP pipelines of known shape for the tests and benchmarks of dbprof-bpf.
//!
//! With `--hold` the program is driven from outside, so that DBSP's own profiler and ours can be
//! given exactly the same window: it prints `ready PID`, waits for a line, runs its steps, writes
//! the built-in profile, prints `done` and waits for the end of its input.

mod options;
mod scenarios;

use dbsp::DBSPHandle;
use options::Options;
use scenarios::Pipeline;
use std::{
    fs,
    io::{self, BufRead, Read, Write},
    process::ExitCode,
    time::Instant,
};

fn say(line: &str) {
    println!("{line}");
    // A closed pipe means that nobody listens any more; the steps run all the same.
    let _ = io::stdout().flush();
}

fn wait_for_line() {
    let mut line = String::new();
    let _ = io::stdin().lock().read_line(&mut line);
}

fn wait_for_end_of_input() {
    let mut rest = Vec::new();
    let _ = io::stdin().lock().read_to_end(&mut rest);
}

fn write_builtin_profile(circuit: &mut DBSPHandle, path: &str) -> Result<(), String> {
    let profile = circuit
        .retrieve_profile()
        .map_err(|e| format!("the built-in profile cannot be had: {e}"))?;
    fs::write(path, profile.as_json()).map_err(|e| format!("{path}: {e}"))
}

fn run(options: &Options) -> Result<(), String> {
    let Pipeline {
        mut circuit,
        mut feed,
        storage: _storage,
    } = scenarios::build(options).map_err(|e| format!("the circuit cannot be built: {e}"))?;
    if options.builtin.is_some() {
        circuit
            .enable_cpu_profiler()
            .map_err(|e| format!("the built-in profiler cannot be enabled: {e}"))?;
    }
    if options.hold {
        say(&format!("ready {}", std::process::id()));
        wait_for_line();
    }

    let start = Instant::now();
    for step in 0..options.steps {
        feed(step);
        circuit
            .transaction()
            .map_err(|e| format!("step {step} failed: {e}"))?;
    }
    eprintln!("{} steps in {:?}", options.steps, start.elapsed());

    if let Some(path) = &options.builtin {
        write_builtin_profile(&mut circuit, path)?;
    }
    if options.hold {
        say("done");
        wait_for_end_of_input();
    }
    circuit
        .kill()
        .map_err(|_| "a worker thread panicked".to_string())
}

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("dbsp-target: {message}\n{}", options::USAGE);
            return ExitCode::from(2);
        }
    };
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("dbsp-target: {message}");
            ExitCode::FAILURE
        }
    }
}
