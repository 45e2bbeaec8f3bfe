use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// The extensions of Ruby code, templates, and configuration.
const EXTENSIONS: [&str; 26] = [
    "rb", "ru", "erb", "rhtml", "erubi", "haml", "hamlit", "slim", "liquid", "mustache", "hbs",
    "builder", "jbuilder", "rabl", "arb", "nokogiri", "mab", "axlsx", "prawn", "ruby", "md",
    "markdown", "textile", "yml", "yaml", "toml",
];

/// Files of source code without one of these extensions.
const NAMES: [&str; 4] = ["Gemfile", "Gemfile.lock", ".env", ".ruby-version"];

/// The name of directories with code of others, wherever they are. Hidden directories count as
/// such, too.
const FOREIGN: &str = "node_modules";

/// The files whose content is the code of the application, as its mold names them.
#[derive(Debug, Default, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SourceFiles {
    /// Directories whose source files count, with all below them.
    pub(super) trees: Vec<PathBuf>,
    /// Further files.
    pub(super) files: Vec<PathBuf>,
    /// Files and directories of the trees that do not count.
    pub(super) except: Vec<PathBuf>,
    /// Whether the code has been loaded, so that all files are known.
    pub(super) complete: bool,
}

impl SourceFiles {
    /// Adds the files that were known before, as long as the code is being loaded and not all are
    /// known again.
    pub(super) fn supplement(&mut self, before: &SourceFiles) {
        if self.complete {
            return;
        }
        for file in &before.files {
            if !self.files.contains(file) {
                self.files.push(file.clone());
            }
        }
    }

    /// Whether this file is one of the sources.
    pub(super) fn include(&self, path: &Path) -> bool {
        let is_in_tree = |tree: &PathBuf| path.strip_prefix(tree).is_ok_and(is_source_path);
        self.files.iter().any(|file| file == path)
            || (self.trees.iter().any(is_in_tree) && !self.exclude(path))
    }

    /// Whether this file or directory is taken out of the trees.
    pub(super) fn exclude(&self, path: &Path) -> bool {
        self.except.iter().any(|except| path.starts_with(except))
    }
}

fn is_source_path(path: &Path) -> bool {
    let folders = path.parent().into_iter().flat_map(Path::components);
    path.file_name().is_some_and(is_source)
        && folders.into_iter().all(|it| is_own_folder(it.as_os_str()))
}

/// Whether a file with this name may be a source file.
pub(super) fn is_source(name: &OsStr) -> bool {
    let is_environment = name.as_bytes().starts_with(b".env.");
    if is_environment || NAMES.iter().any(|known| name == *known) {
        return true;
    }
    let extension = Path::new(name).extension();
    !name.as_bytes().starts_with(b".")
        && extension.is_some_and(|it| EXTENSIONS.iter().any(|known| it == *known))
}

/// Whether a directory with this name may have source files.
pub(super) fn is_own_folder(name: &OsStr) -> bool {
    name != FOREIGN && !name.as_bytes().starts_with(b".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_templates_and_configuration_are_source_files() {
        for name in "a.rb|config.ru|x.html.erb|a.yml|Gemfile|.env|.env.local".split('|') {
            assert!(is_source(name.as_ref()), "{name}");
        }
        for name in "a.log|a.rb~|.#a.rb|#a.rb#|a.sqlite3|rb|.a.rb.swp|4913".split('|') {
            assert!(!is_source(name.as_ref()), "{name}");
        }
    }

    #[test]
    fn only_files_of_the_trees_count_and_those_that_are_named() {
        let sources = SourceFiles {
            trees: vec!["/app".into()],
            files: vec!["/gem/a.rb".into(), "/app/log/b.rb".into()],
            except: vec!["/app/log".into()],
            complete: true,
        };
        for path in ["/app/a.rb", "/app/lib/a.rb", "/gem/a.rb", "/app/log/b.rb"] {
            assert!(sources.include(path.as_ref()), "{path}");
        }
        let texts = "/app/log/a.rb|/gem/b.rb|/app/.git/a.rb|/app/x/node_modules/a.rb|\
            /application/a.rb";
        for path in texts.split('|') {
            assert!(!sources.include(path.as_ref()), "{path}");
        }
    }
}
