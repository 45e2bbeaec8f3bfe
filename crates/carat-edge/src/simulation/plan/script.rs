use crate::simulation::plan::random::SeededRandom;

/// A request that a client sends, and how the application treats it.
#[derive(Debug, Clone)]
pub(crate) struct RequestScript {
    pub(crate) method: &'static str,
    pub(crate) body: ScriptedBody,
    /// Microseconds that the application works before it responds.
    pub(crate) work: u64,
    /// Whether the application keeps its thread while it works; with one slot it always does.
    pub(crate) computes: bool,
    pub(crate) reads_body: bool,
    pub(crate) response: ScriptedResponse,
    /// Microseconds for which the application continues to run after its response.
    pub(crate) lingers: u64,
    /// The point at which the worker dies, if it does.
    pub(crate) crash: Option<CrashPoint>,
    /// The client leaves after this many microseconds.
    pub(crate) leaves_after: Option<u64>,
}

/// The body of a request; lengths in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScriptedBody {
    None,
    Inline(usize),
    /// Forwarded while it arrives; the client breaks off after `sent` bytes, if that is less than the length.
    Stream {
        length: usize,
        sent: usize,
    },
}

/// The body of a response; lengths in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScriptedResponse {
    Empty,
    Inline(usize),
    Stream {
        length: usize,
        pause: u64,
        breaks_off: bool,
    },
    /// A response that is not valid HTTP.
    Invalid,
}

/// The point at which a worker dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CrashPoint {
    /// The page says that the request has begun, and the application has not.
    Begin,
    Response,
    /// The response is written and not sent.
    Flush,
}

const NEVER: u64 = 3_600_000_000;

impl RequestScript {
    /// A request of a run, which may be harmful.
    pub(crate) fn random(random: &SeededRandom, is_harmful: bool) -> RequestScript {
        let harm = |of_thousand| is_harmful && random.chance(of_thousand);
        let method = random.pick(&["GET", "GET", "POST", "POST", "POST", "HEAD", "PUT"]);
        let crash = harm(25)
            .then(|| random.pick(&[CrashPoint::Begin, CrashPoint::Response, CrashPoint::Flush]));
        RequestScript {
            method,
            body: body(random, matches!(method, "POST" | "PUT"), is_harmful),
            work: if harm(8) { NEVER } else { work(random) },
            computes: random.chance(300),
            reads_body: random.chance(900),
            response: response(random, is_harmful),
            lingers: if harm(8) { NEVER } else { lingers(random) },
            crash,
            leaves_after: random.chance(80).then(|| random.between(0, 200_000)),
        }
    }

    /// The application's treatment of a command of the cable.
    pub(crate) fn of_command(random: &SeededRandom, is_harmful: bool) -> RequestScript {
        RequestScript {
            method: "POST",
            body: ScriptedBody::None,
            response: ScriptedResponse::Empty,
            ..RequestScript::random(random, is_harmful)
        }
    }
}

fn work(random: &SeededRandom) -> u64 {
    match random.below(100) {
        0..60 => random.below(300),
        60..85 => random.between(300, 8_000),
        85..97 => random.between(8_000, 150_000),
        _ => random.between(150_000, 1_500_000),
    }
}

fn lingers(random: &SeededRandom) -> u64 {
    match random.below(100) {
        0..90 => 0,
        90..95 => random.below(300),
        _ => work(random),
    }
}

fn body(random: &SeededRandom, has_body: bool, is_harmful: bool) -> ScriptedBody {
    if !has_body {
        return ScriptedBody::None;
    }
    let length = length(random);
    if random.chance(500) {
        return ScriptedBody::Inline(length.max(1));
    }
    let breaks_off = is_harmful && random.chance(150);
    let sent = if breaks_off { length / 2 } else { length };
    ScriptedBody::Stream { length, sent }
}

fn response(random: &SeededRandom, is_harmful: bool) -> ScriptedResponse {
    match random.below(100) {
        0..20 => ScriptedResponse::Empty,
        20..70 => ScriptedResponse::Inline(length(random)),
        70..98 => ScriptedResponse::Stream {
            length: length(random),
            pause: random.pick(&[0, 0, 200, 5_000, 40_000]),
            breaks_off: is_harmful && random.chance(100),
        },
        _ => ScriptedResponse::Invalid,
    }
}

/// A random length. Most are small; some are larger than the window of a stream, or the buffer of a socket.
fn length(random: &SeededRandom) -> usize {
    let bytes = match random.below(100) {
        0..90 => random.below(200),
        90..97 => random.below(70_000),
        _ => random.between(200_000, 600_000),
    };
    usize::try_from(bytes).expect("small")
}
