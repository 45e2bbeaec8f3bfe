use std::collections::BTreeMap;
use std::rc::Rc;

use carat_settings::Settings;
use carat_supervisor::BootSettings;

/// The settings of each generation that has a mold.
pub(crate) struct Generations {
    /// The settings that hold.
    pub(crate) current: Rc<Settings>,
    /// The settings that were read last.
    pub(crate) fresh: Rc<Settings>,
    by_number: BTreeMap<u32, Rc<Settings>>,
}

impl Generations {
    pub(crate) fn new(settings: Rc<Settings>) -> Generations {
        Generations {
            current: Rc::clone(&settings),
            fresh: settings,
            by_number: BTreeMap::new(),
        }
    }

    /// A mold of this generation boots, with these settings.
    pub(crate) fn boot(&mut self, generation: u32, settings: BootSettings) -> Rc<Settings> {
        let settings = match settings {
            BootSettings::Current => Rc::clone(&self.current),
            BootSettings::New => Rc::clone(&self.fresh),
        };
        self.by_number.insert(generation, Rc::clone(&settings));
        settings
    }

    /// The settings of this generation.
    pub(crate) fn of(&self, generation: u32) -> Rc<Settings> {
        let known = self.by_number.get(&generation);
        Rc::clone(known.unwrap_or(&self.current))
    }

    /// The settings of this generation hold from now on.
    pub(crate) fn adopt(&mut self, generation: u32) -> Rc<Settings> {
        self.current = self.of(generation);
        Rc::clone(&self.current)
    }

    /// The mold has another number.
    pub(crate) fn renumber(&mut self, before: u32, generation: u32) {
        let settings = self.of(before);
        self.forget(before);
        self.by_number.insert(generation, settings);
    }

    /// The mold is gone.
    pub(crate) fn forget(&mut self, generation: u32) {
        self.by_number.remove(&generation);
    }
}
