use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::os::fd::OwnedFd;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use carat_link::{Inbox, Outbox};
use carat_wire::control::{Collected, PartMessage, Stack, decode_load};
use carat_wire::{Frame, Hello, Kind, Malformed};
use tokio::task::spawn_local;

use crate::supervise::messages::{Mailbox, Message, ProfileMessage, StatsMessage};
use carat_dispatch::FrameTransport;
use carat_http::PartList;
use carat_log::{LaneTag, WorkerId};
use carat_supervisor::{AppEvent, Event, ProcessEvent, RubyProcess, StackReport, WorkerEvent};

/// The edge's end of a control socket. Dropping it closes the socket, which ends the process.
pub(crate) struct Channel {
    outgoing: Rc<RefCell<Outgoing>>,
    process: Rc<Cell<RubyProcess>>,
}

#[derive(Default)]
struct Outgoing {
    outbox: Outbox,
    waker: Option<Waker>,
}

impl Channel {
    /// Serves the socket until either side closes it. Messages go to the supervisor, or to a part.
    pub(crate) fn open(
        socket: impl FrameTransport + 'static,
        process: RubyProcess,
        mailbox: Mailbox,
        parts: Rc<PartList>,
    ) -> Channel {
        let outgoing = Rc::new(RefCell::new(Outgoing::default()));
        let weak = Rc::downgrade(&outgoing);
        let process = Rc::new(Cell::new(process));
        let (current, ended) = (Rc::clone(&process), weak.clone());
        spawn_local(async move {
            let mut inbox = Inbox::default();
            let deliver = |frame: Frame<'_>| {
                if frame.kind == Kind::PartMessage {
                    let message = PartMessage::decode(frame.payload)?;
                    parts.deliver(message.part, message.subject, message.content);
                    return Ok(());
                }
                // If the process has ended, only the messages to parts that it sent before still count.
                if ended.strong_count() == 0 {
                    return Ok(());
                }
                // A stack from a worker that has become the mold is late: its request has ended.
                if frame.kind == Kind::Stack && matches!(current.get(), RubyProcess::Mold(_)) {
                    return Ok(());
                }
                message_of(current.get(), frame).map(|message| mailbox.send(message))
            };
            poll_fn(|cx| poll(cx, &weak, &socket, &mut inbox, deliver)).await;
            mailbox.event(Event::Process(ProcessEvent::Closed(current.get())));
        });
        Channel { outgoing, process }
    }

    /// Gives the process another identity, which its messages carry from now on.
    pub(crate) fn rename(&self, process: RubyProcess) {
        self.process.set(process);
    }

    /// Sends the frame that `encode` appends, and descriptors with it.
    pub(crate) fn send(&self, descriptors: Vec<OwnedFd>, encode: impl FnOnce(&mut Vec<u8>)) {
        let mut outgoing = self.outgoing.borrow_mut();
        for descriptor in descriptors {
            outgoing.outbox.attach(descriptor);
        }
        encode(outgoing.outbox.buffer());
        if let Some(waker) = outgoing.waker.take() {
            waker.wake();
        }
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        // The task sees that the channel is gone, and ends.
        if let Some(waker) = self.outgoing.borrow_mut().waker.take() {
            waker.wake();
        }
    }
}

/// Reads and sends. Ready when the socket is closed or broken; in both cases the process is replaced.
fn poll(
    cx: &mut Context<'_>,
    outgoing: &Weak<RefCell<Outgoing>>,
    socket: &impl FrameTransport,
    inbox: &mut Inbox,
    deliver: impl Fn(Frame<'_>) -> Result<(), Malformed>,
) -> Poll<()> {
    while let Poll::Ready(open) = socket.poll_fill(cx, inbox) {
        let is_open = open.is_ok_and(|open| open) && deliver_all(inbox, &deliver).is_ok();
        if !is_open {
            return Poll::Ready(());
        }
    }
    let Some(outgoing) = outgoing.upgrade() else {
        return Poll::Ready(());
    };
    let mut outgoing = outgoing.borrow_mut();
    let flushed = socket.poll_flush(cx, &mut outgoing.outbox);
    outgoing.waker = Some(cx.waker().clone());
    match flushed {
        Poll::Ready(Err(_)) => Poll::Ready(()),
        _ => Poll::Pending,
    }
}

fn deliver_all(
    inbox: &mut Inbox,
    deliver: impl Fn(Frame<'_>) -> Result<(), Malformed>,
) -> Result<(), Malformed> {
    while let Some(frame) = inbox.frames.next()? {
        deliver(frame)?;
    }
    Ok(())
}

fn message_of(process: RubyProcess, frame: Frame<'_>) -> Result<Message, Malformed> {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let event = match (frame.kind, process) {
        (Kind::Hello, _) => {
            let hello = Hello::decode(frame.payload)?;
            if hello.version != carat_wire::VERSION {
                return Err(Malformed::BadValue("version"));
            }
            let pid = hello.pid;
            Event::Process(ProcessEvent::Hello { process, pid })
        }
        (Kind::Ready, _) => Event::Process(ProcessEvent::Ready(process)),
        (Kind::BootFailed, _) => Event::Process(ProcessEvent::BootFailed {
            process,
            cause: text(frame.payload),
        }),
        (Kind::Stats | Kind::Profile, _) | (Kind::Sources, RubyProcess::Mold(_)) => {
            return Ok(report_of(process, frame.kind, text(frame.payload)));
        }
        (Kind::NotForkSafe, RubyProcess::Mold(generation)) => {
            let cause = text(frame.payload);
            Event::Process(ProcessEvent::NotForkSafe { generation, cause })
        }
        (Kind::NotForkSafe, RubyProcess::Worker(worker)) => {
            Event::Worker(WorkerEvent::ForkSafety {
                worker,
                result: Err(text(frame.payload)),
            })
        }
        (Kind::ForkSafe, RubyProcess::Worker(worker)) => {
            let result = Ok(());
            Event::Worker(WorkerEvent::ForkSafety { worker, result })
        }
        (Kind::Load, RubyProcess::App(meter)) => {
            let load = decode_load(frame.payload)?;
            Event::App(AppEvent::Load { meter, load })
        }
        // The worker may have become the mold in the meantime.
        (Kind::Collected, _) => collected(process, frame.payload)?,
        (Kind::Leaving, RubyProcess::Worker(worker)) => Event::Worker(WorkerEvent::Leaving(worker)),
        // A worker that is becoming the mold got a signal to end.
        (Kind::Leaving, RubyProcess::Mold(_)) => Event::Process(ProcessEvent::Closed(process)),
        (Kind::Stack, RubyProcess::Worker(worker)) => {
            return Ok(Message::Stack(stack_report(worker, frame.payload)?));
        }
        _ => return Err(Malformed::BadValue("kind of frame on a control socket")),
    };
    Ok(Message::Event(event))
}

fn collected(process: RubyProcess, payload: &[u8]) -> Result<Event, Malformed> {
    let micros = Collected::decode(payload)?.micros;
    let took = Duration::from_micros(micros.into());
    Ok(Event::Process(ProcessEvent::Collected { process, took }))
}

fn stack_report(worker: WorkerId, payload: &[u8]) -> Result<StackReport, Malformed> {
    let report = Stack::decode(payload)?;
    let text = String::from_utf8_lossy(report.text);
    let (waits_for, stack) = text.split_once('\n').unwrap_or((&text, ""));
    let lane = report.lane;
    Ok(StackReport {
        tag: LaneTag { worker, lane },
        request: report.request,
        waits_for: waits_for.to_owned(),
        stack: stack.to_owned(),
    })
}

/// A message whose content is JSON.
fn report_of(process: RubyProcess, kind: Kind, json: String) -> Message {
    match kind {
        Kind::Stats => Message::Stats(StatsMessage::Reply { process, json }),
        Kind::Profile => Message::Profile(ProfileMessage::Reply { process, json }),
        _ => Message::Sources(json),
    }
}
