use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::acme::AcmeHome;
use super::certificate_store::CertificateStore;
use super::config::TlsConfig;
use super::handshake::{Handshakes, TlsHandshake};
use super::on_demand::Demands;
use super::parameters::TlsParameters;
use carat_files::in_time;
use carat_http::{Handshake, Transport};
use carat_settings::Settings;

/// Encrypted connections: addresses that begin with `tls://`.
pub struct TlsTransport {
    acme: AcmeHome,
    handshake_timeout: Duration,
    /// The protocols that clients may choose instead of HTTP/1.1.
    protocols: &'static [&'static str],
    /// The certificates of each listener.
    stores: RefCell<Vec<Arc<CertificateStore>>>,
    pub(crate) handshakes: Rc<Handshakes>,
    pub(crate) demands: Rc<Demands>,
}

impl TlsTransport {
    /// The transport of a server that is about to listen. Its clients may choose one of `protocols`, such as `h2`.
    pub fn new(settings: &Settings, protocols: &'static [&'static str]) -> Rc<TlsTransport> {
        let settings = &settings.parts.tls;
        let acme = AcmeHome {
            folder: settings.acme_folder.clone(),
            ..AcmeHome::default()
        };
        Rc::new(TlsTransport {
            demands: Demands::new(&acme.further, settings.acme_ask.clone()),
            acme,
            handshake_timeout: settings.handshake_timeout,
            protocols,
            stores: RefCell::default(),
            handshakes: Rc::default(),
        })
    }

    /// The certificates of the listeners so far.
    pub(crate) fn stores(&self) -> Vec<Arc<CertificateStore>> {
        self.stores.borrow().clone()
    }
}

impl Transport for TlsTransport {
    fn scheme(&self) -> &'static str {
        "tls"
    }

    fn open(&self, parameters: &[(String, String)]) -> Result<Rc<dyn Handshake>, String> {
        let TlsParameters { source, clients } = TlsParameters::parse(parameters, &self.acme)?;
        let protocols = self.protocols;
        let config = in_time(move || TlsConfig::new(source, clients.as_ref(), protocols))?;
        let certificates = Arc::clone(&config.certificates);
        let demands = certificates.is_open().then(|| {
            self.demands.add(&certificates);
            Rc::clone(&self.demands)
        });
        self.stores.borrow_mut().push(certificates);
        Ok(Rc::new(TlsHandshake {
            config,
            timeout: self.handshake_timeout,
            handshakes: Rc::clone(&self.handshakes),
            demands,
        }))
    }
}
