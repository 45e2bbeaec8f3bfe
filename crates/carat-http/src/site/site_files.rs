use std::rc::Rc;
use std::sync::Arc;

use crate::site::error_pages::ErrorPages;
use crate::site::send_files::SendFiles;
use crate::site::static_files::StaticFiles;
use crate::site::validations::Validations;
use carat_log::Log;
use carat_settings::Settings;
use carat_tls::CertificateStore;

/// Files that the edge sends itself: those that clients ask for, those that the application names, pages in place of
/// errors, and what authorities ask for.
pub struct SiteFiles {
    pub(crate) requested: Rc<StaticFiles>,
    pub(crate) named: Rc<SendFiles>,
    /// Pages in place of errors, and for maintenance.
    pub pages: Rc<ErrorPages>,
    /// The responses that authorities ask for to validate a name.
    pub validations: Validations,
}

impl SiteFiles {
    /// Opens the directories of the settings. An error names the one that cannot be read.
    pub fn open(
        settings: &Settings,
        certificates: Vec<Arc<CertificateStore>>,
        log: &Rc<Log>,
    ) -> Result<SiteFiles, String> {
        let disk = Rc::default();
        Ok(SiteFiles {
            requested: StaticFiles::open(settings, &disk, log)?,
            named: SendFiles::open(settings, &disk, log)?,
            pages: ErrorPages::open(settings, log)?,
            validations: Validations::new(settings, certificates),
        })
    }

    /// Opens the directories of new settings, or those that the same paths name now.
    pub fn adopt(&self, settings: &Settings) {
        self.requested.adopt(settings);
        self.named.adopt(settings);
        self.pages.adopt(settings);
        self.validations
            .client
            .adopt(&settings.parts.tls.acme_command);
    }

    /// Notices what has changed on the disk. Called once a tick.
    pub(crate) fn tick(&self) {
        self.requested.tick();
        self.pages.maintenance.tick();
    }
}

#[cfg(any(test, feature = "fixture"))]
impl SiteFiles {
    /// No directories.
    pub fn none(settings: &Settings, log: &Rc<Log>) -> SiteFiles {
        SiteFiles::open(settings, Vec::new(), log).expect("there is none")
    }
}
