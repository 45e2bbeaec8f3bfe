//! The loading of changed code as a part of the edge: the option `reload`.

mod reload;

use std::rc::Rc;

use self::reload::Reload;
use carat_dispatch::CodeCheck;
use carat_exchange::clock;
use carat_http::{EdgeCore, Part, PartTask};
use carat_settings::Settings;

/// The loading of changed code.
struct ReloadPart(Rc<Reload>);

/// The part; `None` without the option `reload`.
pub fn part(core: &EdgeCore) -> Option<Box<dyn Part>> {
    if !core.settings.parts.reload.enabled {
        return None;
    }
    let dispatcher = &core.dispatch.dispatcher;
    let reload = Rc::new(Reload::new(&core.settings, &core.log, dispatcher));
    let check: Rc<dyn CodeCheck> = reload.clone();
    dispatcher.renewal().set_check(Rc::downgrade(&check));
    Some(Box::new(ReloadPart(reload)))
}

impl Part for ReloadPart {
    fn name(&self) -> &'static str {
        "reload"
    }

    fn tasks(&self) -> Vec<PartTask> {
        vec![PartTask {
            name: "reload",
            work: Box::pin(Rc::clone(&self.0).load_early()),
        }]
    }

    fn tick(&self) {
        self.0.expire(clock::now());
    }

    fn sources(&self, json: &str) {
        self.0.watch_sources(json);
    }

    fn serving(&self) {
        self.0.begin();
    }

    fn restarted(&self, result: &Result<(), String>) {
        self.0.end(result);
    }

    fn adopt(&self, settings: &Settings, _: u32) {
        self.0.adopt(settings);
    }
}
