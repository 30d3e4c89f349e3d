//! Command line of the test pipeline.

pub const USAGE: &str = "usage: dbsp-target SCENARIO [--workers N] [--steps N] [--records N]
                   [--operators N] [--builtin FILE] [--hold]
scenarios: spine sharded sleeper join nested stuck spin wide idle";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scenario {
    Spine,
    Sharded,
    Sleeper,
    Join,
    Nested,
    Stuck,
    Spin,
    Wide,
    Idle,
}

impl Scenario {
    fn by_name(name: &str) -> Option<Self> {
        Some(match name {
            "spine" => Self::Spine,
            "sharded" => Self::Sharded,
            "sleeper" => Self::Sleeper,
            "join" => Self::Join,
            "nested" => Self::Nested,
            "stuck" => Self::Stuck,
            "spin" => Self::Spin,
            "wide" => Self::Wide,
            "idle" => Self::Idle,
            _ => return None,
        })
    }
}

#[derive(Clone, Debug)]
pub struct Options {
    pub scenario: Scenario,
    pub workers: usize,
    /// Steps to run; an `idle` pipeline runs none.
    pub steps: u64,
    /// Records fed into each step.
    pub records: u64,
    /// Operators of the `wide` scenario.
    pub operators: usize,
    /// Where the built-in profile goes; naming a file turns the built-in CPU profiler on.
    pub builtin: Option<String>,
    pub hold: bool,
}

impl Options {
    pub fn parse(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let name = args.next().ok_or("a scenario is needed")?;
        let scenario =
            Scenario::by_name(&name).ok_or_else(|| format!("no scenario is called {name:?}"))?;
        let mut options = Self {
            scenario,
            workers: 2,
            steps: 100,
            records: 500,
            operators: 2000,
            builtin: None,
            hold: false,
        };
        while let Some(flag) = args.next() {
            let mut value = || args.next().ok_or_else(|| format!("{flag} needs a value"));
            match flag.as_str() {
                "--workers" => options.workers = number(&flag, &value()?)?.max(1) as usize,
                "--steps" => options.steps = number(&flag, &value()?)?,
                "--records" => options.records = number(&flag, &value()?)?,
                "--operators" => options.operators = number(&flag, &value()?)?.max(1) as usize,
                "--builtin" => options.builtin = Some(value()?),
                "--hold" => options.hold = true,
                _ => return Err(format!("unknown option {flag}")),
            }
        }
        if options.scenario == Scenario::Idle {
            options.steps = 0;
        }
        Ok(options)
    }
}

fn number(flag: &str, text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| format!("{flag} needs a number, not {text:?}"))
}
