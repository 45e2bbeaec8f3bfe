use std::rc::Rc;

use tokio::task::spawn_local;

use crate::tracer::Tracer;
use carat_http::{EdgeCore, Later, Part, PartSample, PartTask, RequestObserver};
use carat_log::Log;

/// The spans of requests: the option `otlp`.
struct OtlpPart {
    tracer: Rc<Tracer>,
    log: Rc<Log>,
}

/// The part; `None` without the option `otlp`.
pub fn part(core: &EdgeCore) -> Option<Box<dyn Part>> {
    Some(Box::new(OtlpPart {
        tracer: Tracer::new(&core.settings)?,
        log: Rc::clone(&core.log),
    }))
}

impl Part for OtlpPart {
    fn name(&self) -> &'static str {
        "otlp"
    }

    fn observer(&self) -> Option<Rc<dyn RequestObserver>> {
        Some(Rc::<Tracer>::clone(&self.tracer))
    }

    fn tasks(&self) -> Vec<PartTask> {
        let export = Rc::clone(&self.tracer).export(Rc::clone(&self.log));
        let work = async {
            // A panic of the exporter is logged, and costs nothing but spans.
            drop(spawn_local(export).await);
            Ok(())
        };
        vec![PartTask {
            name: "otlp",
            work: Box::pin(work),
        }]
    }

    fn shut_down(&self) -> Option<Later<()>> {
        let (tracer, log) = (Rc::clone(&self.tracer), Rc::clone(&self.log));
        Some(Box::pin(async move { tracer.finish(&log).await }))
    }

    fn samples(&self) -> Vec<PartSample> {
        let (exported, dropped) = self.tracer.counts();
        let help = "Spans that the collector has taken";
        let taken = PartSample::counter("otlp_spans_exported", help, exported);
        let help = "Spans that the collector has not taken";
        vec![
            taken,
            PartSample::counter("otlp_spans_dropped", help, dropped),
        ]
    }
}
