# frozen_string_literal: true

require_relative "../../form_file"

module Carat
  module Request
    # Extends `rack.input` of a form whose files the edge has extracted: a rewind starts the files again, too.
    module FormInput
      attr_writer :form_files

      # Rewinds as IO#rewind.
      def rewind
        @form_files.rewind
        super
      end
    end

    # `rack.multipart.tempfile_factory` for a form whose files the edge has extracted. Rack parses the rest of the form;
    # for each file it calls this for a Tempfile to write to, and receives the one that the edge has written.
    class FormFiles
      # `descriptors` are those of the files in the order of the form, nil for a file that is still in the body. `input`
      # is that body; files are named in `directory`.
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

      # Closes the files that were not used. The others live as long as Rack's own would.
      def close
        @files.each_with_index { |file, index| file&.close unless @taken[index] }
      end
    end
  end
end
