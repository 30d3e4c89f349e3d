//! Random readings of every kind, repeatable.

use dbsp::{
    circuit::metadata::{CIRCUIT_METRICS, MetaItem, MetricId, MetricLabels, MetricReading},
    storage::buffer_cache::CacheCounts,
};
use std::{borrow::Cow, collections::BTreeMap, time::Duration};

/// splitmix64.
#[derive(Clone)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    pub fn one_in(&mut self, chance: u64) -> bool {
        self.below(chance) == 0
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u64) as usize]
    }

    /// As many small as large numbers, below 2^48, so that no sum overflows.
    fn number(&mut self) -> u64 {
        let bits = self.below(49);
        self.next() & ((1 << bits) - 1)
    }
}

/// What a text may hold that someone takes for syntax.
const WORDS: [&str; 24] = [
    "",
    " ",
    "map",
    "Z^-1",
    "sum_total",
    "\"",
    "\\",
    "\\l",
    "\\n",
    "\n",
    "\t",
    "\r",
    "{",
    "}",
    "[",
    "]",
    "<b>",
    "&amp;",
    "->",
    ";",
    "é",
    "日本",
    "🦀",
    "\u{7f}",
];

pub fn text(random: &mut Random) -> String {
    (0..random.below(5)).map(|_| *random.pick(&WORDS)).collect()
}

/// The last of the metrics of no table.
pub const REPORTED_BY_NONE: &str = "reported_by_none_count";
const UNKNOWN: [&str; 8] = [
    "mixed_count",
    "plain_bytes",
    "plain_count",
    "UPPER",
    "odd \"name\" \\ with everything",
    "",
    "zähler_count",
    REPORTED_BY_NONE,
];

pub fn unknown_metrics() -> impl Iterator<Item = MetricId> {
    UNKNOWN.iter().map(|name| MetricId(Cow::Borrowed(name)))
}

fn duration(random: &mut Random) -> Duration {
    match random.below(8) {
        0 => Duration::ZERO,
        1 => Duration::from_nanos(random.below(1000)),
        2 => Duration::from_micros(random.below(1000)),
        3 => Duration::from_millis(random.below(1000)),
        4 => Duration::from_secs(random.below(100_000)),
        5 => Duration::new(random.below(100), random.below(1_000_000_000) as u32),
        _ => Duration::from_nanos(random.number()),
    }
}

fn percent(random: &mut Random) -> MetaItem {
    let (numerator, denominator) = match random.below(6) {
        0 => (0, 0),
        1 => (random.number(), 0),
        2 => (0, random.number()),
        _ => (random.below(120), 100),
    };
    MetaItem::Percent {
        numerator,
        denominator,
    }
}

fn cache_counts(random: &mut Random) -> MetaItem {
    let count = if random.one_in(3) { 0 } else { random.number() };
    MetaItem::CacheCounts(CacheCounts {
        count,
        bytes: random.number(),
        elapsed: duration(random),
    })
}

fn array(random: &mut Random, depth: u64) -> MetaItem {
    MetaItem::Array(
        (0..random.below(4))
            .map(|_| item(random, depth + 1))
            .collect(),
    )
}

fn map(random: &mut Random, depth: u64) -> MetaItem {
    // A map must not look like a value with its type.
    let entries = (0..random.below(4)).map(|_| {
        let key = format!("k{}", text(random));
        (Cow::Owned(key), item(random, depth + 1))
    });
    MetaItem::Map(entries.collect::<BTreeMap<_, _>>())
}

fn item(random: &mut Random, depth: u64) -> MetaItem {
    if random.one_in(2) {
        summed(random.below(5), random)
    } else {
        not_summed(random, depth)
    }
}

/// One of the kinds that add up over operators and workers.
fn summed(kind: u64, random: &mut Random) -> MetaItem {
    match kind {
        0 => MetaItem::Count(random.number() as usize),
        1 => MetaItem::bytes(match random.below(3) {
            0 => 1 << random.below(49),
            _ => random.number() as usize,
        }),
        2 => percent(random),
        3 => MetaItem::Duration(duration(random)),
        _ => cache_counts(random),
    }
}

fn not_summed(random: &mut Random, depth: u64) -> MetaItem {
    match random.below(if depth < 3 { 6 } else { 4 }) {
        0 => MetaItem::Int(random.next() as usize),
        1 => MetaItem::Int(random.number() as usize),
        2 => MetaItem::String(text(random)),
        3 => MetaItem::Bool(random.one_in(2)),
        4 => array(random, depth),
        _ => map(random, depth),
    }
}

/// A value of the kind that the metric's name promises, mostly.
///
/// The engine adds up an operator's values for the root in the order of a hash map, and what comes out
/// depends on that order when a metric has several kinds that add up. Only `wild` profiles have such.
fn item_of(random: &mut Random, metric: &str, wild: bool) -> MetaItem {
    if wild && random.one_in(8) {
        return item(random, 0);
    }
    if random.one_in(40) || metric.starts_with("mixed") && random.one_in(2) {
        return not_summed(random, 0);
    }
    let kind = match metric.rsplit('_').next().unwrap_or("") {
        "count" => 0,
        "bytes" => 1,
        "percent" => 2,
        "seconds" => 3,
        "hits" | "misses" => 4,
        "" => 2,
        _ => return not_summed(random, 0),
    };
    summed(kind, random)
}

fn labels(random: &mut Random) -> MetricLabels {
    let count = if random.one_in(3) { random.below(3) } else { 0 };
    (0..count)
        .map(|_| (Cow::Owned(text(random)), Cow::Owned(text(random))))
        .collect()
}

pub fn readings(random: &mut Random, wild: bool) -> Vec<MetricReading> {
    (0..random.below(7))
        .map(|_| {
            // The last unknown one is reported by none.
            let name = if random.one_in(2) {
                random.pick(&UNKNOWN[..UNKNOWN.len() - 1])
            } else {
                random.pick(&CIRCUIT_METRICS).name.0.as_ref()
            };
            let metric = MetricId(Cow::Owned(name.to_string()));
            MetricReading::new(metric, labels(random), item_of(random, name, wild))
        })
        .collect()
}
