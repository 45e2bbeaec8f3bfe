use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use crate::supervise::messages::control_request::{ControlReply, ControlRequest};
use crate::supervise::messages::one_off_message::OneOffMessage;
use crate::supervise::messages::profile_order::{ProfileOrder, ProfileReply};
use crate::supervise::messages::settings_reader::FreshSettings;
use crate::supervise::messages::stats_report::StatsReport;
use carat_supervisor::{Event, RubyProcess, StackReport};

/// A message to the supervisor.
pub(crate) enum Message {
    Event(Event),
    Stats(StatsMessage),
    /// The configuration was read anew, or cannot be.
    Settings(Result<FreshSettings, String>),
    /// The files of the application's code, as JSON, which a mold reports.
    Sources(String),
    /// The new edge has taken over the files of the server, or has ended.
    SuccessorSettled,
    /// A request of a client of the control socket.
    Control(ControlRequest, oneshot::Sender<ControlReply>),
    Profile(ProfileMessage),
    /// A client asks for the stacks of all running requests.
    AskStacks(oneshot::Sender<Value>),
    /// The stack of a request, which a worker reports.
    Stack(StackReport),
    #[allow(dead_code, reason = "a build without parts orders none")]
    OneOff(OneOffMessage),
    LogReopened,
}

/// A message about profiles of workers.
pub(crate) enum ProfileMessage {
    /// A client wants a profile.
    Begin(ProfileOrder, oneshot::Sender<ProfileReply>),
    /// The time of the profile with this number is over.
    TimeIsOver(u64),
    /// The time in which the worker should have sent the profile with this number is over.
    ReplyIsLate(u64),
    /// A client that wanted a profile is gone.
    Abandoned,
    /// A worker sent its profile, a JSON object.
    Reply { process: RubyProcess, json: String },
}

/// A message about the stats of the processes.
pub(crate) enum StatsMessage {
    /// A client asks for the stats of all processes.
    Ask(oneshot::Sender<StatsReport>),
    /// A process replied with its stats, a JSON object.
    Reply { process: RubyProcess, json: String },
    /// The time for replies to the query with this number is over.
    Timeout(u64),
}

/// Sends messages to the supervisor. The channel is unbounded, because each process causes only a few messages.
#[derive(Debug, Clone)]
pub(crate) struct Mailbox(UnboundedSender<Message>);

impl Mailbox {
    pub(crate) fn channel() -> (Mailbox, UnboundedReceiver<Message>) {
        let (sender, receiver) = unbounded_channel();
        (Mailbox(sender), receiver)
    }

    pub(crate) fn send(&self, message: Message) {
        // Without a supervisor the edge is about to exit.
        let _ = self.0.send(message);
    }

    /// Sends a question; `None` when the server is about to exit.
    pub(crate) async fn ask<T>(
        &self,
        question: impl FnOnce(oneshot::Sender<T>) -> Message,
    ) -> Option<T> {
        let (asker, reply) = oneshot::channel();
        self.send(question(asker));
        reply.await.ok()
    }

    pub(crate) fn event(&self, event: Event) {
        self.send(Message::Event(event));
    }
}
