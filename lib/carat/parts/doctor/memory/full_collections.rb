# frozen_string_literal: true

require_relative "../elsewhere"
require_relative "../finding"

module Carat
  module CLI
    class Doctor
      # Checks whether full garbage collections run between requests.
      class FullCollections
        SUBJECT = "full collections"
        private_constant :SUBJECT

        def initialize(configuration)
          @configuration = configuration
          @application = Elsewhere.new(configuration)
        end

        # Returns the Finding. Requires the measures only here, because they need the extension, which may not be built.
        def finding
          require_relative "../../../processes/heap/ruby_marks"
          reason = Processes::RubyMarks.objection_to(@configuration) || @application.call { remark }
          return Finding.warning(SUBJECT, "unknown: the application cannot be loaded") unless reason
          return Finding.ok(SUBJECT, "they run between requests") if reason.empty?

          Finding.ok(SUBJECT, "they run within requests: #{reason} (docs/memory.md)")
        rescue LoadError
          Finding.warning(SUBJECT, "unknown: the extension is not built")
        end

        private

        # The reason why collections run within requests; empty when there is none. A String in any case, because `call`
        # returns nil if the application cannot be loaded.
        def remark
          Processes::RubyMarks.objection.to_s
        end
      end
    end
  end
end
