//! The pipelines themselves.
//!
//! `spine`, `sharded` and `sleeper` are the circuits on which DBSP's own tests in
//! `src/profile.rs` state what a wait breakdown has to look like.

use crate::options::{Options, Scenario};
use dbsp::{
    Circuit, DBSPHandle, Error, OrdZSet, RootCircuit, Runtime, Stream,
    circuit::{
        CircuitConfig, CircuitStorageConfig, Scope,
        operator_traits::{Operator, UnaryOperator},
    },
    operator::Generator,
    utils::Tup2,
};
use feldera_types::config::{StorageConfig, StorageOptions};
use std::{borrow::Cow, future, hint, thread, time::Duration};
use tempfile::TempDir;
use tokio::sync::oneshot;

/// A built circuit and what feeds it before each step.
pub struct Pipeline {
    pub circuit: DBSPHandle,
    pub feed: Box<dyn FnMut(u64)>,
    /// Holds the storage folder of circuits that spill, until the end.
    pub storage: Option<TempDir>,
}

pub fn build(options: &Options) -> Result<Pipeline, Error> {
    match options.scenario {
        Scenario::Spine => spilling(options, |stream, _| {
            stream.accumulate_integrate_trace();
        }),
        Scenario::Sharded => spilling(options, |stream, _| {
            stream.shard().accumulate_integrate_trace();
        }),
        Scenario::Join | Scenario::Idle => spilling(options, join),
        Scenario::Nested => nested(options),
        Scenario::Sleeper => awaiting(options, Await::Nap),
        Scenario::Stuck => awaiting(options, Await::Forever),
        Scenario::Spin => awaiting(options, Await::Compute),
        Scenario::Wide => wide(options),
    }
}

type Records = Stream<RootCircuit, dbsp::OrdIndexedZSet<i32, i32>>;

/// An indexed input whose every batch goes to disk, so that mergers fall behind.
fn spilling(
    options: &Options,
    build: impl Fn(Records, &Options) + Clone + Send + 'static,
) -> Result<Pipeline, Error> {
    let storage = tempfile::tempdir().map_err(Error::IO)?;
    let place = StorageConfig {
        path: storage.path().to_string_lossy().into_owned(),
        cache: Default::default(),
    };
    let spill_all = StorageOptions {
        min_storage_bytes: Some(0),
        ..Default::default()
    };
    let config = CircuitConfig::with_workers(options.workers)
        .with_storage(Some(CircuitStorageConfig::for_config(place, spill_all)?));
    let for_build = options.clone();
    let (circuit, input) = Runtime::init_circuit(config, move |circuit| {
        let (stream, input) = circuit.add_input_indexed_zset::<i32, i32>();
        build(stream, &for_build);
        Ok(input)
    })?;
    let records = options.records as i32;
    let feed = move |step: u64| {
        let first = (step as i32).wrapping_mul(records);
        let mut batch = (0..records)
            .map(|record| Tup2(first.wrapping_add(record), Tup2(record, 1)))
            .collect::<Vec<_>>();
        input.append(&mut batch);
    };
    Ok(Pipeline {
        circuit,
        feed: Box::new(feed),
        storage: Some(storage),
    })
}

/// About fifty operators: shard, join, aggregate, distinct.
fn join(stream: Records, _options: &Options) {
    let stream = stream.shard();
    let other = stream.map_index(|(key, value)| (*key / 2, *value));
    let joined = stream.join(&other, |_key, left, right| Tup2(*left, *right));
    let counted = joined
        .map_index(|pair: &Tup2<i32, i32>| (pair.0, pair.1))
        .weighted_count();
    counted.accumulate_integrate_trace();
    counted
        .map(|(_key, count)| *count)
        .distinct()
        .accumulate_output();
}

/// A recursive transitive closure over short paths: a nested circuit with a clock of its own.
fn nested(options: &Options) -> Result<Pipeline, Error> {
    let config = CircuitConfig::with_workers(options.workers);
    let (circuit, input) = Runtime::init_circuit(config, |circuit| {
        let (edges, input) = circuit.add_input_zset::<Tup2<u64, u64>>();
        let closure = circuit.recursive(|child, paths: Stream<_, OrdZSet<Tup2<u64, u64>>>| {
            let edges = edges.delta0(child);
            let by_source = edges.map_index(|edge: &Tup2<u64, u64>| (edge.0, edge.1));
            let by_target = paths.map_index(|path: &Tup2<u64, u64>| (path.1, path.0));
            let longer = by_target.join(&by_source, |_middle, from, to| Tup2(*from, *to));
            Ok(edges.plus(&longer))
        })?;
        let _ = closure.accumulate_output();
        Ok(input)
    })?;
    let length = options.records.clamp(1, 60);
    let feed = move |step: u64| {
        let mut path = (0..length)
            .map(|hop| Tup2(Tup2(step * 64 + hop, step * 64 + hop + 1), 1))
            .collect::<Vec<_>>();
        input.append(&mut path);
    };
    Ok(Pipeline {
        circuit,
        feed: Box::new(feed),
        storage: None,
    })
}

/// Thousands of cheap operators in chains of a hundred.
fn wide(options: &Options) -> Result<Pipeline, Error> {
    const CHAIN: usize = 100;

    let config = CircuitConfig::with_workers(options.workers);
    let operators = options.operators;
    let (circuit, input) = Runtime::init_circuit(config, move |circuit| {
        let (stream, input) = circuit.add_input_zset::<u64>();
        let mut last = stream.clone();
        for operator in 0..operators {
            let from = if operator % CHAIN == 0 {
                &stream
            } else {
                &last
            };
            last = from.map(|value: &u64| value.wrapping_add(1));
        }
        Ok(input)
    })?;
    let records = options.records;
    let feed = move |step: u64| {
        let mut batch = (0..records)
            .map(|record| Tup2(step * records + record, 1))
            .collect::<Vec<_>>();
        input.append(&mut batch);
    };
    Ok(Pipeline {
        circuit,
        feed: Box::new(feed),
        storage: None,
    })
}

/// What an [`Awaiting`] operator does when it is evaluated.
#[derive(Clone, Copy)]
enum Await {
    /// Awaits the end of a millisecond's sleep on a plain thread, in every step.
    Nap,
    /// Awaits forever, from the third step on.
    Forever,
    /// Computes forever, from the third step on.
    Compute,
}

const NAP: Duration = Duration::from_millis(1);
/// Steps that pass before an operator gets stuck.
const GOOD_STEPS: u64 = 2;

struct Awaiting {
    what: Await,
    evaluations: u64,
}

impl Operator for Awaiting {
    fn name(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self.what {
            Await::Nap => "Sleeper",
            Await::Forever => "Stuck",
            Await::Compute => "Spinner",
        })
    }

    fn clock_start(&mut self, _scope: Scope) {}
    fn clock_end(&mut self, _scope: Scope) {}

    fn fixedpoint(&self, _scope: Scope) -> bool {
        true
    }
}

impl UnaryOperator<i32, i32> for Awaiting {
    async fn eval(&mut self, input: &i32) -> i32 {
        self.evaluations += 1;
        let good = self.evaluations <= GOOD_STEPS;
        match self.what {
            Await::Nap => {
                let (slept, wake) = oneshot::channel();
                thread::spawn(move || {
                    thread::sleep(NAP);
                    let _ = slept.send(());
                });
                let _ = wake.await;
            }
            Await::Forever if !good => future::pending().await,
            Await::Compute if !good => compute_forever(),
            Await::Forever | Await::Compute => (),
        }
        *input
    }
}

fn compute_forever() {
    let mut state = 1u64;
    loop {
        state = hint::black_box(state.wrapping_mul(6364136223846793005).wrapping_add(1));
    }
}

fn awaiting(options: &Options, what: Await) -> Result<Pipeline, Error> {
    let config = CircuitConfig::with_workers(options.workers);
    let (circuit, ()) = Runtime::init_circuit(config, move |circuit| {
        let source = circuit.add_source(Generator::new(|| 1i32));
        circuit.add_unary_operator(
            Awaiting {
                what,
                evaluations: 0,
            },
            &source,
        );
        Ok(())
    })?;
    Ok(Pipeline {
        circuit,
        feed: Box::new(|_| ()),
        storage: None,
    })
}
