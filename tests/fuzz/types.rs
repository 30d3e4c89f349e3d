// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//! Types that bear the names of some of DBSP's, for debug info of a size that can be fuzzed.
#![no_std]
#![allow(dead_code, private_interfaces)]
extern crate alloc;

pub mod circuit {
    pub mod circuit_builder {
        use alloc::borrow::Cow;
        use alloc::boxed::Box;
        use alloc::rc::Rc;
        use alloc::vec::Vec;
        use core::cell::{Cell, RefCell};

        #[derive(Clone)]
        pub struct NodeId(pub usize);
        #[derive(Clone)]
        pub struct GlobalNodeId(pub Vec<NodeId>);

        pub trait Node {
            fn name(&self) -> Cow<'static, str>;
        }

        pub struct CircuitInner<P> {
            pub parent: P,
            pub root: Option<Rc<CircuitInner<()>>>,
            pub node_id: NodeId,
            pub global_node_id: GlobalNodeId,
            pub nodes: RefCell<Vec<RefCell<Box<dyn Node>>>>,
            pub open: Cell<bool>,
        }

        pub struct CircuitHandle {
            pub circuit: Rc<CircuitInner<()>>,
            pub idle: crate::profile::cpu::RuntimeIdle,
        }
    }
    pub mod trace {
        pub enum EdgeKind {
            Dependency,
            Stream(usize),
        }
    }
}

pub mod profile {
    pub mod cpu {
        use alloc::sync::Arc;
        use core::sync::atomic::AtomicU64;
        use core::time::Duration;

        pub struct RuntimeIdle {
            pub park_start: Arc<AtomicU64>,
            pub total: Arc<AtomicU64>,
        }
        pub struct OperatorCPUProfile {
            pub invocations: usize,
            pub real: Duration,
        }
    }
}

pub mod monitor {
    use crate::circuit::circuit_builder::{GlobalNodeId, NodeId};
    use crate::circuit::trace::EdgeKind;
    use alloc::borrow::Cow;
    use alloc::collections::BTreeMap;
    use alloc::vec::Vec;
    use core::cell::RefCell;
    use core::panic::Location;

    pub mod circuit_graph {
        use super::*;

        pub enum NodeKind {
            Operator,
            Circuit { iterative: bool, children: BTreeMap<usize, Node>, region: Region },
            StrictInput { output: NodeId },
        }
        pub struct Region {
            pub id: Vec<usize>,
            pub nodes: Vec<NodeId>,
            pub name: Cow<'static, str>,
            pub location: Option<&'static Location<'static>>,
            pub children: Vec<Region>,
        }
        pub struct Node {
            pub id: GlobalNodeId,
            pub name: Cow<'static, str>,
            pub location: Option<&'static Location<'static>>,
            pub kind: NodeKind,
        }
    }

    pub struct TraceMonitorInternal {
        pub root: circuit_graph::Node,
        pub edges: Vec<(GlobalNodeId, EdgeKind)>,
        pub scope: Vec<usize>,
    }

    #[unsafe(no_mangle)]
    pub fn look(
        monitor: &RefCell<TraceMonitorInternal>,
        handle: &crate::circuit::circuit_builder::CircuitHandle,
        profile: &(GlobalNodeId, crate::profile::cpu::OperatorCPUProfile),
    ) -> usize {
        let monitor = monitor.borrow();
        let circuit = &handle.circuit;
        let nodes = circuit.nodes.borrow().len();
        monitor.edges.len() + nodes + profile.1.invocations + circuit.node_id.0
    }
}
