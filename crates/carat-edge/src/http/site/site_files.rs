use std::rc::Rc;

use crate::http::site::error_pages::ErrorPages;
use crate::http::site::send_files::SendFiles;
use crate::http::site::static_files::StaticFiles;
use carat_log::Log;
use carat_settings::Settings;

/// Files that the edge sends itself: those that clients ask for, those that the application names, and pages in place of
/// errors.
#[derive(Debug)]
pub(crate) struct SiteFiles {
    pub(crate) requested: Rc<StaticFiles>,
    pub(crate) named: Rc<SendFiles>,
    pub(crate) pages: Rc<ErrorPages>,
}

impl SiteFiles {
    /// Opens the directories of the settings. An error names the one that cannot be read.
    pub(crate) fn open(settings: &Settings, log: &Rc<Log>) -> Result<SiteFiles, String> {
        let disk = Rc::default();
        Ok(SiteFiles {
            requested: StaticFiles::open(settings, &disk, log)?,
            named: SendFiles::open(settings, &disk, log)?,
            pages: ErrorPages::open(settings, log)?,
        })
    }

    /// Opens the directories of new settings, or those that the same paths name now.
    pub(crate) fn adopt(&self, settings: &Settings) {
        self.requested.adopt(settings);
        self.named.adopt(settings);
        self.pages.adopt(settings);
    }

    /// Notices what has changed on the disk. Called once a tick.
    pub(crate) fn tick(&self) {
        self.requested.tick();
        self.pages.maintenance.tick();
    }
}

#[cfg(test)]
impl SiteFiles {
    /// No directories.
    pub(crate) fn none(settings: &Settings, log: &Rc<Log>) -> SiteFiles {
        SiteFiles::open(settings, log).expect("there is none")
    }
}
