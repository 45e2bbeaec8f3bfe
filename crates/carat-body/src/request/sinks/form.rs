use std::mem;

use carat_multipart::{FormEvent, FormLimits, Splitter, boundary_of};
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};

use crate::request::bodies::RequestBodies;
use crate::request::sinks::buffered::BufferedBody;
use crate::request::sinks::spooler::Spooler;
use carat_exchange::{Call, CallBody, MemoryReservation, Refusal, Spool};
use carat_settings::{Multipart, Settings};

/// Smaller files stay in the body: a descriptor for each takes more time. Taking 100 files out costs both processes
/// together 12 ms, whatever their size. In the body, 100 files cost 9 ms at 1 KiB each, and 22 ms at 16 KiB.
const SMALL_FILE_LIMIT: usize = 8 * 1024;

/// A form that is arriving: each file goes to its own spool, the rest to the skeleton.
pub(crate) struct Form<'a> {
    splitter: Splitter,
    contents: FormContents<'a>,
}

/// The parts of a form.
struct FormContents<'a> {
    bodies: &'a RequestBodies,
    skeleton: BufferedBody<'a>,
    files: Vec<Option<Spool>>,
    /// The current file while it is small.
    held: Vec<u8>,
    /// The memory reserved for `held` and for the header of a part.
    reservation: MemoryReservation,
    /// The current file once it has a spool of its own.
    spooler: Option<Spooler<'a>>,
    /// Whether the current file stays in the skeleton although it is large.
    is_in_skeleton: bool,
}

impl<'a> Form<'a> {
    /// Splits a body with these headers, if it is a form whose files the edge takes out.
    pub(crate) fn of(call: &Call, bodies: &'a RequestBodies) -> Option<Form<'a>> {
        let headers = &call.parts.headers;
        if bodies.settings.parts.multipart.parser != Multipart::Edge
            || headers.contains_key(CONTENT_ENCODING)
        {
            return None;
        }
        let mut content_types = headers.get_all(CONTENT_TYPE).iter();
        let boundary = boundary_of(content_types.next()?.as_bytes())?;
        if content_types.next().is_some() {
            return None;
        }
        let mut reservation = MemoryReservation::of(&call.memory);
        reservation.grow(SMALL_FILE_LIMIT + bodies.settings.parts.multipart.max_part_header);
        Some(Form {
            splitter: Splitter::new(boundary, limits(&bodies.settings)),
            contents: FormContents {
                bodies,
                skeleton: BufferedBody::new(bodies, &call.memory),
                files: Vec::new(),
                held: Vec::new(),
                reservation,
                spooler: None,
                is_in_skeleton: false,
            },
        })
    }

    /// Appends a piece.
    pub(crate) async fn take(&mut self, mut data: &[u8]) -> Result<(), Refusal> {
        while let Some(event) = self.splitter.next(&mut data).map_err(Refusal::Form)? {
            self.contents.add(event).await?;
        }
        Ok(())
    }

    /// The complete skeleton and the files, with `None` for each file that was put back into the
    /// skeleton. No files at all when all were put back.
    pub(crate) async fn finish(mut self) -> Result<(CallBody, Vec<Option<Spool>>), Refusal> {
        while let Some(event) = self.splitter.finish() {
            self.contents.add(event).await?;
        }
        let FormContents {
            skeleton,
            mut files,
            ..
        } = self.contents;
        if files.iter().all(Option::is_none) {
            files.clear();
        }
        Ok((skeleton.finish().await?, files))
    }
}

impl FormContents<'_> {
    async fn add(&mut self, event: FormEvent<'_>) -> Result<(), Refusal> {
        match event {
            FormEvent::Keep(bytes) => self.skeleton.take(bytes).await,
            FormEvent::File(bytes) => self.add_to_file(bytes).await,
            FormEvent::FileEnd => self.end_file().await,
        }
    }

    async fn add_to_file(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        if let Some(spooler) = &mut self.spooler {
            return spooler.write(bytes).await;
        }
        if self.is_in_skeleton {
            return self.skeleton.take(bytes).await;
        }
        if self.held.len() + bytes.len() <= SMALL_FILE_LIMIT {
            self.held.extend_from_slice(bytes);
            return Ok(());
        }
        if !self.bodies.quota.has_files_to_spare() {
            self.is_in_skeleton = true;
            self.skeleton.take(&mem::take(&mut self.held)).await?;
            return self.skeleton.take(bytes).await;
        }
        let spooler = self
            .spooler
            .insert(Spooler::create(self.bodies, self.reservation.account()).await?);
        spooler.write(&mem::take(&mut self.held)).await?;
        spooler.write(bytes).await
    }

    async fn end_file(&mut self) -> Result<(), Refusal> {
        let file = if let Some(spooler) = self.spooler.take() {
            Some(spooler.finish().await?)
        } else {
            self.skeleton.take(&self.held).await?;
            self.held.clear();
            self.is_in_skeleton = false;
            None
        };
        self.files.push(file);
        Ok(())
    }
}

fn limits(settings: &Settings) -> FormLimits {
    FormLimits {
        parts: settings.parts.multipart.max_parts,
        files: settings.parts.multipart.max_files,
        part_header: settings.parts.multipart.max_part_header,
        field_bytes: settings.parts.multipart.max_field_bytes,
    }
}
