//! Circuits of random shape: operators that report random readings, regions, nested circuits, and
//! strict operators in chains, loops and rings.

use crate::values::{self, Random};
use dbsp::{
    Circuit, DBSPHandle, Error, RootCircuit, Runtime, Stream,
    circuit::{
        CircuitConfig, Scope,
        circuit_builder::IterativeCircuit,
        metadata::{MetricReading, OperatorLocation, OperatorMeta},
        operator_traits::{
            BinaryOperator, Operator, SinkOperator, SourceOperator, StrictOperator,
            StrictUnaryOperator, UnaryOperator,
        },
    },
};
use std::{borrow::Cow, panic::Location};

/// Reports the same readings whenever it is asked.
struct Reporter {
    name: Cow<'static, str>,
    location: OperatorLocation,
    readings: Vec<MetricReading>,
}

impl Operator for Reporter {
    fn name(&self) -> Cow<'static, str> {
        self.name.clone()
    }

    fn location(&self) -> OperatorLocation {
        self.location
    }

    fn metadata(&self, meta: &mut OperatorMeta) {
        meta.extend(self.readings.iter().cloned());
    }

    fn fixedpoint(&self, _scope: Scope) -> bool {
        true
    }
}

impl SourceOperator<i32> for Reporter {
    async fn eval(&mut self) -> i32 {
        1
    }
}

impl UnaryOperator<i32, i32> for Reporter {
    async fn eval(&mut self, input: &i32) -> i32 {
        *input
    }
}

impl BinaryOperator<i32, i32, i32> for Reporter {
    async fn eval(&mut self, left: &i32, _right: &i32) -> i32 {
        *left
    }
}

impl SinkOperator<i32> for Reporter {
    async fn eval(&mut self, _input: &i32) {}
}

impl StrictOperator<i32> for Reporter {
    fn get_output(&mut self) -> i32 {
        0
    }

    fn get_final_output(&mut self) -> i32 {
        0
    }
}

impl StrictUnaryOperator<i32, i32> for Reporter {
    async fn eval_strict(&mut self, _input: &i32) {}

    fn flush_input(&mut self) {}

    fn is_flush_input_complete(&self) -> bool {
        true
    }
}

/// All workers build the same shape; what their operators report differs.
#[derive(Clone)]
struct Generator {
    shape: Random,
    values: Random,
    wild: bool,
}

const NAMES: [&str; 9] = [
    "Z^-1",
    "Z^-1",
    "Map",
    "Join",
    "sum (output)",
    "say \"hi\"",
    "back\\slash",
    "naïve ∑",
    "",
];

impl Generator {
    fn reporter(&mut self) -> Reporter {
        let name = if self.shape.one_in(10) {
            Cow::Owned(values::text(&mut self.shape))
        } else {
            Cow::Borrowed(*self.shape.pick(&NAMES))
        };
        self.named(name)
    }

    fn named(&mut self, name: Cow<'static, str>) -> Reporter {
        let location = match self.shape.below(3) {
            0 => None,
            1 => Some(Location::caller()),
            _ => Some(elsewhere()),
        };
        Reporter {
            name,
            location,
            readings: values::readings(&mut self.values, self.wild),
        }
    }

    /// A few operators on top of `streams`; `nested` adds a circuit.
    fn fill<C: Circuit>(
        &mut self,
        circuit: &C,
        streams: &mut Vec<Stream<C, i32>>,
        nested: &dyn Fn(&mut Self, &C, &Stream<C, i32>),
    ) {
        for _ in 0..1 + self.shape.below(5) {
            let input = self.shape.pick(streams).clone();
            match self.shape.below(9) {
                0 => streams.push(circuit.add_source(self.reporter())),
                1 | 2 => streams.push(circuit.add_unary_operator(self.reporter(), &input)),
                3 => {
                    let other = self.shape.pick(streams).clone();
                    streams.push(circuit.add_binary_operator(self.reporter(), &input, &other));
                }
                4 => {
                    circuit.add_sink(self.reporter(), &input);
                }
                5 => self.region(circuit, streams, nested),
                6 => nested(self, circuit, &input),
                _ => self.strict(circuit, streams),
            }
        }
        if self.shape.one_in(3) {
            let label = values::text(&mut self.shape);
            self.shape
                .pick(streams)
                .set_label("persistent_id", &label)
                .set_label(&label, "a label");
        }
    }

    fn region<C: Circuit>(
        &mut self,
        circuit: &C,
        streams: &mut Vec<Stream<C, i32>>,
        nested: &dyn Fn(&mut Self, &C, &Stream<C, i32>),
    ) {
        let name = values::text(&mut self.shape);
        circuit.region(&name, || {
            if self.shape.one_in(4) {
                return;
            }
            if self.shape.one_in(3) {
                self.fill(circuit, streams, nested);
            } else {
                streams.push(circuit.add_source(self.reporter()));
                self.strict(circuit, streams);
            }
        });
    }

    /// Up to three strict operators, often of one name. Their inputs come from elsewhere, from
    /// themselves, from each other in a chain, or from each other in a ring.
    fn strict<C: Circuit>(&mut self, circuit: &C, streams: &mut Vec<Stream<C, i32>>) {
        let name = Cow::Borrowed(*self.shape.pick(&NAMES));
        let location = elsewhere();
        let (mut outputs, mut connectors) = (Vec::new(), Vec::new());
        for _ in 0..1 + self.shape.below(3) {
            let mut reporter = self.named(name.clone());
            reporter.location = Some(location);
            let (output, connector) = circuit.add_feedback(reporter);
            outputs.push(output);
            connectors.push(connector);
        }
        let outside = self.shape.pick(streams).clone();
        let wiring = self.shape.below(4);
        let count = outputs.len();
        let mut inputs = (0..count)
            .map(|i| match wiring {
                0 => outside.clone(),
                1 => outputs[i].clone(),
                2 if i == 0 => outside.clone(),
                2 => outputs[i - 1].clone(),
                _ => outputs[(i + 1) % count].clone(),
            })
            .zip(connectors)
            .collect::<Vec<_>>();
        // In a ring nothing but the order tells which input belongs to which output.
        if wiring != 3 && self.shape.one_in(2) {
            inputs.reverse();
        }
        for (input, connector) in inputs {
            if self.shape.one_in(3) {
                circuit.add_sink(self.reporter(), &input);
            }
            connector.connect(&input);
        }
        // An ordinary operator of the same name that reads one of them.
        if self.shape.one_in(3) {
            let mut reader = self.named(name);
            reader.location = Some(location);
            streams.push(circuit.add_unary_operator(reader, &outputs[0]));
        }
        streams.extend(outputs);
    }
}

fn elsewhere() -> &'static Location<'static> {
    Location::caller()
}

fn deepest<C: Circuit>(_generator: &mut Generator, _circuit: &C, _input: &Stream<C, i32>) {}

/// A circuit in `circuit`, which may hold more of them.
fn nest<C: Circuit>(
    generator: &mut Generator,
    circuit: &C,
    input: &Stream<C, i32>,
    nested: &dyn Fn(&mut Generator, &IterativeCircuit<C>, &Stream<IterativeCircuit<C>, i32>),
) where
    IterativeCircuit<C>: Circuit<Parent = C>,
{
    let made = circuit.iterate(|child: &mut IterativeCircuit<C>| {
        let mut streams = vec![input.delta0(child)];
        generator.fill(child, &mut streams, nested);
        Ok((async || Ok(true), ()))
    });
    made.expect("an empty loop can be scheduled");
}

/// Each how many-th profile is a wild one, see `values`.
const WILD: u64 = 10;

/// Circuit `number` of the run that `seed` names, at rest.
pub fn circuit(seed: u64, number: u64) -> Result<DBSPHandle, Error> {
    let mut random = Random::new(seed ^ number.wrapping_mul(0x2545_f491_4f6c_dd1d));
    let workers = 1 + random.below(4) as usize;
    let timed = random.one_in(5);
    let shape = Random::new(random.next());
    let values = random.next();
    let (mut circuit, ()) =
        Runtime::init_circuit(CircuitConfig::with_workers(workers), move |circuit| {
            let worker = Runtime::worker_index() as u64;
            let mut generator = Generator {
                shape: shape.clone(),
                values: Random::new(values.wrapping_add(worker)),
                wild: number % WILD == WILD - 1,
            };
            let circuit: &RootCircuit = circuit;
            let mut streams = vec![circuit.add_source(generator.reporter())];
            generator.fill(circuit, &mut streams, &|generator, circuit, input| {
                nest(generator, circuit, input, &|generator, child, input| {
                    nest(generator, child, input, &deepest)
                })
            });
            Ok(())
        })?;
    if timed {
        circuit.enable_cpu_profiler()?;
        circuit.transaction()?;
    }
    Ok(circuit)
}
