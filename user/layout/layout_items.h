/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The list of everything we must know about the layout of DBSP's types, in one place.
 *
 * Each line: identifier, name in layout files, whether a layout without it is useless, the Rust
 * type as DWARF names it (a pattern in which * stands for any text, matched against the whole
 * qualified name, generic arguments included), and the path inside that type:
 *   a.b.c           byte offset of a member of a member
 *   a->b            the same inside what the pointer a points at (the offset starts anew)
 *   a<T>.b          the same inside the type that a's type has for its generic parameter T (the
 *                   offset starts anew): the way to what a PhantomData or raw table holds
 *   a[].b           the same inside the first element of the array a
 *   a?Variant.b     inside the enum a, byte offset of a member of that variant
 *   a!tag           byte offset of the discriminant of the enum a
 *   a!tagsize       its size in bytes
 *   a!is=Variant    its value for that variant, cut to its size, as read little-endian; absent for
 *                   the variant that has none (the one that holds when no other value does, so
 *                   such an item is not required)
 *   a#size          size of a in bytes
 * The leading member may be left out: "#size", "!tag", "?Some.__0" speak of the type itself. The
 * fields of tuples and tuple structs are __0, __1, ... An async fn or block is an enum whose
 * variants are called 0 (unresumed), 1 (returned), 2 (panicked), 3 and up (suspended). An enum
 * without fields is fine for the ! forms; one with a single variant has no tag.
 * A type that matches but has no such path is passed over. When several types of one debug info
 * match and differ in an item, the item is absent (an error if required): make the pattern
 * narrower.
 */
#ifndef DBPROF_LAYOUT_LAYOUT_ITEMS_H
#define DBPROF_LAYOUT_LAYOUT_ITEMS_H

/* The types. Names of type parameters that do not matter are left to the pattern. */
#define LAYOUT_T_VEC	  "alloc::vec::Vec<dbsp::circuit::circuit_builder::NodeId, *>"
#define LAYOUT_T_COW	  "alloc::borrow::Cow<str>"
#define LAYOUT_T_LOCATION "core::panic::location::Location"
#define LAYOUT_T_TABLE	  "hashbrown::raw::RawTableInner"
#define LAYOUT_T_DURATION "core::time::Duration"
#define LAYOUT_T_INSTANT  "std::time::Instant"
#define LAYOUT_T_ROOT	  "alloc::rc::RcInner<dbsp::circuit::circuit_builder::CircuitInner<()>>"
#define LAYOUT_T_NESTED                                                                   \
	"alloc::rc::RcInner<dbsp::circuit::circuit_builder::CircuitInner<dbsp::circuit::" \
	"circuit_builder::ChildCircuit<*>>>"
#define LAYOUT_T_NODE_CELL \
	"core::cell::RefCell<alloc::boxed::Box<dyn dbsp::circuit::circuit_builder::Node, *>>"
#define LAYOUT_T_CHILD_NODE "dbsp::circuit::circuit_builder::ChildNode<*>"
#define LAYOUT_T_HANDLERS                                                                     \
	"alloc::rc::RcInner<core::cell::RefCell<std::collections::hash::map::HashMap<alloc::" \
	"string::String, alloc::boxed::Box<dyn core::ops::function::Fn*dbsp::circuit::trace::*"
#define LAYOUT_T_HANDLER                                                                        \
	"(alloc::string::String, alloc::boxed::Box<dyn core::ops::function::Fn*dbsp::circuit::" \
	"trace::*"
#define LAYOUT_T_MONITOR_CLOSURE  "dbsp::monitor::{impl#*}::attach::{closure_env#0}"
#define LAYOUT_T_PROFILER_CLOSURE "dbsp::profile::cpu::{impl#*}::attach::{closure_env#0}"
#define LAYOUT_T_MONITOR \
	"alloc::rc::RcInner<core::cell::RefCell<dbsp::monitor::TraceMonitorInternal>>"
#define LAYOUT_T_NODE "dbsp::monitor::circuit_graph::Node"
#define LAYOUT_T_NODE_ENTRY \
	"(dbsp::circuit::circuit_builder::NodeId, dbsp::monitor::circuit_graph::Node)"
#define LAYOUT_T_REGION "dbsp::monitor::circuit_graph::Region"
#define LAYOUT_T_EDGES_ENTRY                                                              \
	"(dbsp::circuit::circuit_builder::GlobalNodeId, alloc::vec::Vec<(dbsp::circuit::" \
	"circuit_builder::GlobalNodeId, dbsp::circuit::trace::EdgeKind), alloc::alloc::"  \
	"Global>)"
#define LAYOUT_T_EDGE \
	"(dbsp::circuit::circuit_builder::GlobalNodeId, dbsp::circuit::trace::EdgeKind)"
#define LAYOUT_T_HANDLE "dbsp::circuit::circuit_builder::CircuitHandle"
#define LAYOUT_T_IDLE	"dbsp::profile::cpu::RuntimeIdle"
#define LAYOUT_T_ARC	"alloc::sync::ArcInner<core::sync::atomic::AtomicU64>"
#define LAYOUT_T_STEP_FUTURE \
	"dbsp::circuit::schedule::dynamic_scheduler::{impl#*}::step::{async_fn_env#0}<*"
#define LAYOUT_T_TASK_FUTURE \
	"dbsp::circuit::schedule::dynamic_scheduler::{impl#*}::spawn_task::{async_block_env#0}<*"
#define LAYOUT_T_TIMED	       "dbsp::circuit::circuit_builder::Timed<*"
#define LAYOUT_T_EVENT	       "dbsp::circuit::trace::SchedulerEvent"
#define LAYOUT_T_CHILD_CIRCUIT "dbsp::circuit::circuit_builder::ChildCircuit<*>"
#define LAYOUT_T_SCHEDULER     "dbsp::circuit::schedule::dynamic_scheduler::DynamicScheduler"
#define LAYOUT_T_PROFILER \
	"alloc::rc::RcInner<core::cell::RefCell<dbsp::profile::cpu::CPUProfilerInner>>"
#define LAYOUT_T_OPERATOR_ENTRY                                               \
	"(dbsp::circuit::circuit_builder::GlobalNodeId, dbsp::profile::cpu::" \
	"OperatorCPUProfile)"
#define LAYOUT_T_PROFILE_ENTRY \
	"(dbsp::circuit::circuit_builder::GlobalNodeId, dbsp::profile::cpu::CircuitCPUProfile)"
#define LAYOUT_T_START_ENTRY "(dbsp::circuit::circuit_builder::GlobalNodeId, std::time::Instant)"
#define LAYOUT_T_CLOCK_ENTRY "(dbsp::circuit::circuit_builder::GlobalNodeId, core::time::Duration)"
#define LAYOUT_T_REASONS_ENTRY \
	"(dbsp::circuit::circuit_builder::GlobalNodeId, [core::time::Duration; 10])"

/* The standard library: Vec, String, Cow<str>, Location, Duration, hashbrown tables */
#define LAYOUT_STD_ITEMS(X)                                                                       \
	X(VEC_CAP, "vec.cap", true, LAYOUT_T_VEC, "buf.inner.cap")                                \
	X(VEC_PTR, "vec.ptr", true, LAYOUT_T_VEC, "buf.inner.ptr")                                \
	X(VEC_LEN, "vec.len", true, LAYOUT_T_VEC, "len")                                          \
	X(COW_TAG, "cow_str.tag", true, LAYOUT_T_COW, "!tag")                                     \
	X(COW_IS_BORROWED, "cow_str.is_borrowed", true, LAYOUT_T_COW, "!is=Borrowed")             \
	X(COW_BORROWED_PTR, "cow_str.borrowed.ptr", true, LAYOUT_T_COW, "?Borrowed.__0.data_ptr") \
	X(COW_BORROWED_LEN, "cow_str.borrowed.len", true, LAYOUT_T_COW, "?Borrowed.__0.length")   \
	X(COW_OWNED, "cow_str.owned", true, LAYOUT_T_COW, "?Owned.__0.vec")                       \
	X(LOCATION_FILE_PTR, "location.file.ptr", true, LAYOUT_T_LOCATION,                        \
	  "filename.pointer.data_ptr")                                                            \
	X(LOCATION_FILE_LEN, "location.file.len", true, LAYOUT_T_LOCATION,                        \
	  "filename.pointer.length")                                                              \
	X(LOCATION_LINE, "location.line", true, LAYOUT_T_LOCATION, "line")                        \
	X(LOCATION_COLUMN, "location.column", true, LAYOUT_T_LOCATION, "col")                     \
	X(LOCATION_SIZE, "location.size", true, LAYOUT_T_LOCATION, "#size")                       \
	X(TABLE_CTRL, "raw_table.ctrl", true, LAYOUT_T_TABLE, "ctrl")                             \
	X(TABLE_MASK, "raw_table.bucket_mask", true, LAYOUT_T_TABLE, "bucket_mask")               \
	X(TABLE_ITEMS, "raw_table.items", true, LAYOUT_T_TABLE, "items")                          \
	X(DURATION_SECS, "duration.secs", false, LAYOUT_T_DURATION, "secs")                       \
	X(DURATION_NANOS, "duration.nanos", false, LAYOUT_T_DURATION, "nanos")                    \
	X(DURATION_SIZE, "duration.size", false, LAYOUT_T_DURATION, "#size")                      \
	X(INSTANT_SECS, "instant.secs", false, LAYOUT_T_INSTANT, "__0.t.tv_sec")                  \
	X(INSTANT_NANOS, "instant.nanos", false, LAYOUT_T_INSTANT, "__0.t.tv_nsec")

/* CircuitInner of the root, src/circuit/circuit_builder.rs, with the counts of its Rc */
#define LAYOUT_ROOT_ITEMS(X)                                                                     \
	X(ROOT_SIZE, "root_circuit.size", true, LAYOUT_T_ROOT, "#size")                          \
	X(ROOT_STRONG, "root_circuit.strong", true, LAYOUT_T_ROOT, "strong")                     \
	X(ROOT_WEAK, "root_circuit.weak", true, LAYOUT_T_ROOT, "weak")                           \
	X(ROOT_PARENT_TAG, "root_circuit.root.tag", true, LAYOUT_T_ROOT, "value.root!tag")       \
	X(ROOT_PARENT_TAGSIZE, "root_circuit.root.tagsize", true, LAYOUT_T_ROOT,                 \
	  "value.root!tagsize")                                                                  \
	X(ROOT_PARENT_IS_NONE, "root_circuit.root.is_none", true, LAYOUT_T_ROOT,                 \
	  "value.root!is=None")                                                                  \
	X(ROOT_NODE_ID, "root_circuit.node_id", true, LAYOUT_T_ROOT, "value.node_id")            \
	X(ROOT_GLOBAL_ID, "root_circuit.global_node_id", true, LAYOUT_T_ROOT,                    \
	  "value.global_node_id")                                                                \
	X(ROOT_NODES_BORROW, "root_circuit.nodes.borrow", true, LAYOUT_T_ROOT,                   \
	  "value.nodes.borrow")                                                                  \
	X(ROOT_NODES, "root_circuit.nodes", true, LAYOUT_T_ROOT, "value.nodes.value")            \
	X(ROOT_CIRCUIT_HANDLERS, "root_circuit.circuit_event_handlers", true, LAYOUT_T_ROOT,     \
	  "value.circuit_event_handlers.ptr")                                                    \
	X(ROOT_SCHEDULER_HANDLERS, "root_circuit.scheduler_event_handlers", true, LAYOUT_T_ROOT, \
	  "value.scheduler_event_handlers.ptr")

/* The same of nested circuits */
#define LAYOUT_NESTED_ITEMS(X)                                                                     \
	X(NESTED_SIZE, "nested_circuit.size", false, LAYOUT_T_NESTED, "#size")                     \
	X(NESTED_STRONG, "nested_circuit.strong", false, LAYOUT_T_NESTED, "strong")                \
	X(NESTED_WEAK, "nested_circuit.weak", false, LAYOUT_T_NESTED, "weak")                      \
	X(NESTED_ROOT, "nested_circuit.root", false, LAYOUT_T_NESTED, "value.root?Some.__0.inner") \
	X(NESTED_GLOBAL_ID, "nested_circuit.global_node_id", false, LAYOUT_T_NESTED,               \
	  "value.global_node_id")                                                                  \
	X(NESTED_NODES_BORROW, "nested_circuit.nodes.borrow", false, LAYOUT_T_NESTED,              \
	  "value.nodes.borrow")                                                                    \
	X(NESTED_NODES, "nested_circuit.nodes", false, LAYOUT_T_NESTED, "value.nodes.value")       \
	X(NODE_CELL_SIZE, "node_cell.size", false, LAYOUT_T_NODE_CELL, "#size")                    \
	X(NODE_CELL_POINTER, "node_cell.pointer", false, LAYOUT_T_NODE_CELL,                       \
	  "value.value.pointer")                                                                   \
	X(CHILD_NODE_SIZE, "child_node.size", false, LAYOUT_T_CHILD_NODE, "#size")                 \
	X(CHILD_NODE_ID, "child_node.id", false, LAYOUT_T_CHILD_NODE, "id")                        \
	X(CHILD_NODE_CIRCUIT, "child_node.circuit", false, LAYOUT_T_CHILD_NODE,                    \
	  "circuit.inner.ptr")                                                                     \
	X(CHILD_NODE_EXECUTOR, "child_node.executor", false, LAYOUT_T_CHILD_NODE,                  \
	  "executor.pointer")                                                                      \
	X(CHILD_NODE_EXECUTOR_VTABLE, "child_node.executor_vtable", false, LAYOUT_T_CHILD_NODE,    \
	  "executor.vtable")

/* Event handlers: HashMap<String, Box<dyn Fn(..)>>, and what the closures hold */
#define LAYOUT_HANDLERS_ITEMS(X)                                                                 \
	X(HANDLERS_SIZE, "event_handlers.size", true, LAYOUT_T_HANDLERS, "#size")                \
	X(HANDLERS_STRONG, "event_handlers.strong", true, LAYOUT_T_HANDLERS, "strong")           \
	X(HANDLERS_TABLE, "event_handlers.table", true, LAYOUT_T_HANDLERS,                       \
	  "value.value.value.base.table.table")                                                  \
	X(HANDLER_SIZE, "event_handler.size", true, LAYOUT_T_HANDLER, "#size")                   \
	X(HANDLER_NAME, "event_handler.name", true, LAYOUT_T_HANDLER, "__0.vec")                 \
	X(HANDLER_CLOSURE, "event_handler.closure", true, LAYOUT_T_HANDLER, "__1.pointer")       \
	X(MONITOR_CLOSURE, "monitor_closure.this", true, LAYOUT_T_MONITOR_CLOSURE, "this.ptr")   \
	X(PROFILER_CLOSURE, "cpu_profiler_closure.self_clone", false, LAYOUT_T_PROFILER_CLOSURE, \
	  "self_clone__0.ptr")

/* TraceMonitorInternal, src/monitor.rs, and the graph, src/monitor/circuit_graph.rs */
#define LAYOUT_GRAPH_ITEMS(X)                                                                      \
	X(MONITOR_SIZE, "trace_monitor.size", true, LAYOUT_T_MONITOR, "#size")                     \
	X(MONITOR_STRONG, "trace_monitor.strong", true, LAYOUT_T_MONITOR, "strong")                \
	X(MONITOR_BORROW, "trace_monitor.borrow", true, LAYOUT_T_MONITOR, "value.borrow")          \
	X(MONITOR_ROOT, "trace_monitor.circuit.nodes", true, LAYOUT_T_MONITOR,                     \
	  "value.value.value.circuit.nodes")                                                       \
	X(MONITOR_EDGES, "trace_monitor.circuit.edges", true, LAYOUT_T_MONITOR,                    \
	  "value.value.value.circuit.edges.base.table.table")                                      \
	X(MONITOR_SCOPE, "trace_monitor.current_scope", true, LAYOUT_T_MONITOR,                    \
	  "value.value.value.current_scope")                                                       \
	X(NODE_SIZE, "node.size", true, LAYOUT_T_NODE, "#size")                                    \
	X(NODE_ID, "node.id", true, LAYOUT_T_NODE, "id")                                           \
	X(NODE_NAME, "node.name", true, LAYOUT_T_NODE, "name")                                     \
	X(NODE_LOCATION, "node.location", true, LAYOUT_T_NODE, "location")                         \
	X(NODE_KIND_TAG, "node.kind.tag", true, LAYOUT_T_NODE, "kind!tag")                         \
	X(NODE_KIND_TAGSIZE, "node.kind.tagsize", true, LAYOUT_T_NODE, "kind!tagsize")             \
	X(NODE_IS_OPERATOR, "node.kind.is_operator", true, LAYOUT_T_NODE, "kind!is=Operator")      \
	X(NODE_IS_CIRCUIT, "node.kind.is_circuit", false, LAYOUT_T_NODE, "kind!is=Circuit")        \
	X(NODE_IS_STRICT_INPUT, "node.kind.is_strict_input", true, LAYOUT_T_NODE,                  \
	  "kind!is=StrictInput")                                                                   \
	X(NODE_IS_STRICT_OUTPUT, "node.kind.is_strict_output", true, LAYOUT_T_NODE,                \
	  "kind!is=StrictOutput")                                                                  \
	X(NODE_ITERATIVE, "node.circuit.iterative", true, LAYOUT_T_NODE, "kind?Circuit.iterative") \
	X(NODE_CHILDREN, "node.circuit.children", true, LAYOUT_T_NODE,                             \
	  "kind?Circuit.children.base.table.table")                                                \
	X(NODE_REGION, "node.circuit.region", true, LAYOUT_T_NODE, "kind?Circuit.region")          \
	X(NODE_OUTPUT, "node.strict_input.output", true, LAYOUT_T_NODE, "kind?StrictInput.output") \
	X(CHILD_ENTRY_SIZE, "node_entry.size", true, LAYOUT_T_NODE_ENTRY, "#size")                 \
	X(CHILD_ENTRY_ID, "node_entry.id", true, LAYOUT_T_NODE_ENTRY, "__0")                       \
	X(CHILD_ENTRY_NODE, "node_entry.node", true, LAYOUT_T_NODE_ENTRY, "__1")                   \
	X(REGION_SIZE, "region.size", true, LAYOUT_T_REGION, "#size")                              \
	X(REGION_ID, "region.id", true, LAYOUT_T_REGION, "id")                                     \
	X(REGION_NODES, "region.nodes", true, LAYOUT_T_REGION, "nodes")                            \
	X(REGION_NAME, "region.name", true, LAYOUT_T_REGION, "name")                               \
	X(REGION_LOCATION, "region.location", true, LAYOUT_T_REGION, "location")                   \
	X(REGION_CHILDREN, "region.children", true, LAYOUT_T_REGION, "children")                   \
	X(EDGES_ENTRY_SIZE, "edges_entry.size", true, LAYOUT_T_EDGES_ENTRY, "#size")               \
	X(EDGES_ENTRY_FROM, "edges_entry.from", true, LAYOUT_T_EDGES_ENTRY, "__0")                 \
	X(EDGES_ENTRY_TO, "edges_entry.to", true, LAYOUT_T_EDGES_ENTRY, "__1")                     \
	X(EDGE_SIZE, "edge.size", true, LAYOUT_T_EDGE, "#size")                                    \
	X(EDGE_TO, "edge.to", true, LAYOUT_T_EDGE, "__0")                                          \
	X(EDGE_KIND_TAG, "edge.kind.tag", true, LAYOUT_T_EDGE, "__1!tag")                          \
	X(EDGE_KIND_TAGSIZE, "edge.kind.tagsize", true, LAYOUT_T_EDGE, "__1!tagsize")              \
	X(EDGE_IS_STREAM, "edge.kind.is_stream", true, LAYOUT_T_EDGE, "__1!is=Stream")             \
	X(EDGE_IS_DEPENDENCY, "edge.kind.is_dependency", true, LAYOUT_T_EDGE, "__1!is=Dependency")

/* CircuitHandle, RuntimeIdle (src/profile/cpu.rs), schedulers */
#define LAYOUT_SCHEDULE_ITEMS(X)                                                                  \
	X(HANDLE_SIZE, "circuit_handle.size", false, LAYOUT_T_HANDLE, "#size")                    \
	X(HANDLE_CIRCUIT, "circuit_handle.circuit", false, LAYOUT_T_HANDLE, "circuit.inner.ptr")  \
	X(HANDLE_EXECUTOR, "circuit_handle.executor", false, LAYOUT_T_HANDLE, "executor.pointer") \
	X(HANDLE_EXECUTOR_VTABLE, "circuit_handle.executor_vtable", false, LAYOUT_T_HANDLE,       \
	  "executor.vtable")                                                                      \
	X(HANDLE_IDLE, "circuit_handle.runtime_idle", false, LAYOUT_T_HANDLE, "runtime_idle")     \
	X(IDLE_BASE, "runtime_idle.base", false, LAYOUT_T_IDLE, "base")                           \
	X(IDLE_PARK_START, "runtime_idle.park_start", false, LAYOUT_T_IDLE, "park_start.ptr")     \
	X(IDLE_TOTAL, "runtime_idle.total", false, LAYOUT_T_IDLE, "total.ptr")                    \
	X(IDLE_BY_REASON, "runtime_idle.by_reason", false, LAYOUT_T_IDLE, "by_reason.ptr")        \
	X(IDLE_PARK_REASON, "runtime_idle.park_reason", false, LAYOUT_T_IDLE, "park_reason.ptr")  \
	X(ARC_STRONG, "arc.strong", false, LAYOUT_T_ARC, "strong")                                \
	X(ARC_DATA, "arc.data", false, LAYOUT_T_ARC, "data")                                      \
	X(SCHEDULER_SIZE, "dynamic_scheduler.size", false, LAYOUT_T_SCHEDULER, "#size")           \
	X(SCHEDULER_TAG, "dynamic_scheduler.tag", false, LAYOUT_T_SCHEDULER, "__0!tag")           \
	X(SCHEDULER_TAGSIZE, "dynamic_scheduler.tagsize", false, LAYOUT_T_SCHEDULER,              \
	  "__0!tagsize")                                                                          \
	X(SCHEDULER_IS_NONE, "dynamic_scheduler.is_none", false, LAYOUT_T_SCHEDULER,              \
	  "__0!is=None")                                                                          \
	X(SCHEDULER_IS_SOME, "dynamic_scheduler.is_some", false, LAYOUT_T_SCHEDULER,              \
	  "__0!is=Some")                                                                          \
	X(SCHEDULER_BORROW, "dynamic_scheduler.borrow", false, LAYOUT_T_SCHEDULER,                \
	  "__0?Some.__0.borrow")                                                                  \
	X(SCHEDULER_TASKS, "dynamic_scheduler.tasks", false, LAYOUT_T_SCHEDULER,                  \
	  "__0?Some.__0.value.value.tasks.base.table.table")                                      \
	X(SCHEDULER_FRESH, "dynamic_scheduler.before_first_step", false, LAYOUT_T_SCHEDULER,      \
	  "__0?Some.__0.value.value.before_first_step")

/* CPUProfilerInner, src/profile/cpu.rs */
#define LAYOUT_PROFILER_ITEMS(X)                                                                   \
	X(PROFILER_SIZE, "cpu_profiler.size", false, LAYOUT_T_PROFILER, "#size")                   \
	X(PROFILER_STRONG, "cpu_profiler.strong", false, LAYOUT_T_PROFILER, "strong")              \
	X(PROFILER_OPERATORS, "cpu_profiler.operators", false, LAYOUT_T_PROFILER,                  \
	  "value.value.value.operators.table.table")                                               \
	X(PROFILER_CIRCUITS, "cpu_profiler.circuit_profiles", false, LAYOUT_T_PROFILER,            \
	  "value.value.value.circuit_profiles.table.table")                                        \
	X(PROFILER_STARTS, "cpu_profiler.step_start_times", false, LAYOUT_T_PROFILER,              \
	  "value.value.value.step_start_times.table.table")                                        \
	X(PROFILER_ENDS, "cpu_profiler.step_end_times", false, LAYOUT_T_PROFILER,                  \
	  "value.value.value.step_end_times.table.table")                                          \
	X(OPERATOR_ENTRY_SIZE, "operator_profile.size", false, LAYOUT_T_OPERATOR_ENTRY, "#size")   \
	X(OPERATOR_ENTRY_ID, "operator_profile.id", false, LAYOUT_T_OPERATOR_ENTRY, "__0")         \
	X(OPERATOR_INVOCATIONS, "operator_profile.invocations", false, LAYOUT_T_OPERATOR_ENTRY,    \
	  "__1.invocations")                                                                       \
	X(OPERATOR_REAL, "operator_profile.real_time", false, LAYOUT_T_OPERATOR_ENTRY,             \
	  "__1.real_time")                                                                         \
	X(OPERATOR_CPU, "operator_profile.cpu_time", false, LAYOUT_T_OPERATOR_ENTRY,               \
	  "__1.cpu_time")                                                                          \
	X(PROFILE_ENTRY_SIZE, "circuit_profile.size", false, LAYOUT_T_PROFILE_ENTRY, "#size")      \
	X(PROFILE_ENTRY_ID, "circuit_profile.id", false, LAYOUT_T_PROFILE_ENTRY, "__0")            \
	X(PROFILE_STEPS, "circuit_profile.steps", false, LAYOUT_T_PROFILE_ENTRY,                   \
	  "__1.step_profile.invocations")                                                          \
	X(PROFILE_STEP_REAL, "circuit_profile.step.real_time", false, LAYOUT_T_PROFILE_ENTRY,      \
	  "__1.step_profile.real_time")                                                            \
	X(PROFILE_STEP_CPU, "circuit_profile.step.cpu_time", false, LAYOUT_T_PROFILE_ENTRY,        \
	  "__1.step_profile.cpu_time")                                                             \
	X(PROFILE_WAIT_REAL, "circuit_profile.wait.real_time", false, LAYOUT_T_PROFILE_ENTRY,      \
	  "__1.wait_profile.real_time")                                                            \
	X(PROFILE_WAIT_BY_REASON, "circuit_profile.wait_by_reason", false, LAYOUT_T_PROFILE_ENTRY, \
	  "__1.wait_by_reason")                                                                    \
	X(PROFILE_IDLE_REAL, "circuit_profile.idle.real_time", false, LAYOUT_T_PROFILE_ENTRY,      \
	  "__1.idle_profile.real_time")                                                            \
	X(START_ENTRY_SIZE, "step_start_time.size", false, LAYOUT_T_START_ENTRY, "#size")          \
	X(START_ENTRY_ID, "step_start_time.id", false, LAYOUT_T_START_ENTRY, "__0")                \
	X(START_INSTANT, "step_start_time.instant", false, LAYOUT_T_START_ENTRY, "__1")

/* The same: what the clocks of open steps showed when they began */
#define LAYOUT_BASELINE_ITEMS(X)                                                                   \
	X(PROFILER_START_CPU, "cpu_profiler.step_start_cpu", false, LAYOUT_T_PROFILER,             \
	  "value.value.value.step_start_cpu.table.table")                                          \
	X(PROFILER_START_WAIT, "cpu_profiler.step_start_idle", false, LAYOUT_T_PROFILER,           \
	  "value.value.value.step_start_idle.table.table")                                         \
	X(PROFILER_START_REASONS, "cpu_profiler.step_start_idle_by_reason", false,                 \
	  LAYOUT_T_PROFILER, "value.value.value.step_start_idle_by_reason.table.table")            \
	X(CLOCK_ENTRY_SIZE, "step_start_clock.size", false, LAYOUT_T_CLOCK_ENTRY, "#size")         \
	X(CLOCK_ENTRY_ID, "step_start_clock.id", false, LAYOUT_T_CLOCK_ENTRY, "__0")               \
	X(CLOCK_DURATION, "step_start_clock.duration", false, LAYOUT_T_CLOCK_ENTRY, "__1")         \
	X(REASONS_ENTRY_SIZE, "step_start_reasons.size", false, LAYOUT_T_REASONS_ENTRY, "#size")   \
	X(REASONS_ENTRY_ID, "step_start_reasons.id", false, LAYOUT_T_REASONS_ENTRY, "__0")         \
	X(REASONS_DURATIONS, "step_start_reasons.durations", false, LAYOUT_T_REASONS_ENTRY, "__1") \
	X(PROFILE_IDLES, "circuit_profile.idle.invocations", false, LAYOUT_T_PROFILE_ENTRY,        \
	  "__1.idle_profile.invocations")

/* What the probes in a step find their circuit by: dynamic_scheduler.rs, both `step`s */
#define LAYOUT_STEP_ITEMS(X)                                                                      \
	X(STEP_CIRCUIT, "step_future.circuit", true, LAYOUT_T_STEP_FUTURE, "?0.circuit")          \
	X(CHILD_CIRCUIT_INNER, "child_circuit.inner", true, LAYOUT_T_CHILD_CIRCUIT, "inner.ptr")  \
	X(EVENT_TAG, "scheduler_event.tag", false, LAYOUT_T_EVENT, "!tag")                        \
	X(EVENT_TAGSIZE, "scheduler_event.tagsize", false, LAYOUT_T_EVENT, "!tagsize")            \
	X(EVENT_IS_STEP_START, "scheduler_event.is_step_start", false, LAYOUT_T_EVENT,            \
	  "!is=StepStart")                                                                        \
	X(EVENT_IS_STEP_END, "scheduler_event.is_step_end", false, LAYOUT_T_EVENT, "!is=StepEnd") \
	X(EVENT_START_CIRCUIT, "scheduler_event.step_start.circuit_id", false, LAYOUT_T_EVENT,    \
	  "?StepStart.circuit_id")                                                                \
	X(EVENT_END_CIRCUIT, "scheduler_event.step_end.circuit_id", false, LAYOUT_T_EVENT,        \
	  "?StepEnd.circuit_id")

/*
 * What an operator is found by while it runs: Inner::spawn_task(), dynamic_scheduler.rs. What an
 * async block captures keeps its place in all of the block's states.
 */
#define LAYOUT_TASK_ITEMS(X)                                                           \
	X(TASK_CIRCUIT, "task_future.circuit", false, LAYOUT_T_TASK_FUTURE,            \
	  "?0.circuit.inner.ptr")                                                      \
	X(TASK_NODE, "task_future.node_id", false, LAYOUT_T_TASK_FUTURE, "?0.node_id") \
	X(TIMED_REAL, "timed.elapsed.real", false, LAYOUT_T_TIMED, "elapsed.real")     \
	X(TIMED_CPU, "timed.elapsed.cpu", false, LAYOUT_T_TIMED, "elapsed.cpu")

#define LAYOUT_ITEM_LIST(X)      \
	LAYOUT_STD_ITEMS(X)      \
	LAYOUT_ROOT_ITEMS(X)     \
	LAYOUT_NESTED_ITEMS(X)   \
	LAYOUT_HANDLERS_ITEMS(X) \
	LAYOUT_GRAPH_ITEMS(X)    \
	LAYOUT_SCHEDULE_ITEMS(X) \
	LAYOUT_STEP_ITEMS(X)     \
	LAYOUT_TASK_ITEMS(X)     \
	LAYOUT_PROFILER_ITEMS(X) \
	LAYOUT_BASELINE_ITEMS(X)

enum layout_item {
#define X(id, name, required, type, path) LAYOUT_##id,
	LAYOUT_ITEM_LIST(X)
#undef X
		LAYOUT_ITEMS
};

#endif
