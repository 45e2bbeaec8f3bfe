//! The page's protocol in every interleaving of a worker and the edge, and in every order that the memory model allows.

use std::collections::BTreeSet;
use std::convert::Infallible;

use carat_wire::{Page, Word, is_behind};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, Ordering, fence};

struct LoomWord(AtomicU32);

impl Word for LoomWord {
    type Error = Infallible;

    fn store(&self, id: u32) -> Result<(), Infallible> {
        self.0.store(id, Ordering::Relaxed);
        Ok(())
    }

    fn load(&self) -> Result<u32, Infallible> {
        Ok(self.0.load(Ordering::Relaxed))
    }

    fn fence() {
        fence(Ordering::SeqCst);
    }
}

fn page() -> Arc<Page<LoomWord>> {
    Arc::new(Page::new([0; 3].map(|id| LoomWord(AtomicU32::new(id)))))
}

/// A worker that begins requests 1 to `last`; which of them it ran.
fn work(page: &Arc<Page<LoomWord>>, last: u32) -> loom::thread::JoinHandle<BTreeSet<u32>> {
    let page = Arc::clone(page);
    let begins = move |id: &u32| {
        let Ok(begins) = page.begin(*id);
        begins
    };
    loom::thread::spawn(move || (1..=last).filter(begins).collect())
}

/// The requests through `last` that the edge takes back.
fn recall(page: &Page<LoomWord>, last: u32) -> BTreeSet<u32> {
    let Ok(begun) = page.recall(last);
    (1..=last).filter(|id| is_behind(*id, begun)).collect()
}

#[test]
fn no_request_runs_that_the_edge_has_taken_back() {
    loom::model(|| {
        let page = page();
        let worker = work(&page, 2);
        let taken = recall(&page, 2);
        let ran = worker.join().expect("the worker does not panic");
        assert!(ran.is_disjoint(&taken), "ran {ran:?}, taken back {taken:?}");
    });
}

#[test]
fn the_worker_skips_only_what_was_recalled() {
    loom::model(|| {
        let page = page();
        let worker = work(&page, 3);
        recall(&page, 2);
        let ran = worker.join().expect("the worker does not panic");
        assert!(ran.contains(&3), "ran {ran:?}");
    });
}

#[test]
fn a_second_recall_takes_back_what_came_after_the_first() {
    loom::model(|| {
        let page = page();
        let worker = work(&page, 2);
        let mut taken = recall(&page, 1);
        taken.extend(recall(&page, 2));
        let ran = worker.join().expect("the worker does not panic");
        assert!(ran.is_disjoint(&taken), "ran {ran:?}, taken back {taken:?}");
    });
}

#[test]
fn a_refresh_recalls_nothing() {
    loom::model(|| {
        let page = page();
        let worker = work(&page, 3);
        let Ok(()) = page.refresh_recall();
        let ran = worker.join().expect("the worker does not panic");
        assert_eq!(ran, BTreeSet::from([1, 2, 3]));
    });
}

#[test]
fn a_refresh_keeps_a_recall_of_what_has_not_begun() {
    loom::model(|| {
        let page = page();
        let taken = recall(&page, 2);
        let worker = work(&page, 2);
        let Ok(()) = page.refresh_recall();
        let ran = worker.join().expect("the worker does not panic");
        assert!(ran.is_disjoint(&taken), "ran {ran:?}, taken back {taken:?}");
    });
}
