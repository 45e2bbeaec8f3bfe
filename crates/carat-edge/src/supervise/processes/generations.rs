use std::collections::BTreeMap;
use std::rc::Rc;

use carat_settings::Settings;
use carat_supervisor::BootSettings;

/// The settings of each generation that has a mold.
pub(crate) struct Generations {
    /// The settings of the current generation.
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

    /// Notes that a mold of this generation boots with these settings.
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

    /// Makes the settings of this generation the current ones.
    pub(crate) fn adopt(&mut self, generation: u32) -> Rc<Settings> {
        self.current = self.of(generation);
        Rc::clone(&self.current)
    }

    /// Gives the generation of a mold another number.
    pub(crate) fn renumber(&mut self, before: u32, generation: u32) {
        let settings = self.of(before);
        self.forget(before);
        self.by_number.insert(generation, settings);
    }

    /// Forgets the settings of a generation: its mold is gone.
    pub(crate) fn forget(&mut self, generation: u32) {
        self.by_number.remove(&generation);
    }
}
