use carat_lane::AppOrder;

/// A further process of the application: what it was forked for, and its progress.
#[derive(Debug)]
pub(crate) struct SimulatedApp {
    pub(crate) order: AppOrder,
    /// Whether the process has said that it is ready, and waits to be told to begin.
    pub(crate) listens: bool,
    /// Whether the process runs the application's block, or measures the load.
    pub(crate) is_running: bool,
    /// Whether the process was told to end.
    pub(crate) is_ending: bool,
    /// The client of the console, once the process has read its order.
    pub(crate) client: Option<usize>,
}

impl SimulatedApp {
    pub(crate) fn new(order: AppOrder) -> SimulatedApp {
        SimulatedApp {
            order,
            listens: false,
            is_running: false,
            is_ending: false,
            client: None,
        }
    }

    /// Whether the process is a console, for which a client of the control socket has asked.
    pub(crate) fn is_console(&self) -> bool {
        self.order.name == "console"
    }

    /// Whether the process measures the load of the others of its name.
    pub(crate) fn is_meter(&self) -> bool {
        self.order.number == 0
    }
}
