//! Writes what the profile functions give.
//!
//! Files of one profile's folder: `profile.json` (as_json), `profile.zip` (as_json_zip), `no-graph.json`
//! (as_json of a profile without a graph), `merged.json` (all workers merged into the first),
//! `dump/` (GraphProfile::dump), `graphs.zip` (GraphProfile::write_zip with the workers numbered from 4
//! on), `functions.txt`.
//!
//! A line of `functions.txt` is `FUNCTION WORKER METRIC RESULT...` with tabs between, where WORKER is
//! a number or `all` and RESULT is `NODE KIND TEXT` or `NODE BYTES` for each node, `ok NUMBER`, or
//! `err KIND TEXT`. Metrics that the profile does not have are left out, but for one. In texts `\`, tab and line feed are written as `\\`, `\t` and `\n`.

use crate::{say, values};
use dbsp::{
    DBSPHandle,
    circuit::{
        GlobalNodeId,
        metadata::{CIRCUIT_METRICS, CIRCUIT_RUNTIME_ELAPSED_SECONDS, MetaItem, MetricId},
    },
    profile::{DbspProfile, GraphProfile, WorkerProfile},
};
use std::{
    fmt::Write as _,
    fs::{self, File},
    path::Path,
    thread,
    time::Duration,
};

/// Number of the first worker of a pipeline's second host.
const SECOND_HOST: usize = 4;
const TRIES: usize = 500;

pub fn all(circuit: &mut DBSPHandle, folder: &Path) -> Result<(), String> {
    let (profile, mut graphs) = at_rest(circuit)?;
    if let Some(elapsed) = elapsed(&profile) {
        graphs.elapsed_time = elapsed;
    }
    fs::write(folder.join("profile.json"), profile.as_json()).map_err(say)?;
    fs::write(folder.join("profile.zip"), profile.as_json_zip()).map_err(say)?;
    fs::write(folder.join("functions.txt"), functions(&profile)).map_err(say)?;

    let mut merged = profile.worker_profiles[0].clone();
    for other in &profile.worker_profiles[1..] {
        merged.merge(other);
    }
    let merged = DbspProfile::new(vec![merged], profile.graph.clone());
    fs::write(folder.join("merged.json"), merged.as_json()).map_err(say)?;
    let bare = DbspProfile::new(profile.worker_profiles, None);
    fs::write(folder.join("no-graph.json"), bare.as_json()).map_err(say)?;

    graphs.dump(folder.join("dump")).map_err(say)?;
    graphs.worker_offset = SECOND_HOST;
    let zip = File::create(folder.join("graphs.zip")).map_err(say)?;
    graphs.write_zip(zip).map_err(say)?;
    Ok(())
}

/// Both profiles, of the same state: mergers and the like work on between the steps.
fn at_rest(circuit: &mut DBSPHandle) -> Result<(DbspProfile, GraphProfile), String> {
    let mut before = circuit.retrieve_profile().map_err(say)?;
    for _ in 0..TRIES {
        let graphs = circuit.graph_profile().map_err(say)?;
        let after = circuit.retrieve_profile().map_err(say)?;
        if same(&before, &after) {
            return Ok((before, graphs));
        }
        before = after;
        thread::sleep(Duration::from_millis(5));
    }
    Err("the circuit does not come to rest".to_string())
}

/// All but the time since the start, which never stands still.
fn same(left: &DbspProfile, right: &DbspProfile) -> bool {
    let metrics = left.metrics.iter().map(|metric| &metric.name);
    metrics
        .filter(|metric| **metric != CIRCUIT_RUNTIME_ELAPSED_SECONDS)
        .all(|metric| {
            let workers = left.worker_profiles.iter().zip(&right.worker_profiles);
            workers
                .into_iter()
                .all(|(a, b)| a.attribute_profile(metric) == b.attribute_profile(metric))
        })
}

fn elapsed(profile: &DbspProfile) -> Option<Duration> {
    let root = profile.worker_profiles[0].get_node_profile(&GlobalNodeId::root())?;
    match root.get(CIRCUIT_RUNTIME_ELAPSED_SECONDS)? {
        MetaItem::Duration(elapsed) => Some(elapsed),
        _ => None,
    }
}

fn functions(profile: &DbspProfile) -> String {
    let mut out = String::new();
    let known = CIRCUIT_METRICS.iter().map(|metric| metric.name.clone());
    for metric in known.chain(values::unknown_metrics()) {
        if is_absent(profile, &metric) && metric.0 != values::REPORTED_BY_NONE {
            continue;
        }
        for (number, worker) in profile.worker_profiles.iter().enumerate() {
            of_worker(&mut out, &number.to_string(), worker, &metric);
        }
        let name = text(&metric.0);
        let bytes = profile.attribute_total_as_bytes(&metric);
        total(
            &mut out,
            &format!("attribute_total_as_bytes\tall\t{name}"),
            bytes.map(|b| b.bytes),
        );
        let count = profile.attribute_total_as_count(&metric);
        total(
            &mut out,
            &format!("attribute_total_as_count\tall\t{name}"),
            count.map(|c| c as u64),
        );
    }
    for (number, worker) in profile.worker_profiles.iter().enumerate() {
        let used = worker.total_used_bytes().map(|b| b.bytes);
        total(&mut out, &format!("total_used_bytes\t{number}\t"), used);
    }
    let used = profile.total_used_bytes().map(|b| b.bytes);
    total(&mut out, "total_used_bytes\tall\t", used);
    let stored = profile.total_storage_size().map(|b| b.bytes);
    total(&mut out, "total_storage_size\tall\t", stored);
    out
}

/// Nothing can be said of it but that its totals are 0.
fn is_absent(profile: &DbspProfile, metric: &MetricId) -> bool {
    let workers = &profile.worker_profiles;
    matches!(profile.attribute_total_as_count(metric), Ok(0))
        && workers
            .iter()
            .all(|w| w.attribute_profile(metric).is_empty())
}

fn of_worker(out: &mut String, number: &str, worker: &WorkerProfile, metric: &MetricId) {
    let name = text(&metric.0);
    let mut nodes = worker
        .attribute_profile(metric)
        .into_iter()
        .collect::<Vec<_>>();
    nodes.sort_by(|a, b| a.0.cmp(&b.0));
    for (node, item) in nodes {
        let node = node.node_identifier();
        let _ = writeln!(
            out,
            "attribute_profile\t{number}\t{name}\t{node}\t{}",
            value(&item)
        );
    }
    let as_bytes = format!("attribute_profile_as_bytes\t{number}\t{name}");
    match worker.attribute_profile_as_bytes(metric) {
        Ok(nodes) => {
            let mut nodes = nodes.into_iter().collect::<Vec<_>>();
            nodes.sort_by(|a, b| a.0.cmp(&b.0));
            for (node, item) in nodes {
                let node = node.node_identifier();
                let _ = writeln!(out, "{as_bytes}\t{node}\t{}", item.bytes);
            }
        }
        Err(item) => {
            let _ = writeln!(out, "{as_bytes}\terr\t{}", value(&item));
        }
    }
    let bytes = worker.attribute_total_as_bytes(metric).map(|b| b.bytes);
    total(
        out,
        &format!("attribute_total_as_bytes\t{number}\t{name}"),
        bytes,
    );
    let count = worker.attribute_total_as_count(metric).map(|c| c as u64);
    total(
        out,
        &format!("attribute_total_as_count\t{number}\t{name}"),
        count,
    );
}

fn total(out: &mut String, what: &str, result: Result<u64, MetaItem>) {
    let _ = match result {
        Ok(number) => writeln!(out, "{what}\tok\t{number}"),
        Err(item) => writeln!(out, "{what}\terr\t{}", value(&item)),
    };
}

fn value(item: &MetaItem) -> String {
    let kind = match item {
        MetaItem::Int(_) => "int",
        MetaItem::Count(_) => "count",
        MetaItem::Percent { .. } => "percent",
        MetaItem::CacheCounts(_) => "cachecounts",
        MetaItem::String(_) => "string",
        MetaItem::Array(_) => "array",
        MetaItem::Map(_) => "map",
        MetaItem::Bytes(_) => "bytes",
        MetaItem::Duration(_) => "duration",
        MetaItem::Bool(_) => "bool",
    };
    let mut formatted = String::new();
    let _ = item.format(&mut formatted);
    format!("{kind}\t{}", text(&formatted))
}

fn text(raw: &str) -> String {
    raw.replace('\\', "\\\\")
        .replace('\t', "\\t")
        .replace('\n', "\\n")
}
