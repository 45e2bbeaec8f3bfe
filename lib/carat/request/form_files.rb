# frozen_string_literal: true

require_relative "../form_file"
require_relative "form_input"

module Carat
  module Request
    # The files that the edge has taken out of a form, as `rack.multipart.tempfile_factory`: Rack parses what is left of
    # the form, and where it comes to a file it asks here for one to write to. It gets the one that is written already.
    class FormFiles
      # `descriptors` are those of the files in the order of the form, nil for one that was left in the body; `input` is
      # that body; names are given to files in `directory`.
      def initialize(descriptors, input, directory)
        @files = descriptors.map { |descriptor| descriptor && File.for_fd(descriptor, "r+b") }
        @directory = directory
        @taken = []
        @next = 0
        input.extend(FormInput).form_files = self
      end

      # Returns the next file of the form, and beyond those that the edge has seen what Rack makes by itself.
      def call(filename, content_type)
        place = @next
        @next += 1
        return Rack::Multipart::Parser::TEMPFILE_FACTORY.call(filename, content_type) unless @files[place]

        @taken[place] ||= FormFile.new(@files[place], filename, @directory)
      end

      # Whoever reads the form again finds the same files.
      def rewind
        @next = 0
      end

      # Closes the files that nobody has asked for. The others live as long as Rack's own would.
      def close
        @files.each_with_index { |file, place| file&.close unless @taken[place] }
      end
    end
  end
end
