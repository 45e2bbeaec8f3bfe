# frozen_string_literal: true

require_relative "../stream_input"
require_relative "../version"
require_relative "inputs/empty_input"
require_relative "inputs/form_files"
require_relative "hijack"
require_relative "inputs/memory_input"
require_relative "inputs/rack2_stream_input"

module Carat
  module Request
    # The part of the environments that is the same for all requests of a worker, for the release of Rack that the
    # application has loaded.
    class EnvTemplate
      # The value of `puma.mark_as_io_bound`, which applications that know Puma 8 call. In Carat it has no effect,
      # because every request keeps its thread.
      MARK_AS_IO_BOUND = -> {}.freeze
      private_constant :MARK_AS_IO_BOUND

      # Returns the template that the Configuration describes, for the Rack that is loaded. `log` is the ProcessLog of
      # errors.
      def self.of(configuration, log)
        new(release: Rack.release, capacity: configuration.capacity, several: configuration[:workers] != (1..1),
            spool_dir: configuration[:spool_dir], prefix: configuration[:prefix] || "", errors: log.errors)
      end

      # `release` is Rack.release, `capacity` the number of requests that a worker runs at once, and `several` says
      # whether there may be several workers. Files of a form get their names in `spool_dir`; `errors` is `rack.errors`.
      # Paths begin with `prefix`, the SCRIPT_NAME.
      def initialize(release:, capacity:, several:, spool_dir:, prefix: "", errors: $stderr)
        @release = release.split(".").first(2).map(&:to_i)
        @capacity = capacity
        @several = several
        @spool_dir = spool_dir
        @prefix = prefix
        @errors = errors
      end

      # Returns the options of Native::Lane.new and Native.environment.
      def to_h
        {
          constants: constants.freeze,
          prefix: @prefix,
          asterisk: rack?(3, 1), # PATH_INFO may be "*" since Rack 3.1
          split: !rack?(3),      # before Rack 3, a value with line breaks is several headers
          empty_input: EmptyInput,
          memory_input: MemoryInput,
          file_input: FileInput,
          form_files: FormFiles,
          stream_input: rack?(3) ? StreamInput : Rack2StreamInput, # Rack 2 calls `rewind`
          hijack: Hijack,
          protocols: rack?(3, 1), # `rack.protocol`
          spool_dir: @spool_dir
        }
      end

      private

      def constants
        {
          "SCRIPT_NAME" => @prefix.dup.freeze, "SERVER_SOFTWARE" => "carat/#{VERSION}".freeze,
          "GATEWAY_INTERFACE" => "CGI/1.2", "rack.url_scheme" => "http", "rack.errors" => @errors,
          "rack.multithread" => @capacity > 1, "rack.multiprocess" => @several, "rack.run_once" => false,
          "puma.mark_as_io_bound" => MARK_AS_IO_BOUND
        }.merge(rack?(3) ? {} : { "rack.version" => [1, 3].freeze })
      end

      def rack?(*version)
        (@release <=> version) >= 0
      end
    end
  end
end
