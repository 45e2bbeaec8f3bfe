//! The site as a part of the edge: files and pages that clients get without Ruby, and the way to HTTPS. The options
//! `static`, `sendfile`, `error_pages`, `maintenance`, and `force_tls`.

mod disk_lookups;
mod error_pages;
mod force_tls;
mod maintenance;
mod send_files;
mod static_files;

use std::rc::Rc;

use http::{HeaderMap, Response};

use self::error_pages::ErrorPages;
use self::force_tls::ForceTls;
use self::send_files::SendFiles;
use self::static_files::StaticFiles;
use carat_exchange::{Call, Refusal, Reply, ReplyBody};
use carat_http::{
    ArrivedRequest, EdgeCore, Part, PartStep, RequestContext, RequestStep, SlowReply,
};
use carat_settings::Settings;

/// The files and pages of a site.
struct SitePart {
    force_tls: ForceTls,
    pages: Rc<ErrorPages>,
    requested: Rc<StaticFiles>,
    named: Rc<SendFiles>,
}

/// Marks a request whose client gets an error as a page.
struct GetsPage;

/// The part, which exists also without any of its options, because a restart may turn them on. An
/// error names a directory or page that cannot be read.
pub fn part(core: &EdgeCore) -> Result<Option<Box<dyn Part>>, String> {
    let (settings, log, disk) = (&core.settings, &core.log, Rc::default());
    Ok(Some(Box::new(SitePart {
        force_tls: ForceTls::new(settings),
        pages: ErrorPages::open(settings, log)?,
        requested: StaticFiles::open(settings, &disk, log)?,
        named: SendFiles::open(settings, &disk, log)?,
    })))
}

impl Part for SitePart {
    fn name(&self) -> &'static str {
        "site"
    }

    fn begin(&self, call: &mut Call, context: &mut RequestContext) {
        if self.pages.are_for(&call.parts.headers) {
            context.slots.set(GetsPage);
        }
    }

    fn admit(&self, request: &mut ArrivedRequest, context: &mut RequestContext) -> RequestStep {
        self.force_tls.check(request, context)?;
        self.pages.maintenance.check(request, context)
    }

    fn answer(&self, request: &mut ArrivedRequest, context: &mut RequestContext) -> PartStep {
        self.requested.look(request, context)
    }

    fn reply<'a>(
        &'a self,
        reply: &'a mut Result<Reply, Refusal>,
        context: &'a mut RequestContext,
    ) -> Option<SlowReply<'a>> {
        if context.slots.get::<GetsPage>().is_some() {
            self.pages.explain_failure(reply);
        }
        self.named.replace(reply)
    }

    fn refused(
        &self,
        refusal: Refusal,
        response: &mut Response<ReplyBody>,
        context: &mut RequestContext,
    ) {
        if context.slots.get::<GetsPage>().is_some() {
            self.pages.dress(Some(refusal), response);
        }
    }

    fn fields(&self, fields: &mut HeaderMap, context: &mut RequestContext) {
        self.force_tls.complete(fields, context);
    }

    fn demands_https(&self) -> bool {
        self.force_tls.is_on()
    }

    fn tick(&self) {
        self.requested.tick();
        self.pages.maintenance.tick();
    }

    fn reopen(&self) {
        self.pages.reload();
    }

    fn adopt(&self, settings: &Settings, _: u32) {
        self.requested.adopt(settings);
        self.named.adopt(settings);
        self.pages.adopt(settings);
    }
}
