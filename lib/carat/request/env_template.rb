# frozen_string_literal: true

require_relative "../stream_input"
require_relative "../version"
require_relative "file_input"
require_relative "form_files"
require_relative "memory_input"
require_relative "rack2_stream_input"

module Carat
  module Request
    # What is the same in all environments of a worker, for the release of Rack that the application has loaded.
    class EnvTemplate
      # `release` is Rack.release; `capacity` is how many requests a worker runs at once, `several` whether there may
      # be several workers; the files of a form get their names in `spool_dir`; `errors` is where `rack.errors` writes
      # to.
      def initialize(release:, capacity:, several:, spool_dir:, errors: $stderr)
        @release = release.split(".").first(2).map(&:to_i)
        @capacity = capacity
        @several = several
        @spool_dir = spool_dir
        @errors = errors
      end

      # Returns the options of Native::Lane.new.
      def to_h
        {
          constants: constants.freeze,
          lists: lists.freeze,
          asterisk: rack?(3, 1), # PATH_INFO may be "*" since Rack 3.1
          split: !rack?(3),      # a value with line breaks is several headers until Rack 3
          memory_input: MemoryInput,
          file_input: FileInput,
          form_files: FormFiles,
          stream_input: rack?(3) ? StreamInput : Rack2StreamInput, # Rack 2 asks for `rewind`
          spool_dir: @spool_dir
        }
      end

      private

      def constants
        {
          "SCRIPT_NAME" => "", "SERVER_SOFTWARE" => "carat/#{VERSION}".freeze, "GATEWAY_INTERFACE" => "CGI/1.2",
          "rack.url_scheme" => "http", "rack.errors" => @errors, "rack.multithread" => @capacity > 1,
          "rack.multiprocess" => @several, "rack.run_once" => false, "rack.hijack?" => false
        }.merge(rack?(3) ? {} : { "rack.version" => [1, 3].freeze })
      end

      def lists
        ["rack.after_reply", "rack.response_finished"]
      end

      def rack?(*version)
        (@release <=> version) >= 0
      end
    end
  end
end
