# frozen_string_literal: true

require_relative "../../form_file"

module Carat
  module Request
    # Extends the `rack.input` of a form whose files the edge has extracted: `rewind` also starts again with the first
    # file.
    module FormInput
      attr_writer :form_files

      # Rewinds as IO#rewind does.
      def rewind
        @form_files.rewind
        super
      end
    end

    # The `rack.multipart.tempfile_factory` of a form whose files the edge has extracted. Rack parses the rest of the
    # form. For each file, Rack asks this factory for a Tempfile to write to, and gets one that the edge has written
    # already.
    class FormFiles
      # `descriptors` are the descriptors of the files in the order of the form, with nil for a file that is still in
      # the body. `input` is the body. Files get their names in `directory`.
      def initialize(descriptors, input, directory)
        @files = descriptors.map { |descriptor| descriptor && File.for_fd(descriptor, "r+b") }
        @directory = directory
        @taken = []
        @next = 0
        input.extend(FormInput).form_files = self
      end

      # Returns the next file of the form, or Rack's own Tempfile for a file that the edge has not extracted.
      def call(filename, content_type)
        index = @next
        @next += 1
        return Rack::Multipart::Parser::TEMPFILE_FACTORY.call(filename, content_type) unless @files[index]

        @taken[index] ||= FormFile.new(@files[index], filename, @directory)
      end

      # Starts again with the first file, for the next parser of the form.
      def rewind
        @next = 0
      end

      # Closes the files that were not used. The application's files are closed when they are collected, as Rack's own
      # are.
      def close
        @files.each_with_index { |file, index| file&.close unless @taken[index] }
      end
    end
  end
end
