# frozen_string_literal: true

require_relative "../elsewhere"
require_relative "../finding"

module Carat
  module CLI
    class Doctor
      # Whether full garbage collections run between requests.
      class FullCollections
        SUBJECT = "full collections"
        private_constant :SUBJECT

        def initialize(configuration)
          @configuration = configuration
          @application = Elsewhere.new(configuration)
        end

        # Returns the Finding. Only here is the extension needed, which may not be built.
        def finding
          require_relative "../../../processes/measures/full_marks"
          require_relative "../../../processes/measures/ruby_marks"
          reason = Processes::FullMarks.objection(@configuration) || @application.call { remark }
          return Finding.warning(SUBJECT, "unknown: the application cannot be loaded") unless reason
          return Finding.ok(SUBJECT, "they run between requests") if reason.empty?

          Finding.ok(SUBJECT, "they run within requests: #{reason} (docs/memory.md)")
        rescue LoadError
          Finding.warning(SUBJECT, "unknown: the extension is not built")
        end

        private

        # A String, as `call` returns nil where the application cannot be loaded.
        def remark
          Processes::RubyMarks.objection.to_s
        end
      end
    end
  end
end
