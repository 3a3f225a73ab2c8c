//! Ways across a graph of links.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use ackclock_units::Duration;

use super::Wire;
use crate::error::ScenarioError;

/// The trees that are kept: a tree of ten thousand nodes takes 0.5 MB.
const MOST_TREES: usize = 500;

/// Nodes by name, and the wires that leave each.
pub(super) struct Graph<'a> {
    nodes: BTreeMap<&'a str, usize>,
    /// For each node: (wire, node at its end, delay).
    leaving: Vec<Vec<(usize, usize, Duration)>>,
    /// The trees of the nodes that were asked for.
    trees: RefCell<BTreeMap<usize, Tree>>,
}

/// The best paths from one node to all others: for each the delay, the number of links, and the last wire with the node
/// where it begins; `None` where no path leads.
type Tree = Vec<Option<(Duration, u32, Option<(usize, usize)>)>>;

impl<'a> Graph<'a> {
    pub(super) fn new(links: impl Iterator<Item = (&'a str, &'a str)>, wires: &[Wire]) -> Self {
        let mut graph = Self {
            nodes: BTreeMap::new(),
            leaving: Vec::new(),
            trees: RefCell::new(BTreeMap::new()),
        };
        for (n, (from, to)) in links.enumerate() {
            let (from, to) = (graph.add(from), graph.add(to));
            graph.leaving[from].push((2 * n, to, wires[2 * n].config.delay));
            graph.leaving[to].push((2 * n + 1, from, wires[2 * n + 1].config.delay));
        }
        graph
    }

    fn add(&mut self, name: &'a str) -> usize {
        let next = self.leaving.len();
        let node = *self.nodes.entry(name).or_insert(next);
        if node == next {
            self.leaving.push(Vec::new());
        }
        node
    }

    fn node(&self, name: &str) -> Option<usize> {
        self.nodes.get(name).copied()
    }

    /// The path between two nodes and the one back; `key` is the table that names them.
    pub(super) fn there_and_back(
        &self,
        key: &str,
        from: Option<&String>,
        to: Option<&String>,
    ) -> Result<[Vec<usize>; 2], ScenarioError> {
        let node = |word: &str, name: Option<&String>| {
            let key = format!("{key}.{word}");
            let name = name.ok_or_else(|| {
                ScenarioError::new(&key, "missing: in a graph the node is named here")
            })?;
            self.node(name).ok_or_else(|| {
                ScenarioError::unknown(&key, "node", name, self.nodes.keys().copied())
            })
        };
        let (from, to) = (node("from", from)?, node("to", to)?);
        let key = format!("{key}.to");
        if from == to {
            return Err(ScenarioError::new(&key, "expected another node than `from`"));
        }
        let path = |from, to| {
            self.shortest(from, to).ok_or_else(|| {
                ScenarioError::new(&key, "there is no path to this node from `from`")
            })
        };
        Ok([path(from, to)?, path(to, from)?])
    }

    /// The wires of the path of least delay, then of fewest links, then of the links named first.
    fn shortest(&self, from: usize, to: usize) -> Option<Vec<usize>> {
        let mut trees = self.trees.borrow_mut();
        if trees.len() >= MOST_TREES && !trees.contains_key(&from) {
            trees.clear();
        }
        let tree = trees.entry(from).or_insert_with(|| self.tree(from));
        tree[to]?;
        Some(path(tree, to))
    }

    /// The best paths from a node (Dijkstra's algorithm).
    fn tree(&self, from: usize) -> Tree {
        let mut tree: Tree = vec![None; self.leaving.len()];
        let mut done = vec![false; self.leaving.len()];
        let mut next = BinaryHeap::new();
        tree[from] = Some((Duration::ZERO, 0, None));
        next.push(Reverse((Duration::ZERO, 0, from)));
        while let Some(Reverse((delay, links, node))) = next.pop() {
            if std::mem::replace(&mut done[node], true) {
                continue;
            }
            for (wire, end, more) in &self.leaving[node] {
                let found = (delay + *more, links + 1);
                let better = tree[*end].is_none_or(|(delay, links, last)| {
                    // A path as good: the links decide, of which the paths have equally many.
                    found < (delay, links)
                        || (found == (delay, links)
                            && last.is_some_and(|(known, at)| {
                                let order = path(&tree, node).cmp(&path(&tree, at));
                                order.then(wire.cmp(&known)).is_lt()
                            }))
                });
                if better && !done[*end] {
                    tree[*end] = Some((found.0, found.1, Some((*wire, node))));
                    next.push(Reverse((found.0, found.1, *end)));
                }
            }
        }
        tree
    }
}

/// The wires of the path that `tree` has to a node.
fn path(tree: &Tree, to: usize) -> Vec<usize> {
    let mut wires = Vec::new();
    let mut at = to;
    while let Some((_, _, Some((wire, before)))) = tree[at] {
        wires.push(wire);
        at = before;
    }
    wires.reverse();
    wires
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A graph of links (from, to, delay in ms), the same both ways.
    fn graph(links: &[(usize, usize, u64)]) -> Graph<'static> {
        const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
        let mut graph = Graph {
            nodes: BTreeMap::new(),
            leaving: Vec::new(),
            trees: RefCell::new(BTreeMap::new()),
        };
        for name in NAMES {
            graph.add(name);
        }
        for (n, (from, to, delay)) in links.iter().enumerate() {
            let delay = Duration::from_millis(*delay);
            graph.leaving[*from].push((2 * n, *to, delay));
            graph.leaving[*to].push((2 * n + 1, *from, delay));
        }
        graph
    }

    /// Every path without a loop.
    fn all(
        graph: &Graph<'_>,
        at: usize,
        to: usize,
        seen: &mut Vec<usize>,
    ) -> Vec<(Duration, Vec<usize>)> {
        if at == to {
            return vec![(Duration::ZERO, Vec::new())];
        }
        seen.push(at);
        let mut found = Vec::new();
        for (wire, end, delay) in &graph.leaving[at] {
            if seen.contains(end) {
                continue;
            }
            for (rest, wires) in all(graph, *end, to, seen) {
                found.push((*delay + rest, [vec![*wire], wires].concat()));
            }
        }
        seen.pop();
        found
    }

    proptest! {
        #[test]
        fn the_path_is_the_best_of_all(
            links in prop::collection::vec((0_usize..6, 0_usize..6, 0_u64..3), 1..12),
        ) {
            let links: Vec<_> = links.into_iter().filter(|(from, to, _)| from != to).collect();
            let graph = graph(&links);
            for from in 0..6 {
                for to in (0..6).filter(|to| *to != from) {
                    let best = all(&graph, from, to, &mut Vec::new())
                        .into_iter()
                        .min_by_key(|(delay, wires)| (*delay, wires.len(), wires.clone()));
                    prop_assert_eq!(graph.shortest(from, to), best.map(|(_, wires)| wires));
                }
            }
        }
    }

    #[test]
    fn trees_that_are_many_are_made_anew() {
        // A ring of a thousand nodes: five steps one way, and the tree of each is asked for.
        let names: Vec<String> = (0..1000).map(|n| format!("n{n}")).collect();
        let wires: Vec<Wire> = Vec::new();
        let mut graph = Graph::new(std::iter::empty(), &wires);
        for name in &names {
            graph.add(name);
        }
        for n in 0..1000 {
            let (to, delay) = ((n + 1) % 1000, Duration::from_millis(1));
            graph.leaving[n].push((2 * n, to, delay));
            graph.leaving[to].push((2 * n + 1, n, delay));
        }
        for n in 0..1000 {
            assert_eq!(graph.shortest(n, (n + 5) % 1000).unwrap().len(), 5);
        }
        assert!(graph.trees.borrow().len() <= MOST_TREES);
    }
}
