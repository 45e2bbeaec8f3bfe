//! The entries that all environments of a lane have in common.

use std::os::fd::{IntoRawFd, OwnedFd};

use magnus::rb_sys::{AsRawValue, FromRawValue, protect};
use magnus::value::{Opaque, ReprValue};
use magnus::{Class, Error, RClass, RHash, RString, Ruby, TypedData, Value, gc};
use rb_sys::rb_class_new_instance;
use rustix::fs::{SeekFrom, seek};

use crate::environment::env_base::EnvBase;
use crate::interpreter::{error, roots, text};

/// The values that every environment has, and the classes of the objects that each environment gets anew.
pub(crate) struct EnvTemplate {
    pub(crate) base: EnvBase,
    /// The path below which the application is reached: its `SCRIPT_NAME`.
    prefix: Box<[u8]>,
    /// Whether the application accepts `*` as a path; otherwise it gets an empty path.
    pub(crate) asterisk: bool,
    /// The class of `rack.input` for a request without a body.
    pub(crate) empty_input: Opaque<RClass>,
    /// The class of `rack.input` for a String.
    memory_input: Opaque<RClass>,
    /// The class of `rack.input` for a descriptor.
    file_input: Opaque<RClass>,
    /// The class of the factory that Rack calls for the files of a form.
    form_files: Opaque<RClass>,
    /// The directory in which the files of a form can be linked.
    spool_dir: Opaque<RString>,
    /// The class of `rack.input` for a body that is read while it arrives.
    stream_input: Opaque<RClass>,
    /// The class of `rack.hijack`.
    pub(crate) hijack: Opaque<RClass>,
    /// Whether `rack.protocol` has the protocols that the client offers.
    pub(crate) protocols: bool,
}

impl EnvTemplate {
    /// Reads the template from the options of `Lane.new`.
    pub(crate) fn from_options(ruby: &Ruby, options: RHash) -> Result<EnvTemplate, Error> {
        let option = |name: &str| ruby.to_symbol(name);
        let prefix = options.fetch::<_, RString>(option("prefix"))?;
        Ok(EnvTemplate {
            // SAFETY: no Ruby code runs while the slice is used.
            prefix: unsafe { prefix.as_slice() }.into(),
            base: EnvBase::new(ruby, roots(), options.fetch(option("constants"))?)?,
            asterisk: options.fetch(option("asterisk"))?,
            empty_input: options.fetch::<_, RClass>(option("empty_input"))?.into(),
            memory_input: options.fetch::<_, RClass>(option("memory_input"))?.into(),
            file_input: options.fetch::<_, RClass>(option("file_input"))?.into(),
            form_files: options.fetch::<_, RClass>(option("form_files"))?.into(),
            spool_dir: options.fetch::<_, RString>(option("spool_dir"))?.into(),
            stream_input: options.fetch::<_, RClass>(option("stream_input"))?.into(),
            hijack: options.fetch::<_, RClass>(option("hijack"))?.into(),
            protocols: options.fetch(option("protocols"))?,
        })
    }

    pub(crate) fn mark(&self, marker: &gc::Marker) {
        self.base.mark(marker);
        marker.mark(self.empty_input);
        marker.mark(self.memory_input);
        marker.mark(self.file_input);
        marker.mark(self.form_files);
        marker.mark(self.spool_dir);
        marker.mark(self.stream_input);
        marker.mark(self.hijack);
    }

    /// `rack.input` for a body that travelled in memory.
    pub(crate) fn memory(&self, ruby: &Ruby, bytes: &[u8]) -> Result<Value, Error> {
        let class = ruby.get_inner(self.memory_input).as_raw();
        let input = protect(|| {
            let content = [text::binary(ruby, bytes)];
            // SAFETY: one live argument for a live class; `protect` catches what is raised.
            unsafe { rb_class_new_instance(1, content.as_ptr(), class) }
        })?;
        // SAFETY: Ruby has just returned this object.
        Ok(unsafe { Value::from_raw(input) })
    }

    /// `rack.input` for a body in a file, which the new object owns.
    pub(crate) fn file(&self, ruby: &Ruby, descriptor: OwnedFd) -> Result<Value, Error> {
        // Earlier users of the file share its position.
        seek(&descriptor, SeekFrom::Start(0)).map_err(|errno| error::link(ruby, errno))?;
        let class = ruby.get_inner(self.file_input);
        class.funcall("for_fd", (descriptor.into_raw_fd(), "rb"))
    }

    /// `rack.input` for a body that arrives while it is read. No Ruby code runs.
    pub(crate) fn stream(&self, ruby: &Ruby, input: impl TypedData) -> Value {
        let class = ruby.get_inner(self.stream_input);
        ruby.obj_wrap_as(input, class).as_value()
    }

    /// The path without the prefix. The edge passes on only paths that have it, but a request that the server makes
    /// up may lack it.
    pub(crate) fn path_info<'a>(&self, path: &'a [u8]) -> &'a [u8] {
        let below = path.strip_prefix(&*self.prefix);
        let below = below.filter(|below| matches!(below.first(), None | Some(b'/')));
        below.unwrap_or(path)
    }

    /// Adds the factory for the files of a form to an environment, where Rack calls it. The factory owns the files.
    pub(crate) fn add_form_files(
        &self,
        ruby: &Ruby,
        env: RHash,
        files: Vec<Option<OwnedFd>>,
    ) -> Result<Value, Error> {
        for file in files.iter().flatten() {
            seek(file, SeekFrom::Start(0)).map_err(|errno| error::link(ruby, errno))?;
        }
        let owned = |file: Option<OwnedFd>| file.map(IntoRawFd::into_raw_fd);
        let descriptors = ruby.ary_from_iter(files.into_iter().map(owned));
        let spool_dir = ruby.get_inner(self.spool_dir);
        let input: Value = env.fetch("rack.input")?;
        let files: Value =
            ruby.get_inner(self.form_files)
                .new_instance((descriptors, input, spool_dir))?;
        env.aset("rack.multipart.tempfile_factory", files)?;
        Ok(files)
    }
}
