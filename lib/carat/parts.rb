# frozen_string_literal: true

require_relative "parts/http2/part"
require_relative "parts/tls/part"
require_relative "parts/metrics/part"
require_relative "parts/otlp/part"
require_relative "parts/rate_limit/part"
require_relative "parts/consoles/part"
require_relative "parts/fibers/part"
require_relative "parts/reload/part"
require_relative "parts/cable/part"
require_relative "parts/multipart/part"
require_relative "parts/codings/part"
require_relative "parts/site/part"
require_relative "parts/cache/part"
require_relative "parts/init/part"
require_relative "parts/import/part"
require_relative "parts/doctor/part"

module Carat
  # The optional capabilities, in the order in which the server calls them.
  module Parts
    # One object of each Part.
    LIST = [HTTP2, TLS, Metrics, OTLP, RateLimit, Consoles, Fibers, Reload, Cable, Multipart, Codings, Site, Cache,
            Init, Import, Doctor]
           .map { |part| part::Part.new }.freeze
    private_constant :LIST

    class << self
      include Enumerable

      # Yields each Part.
      def each(&) = LIST.each(&)

      # Returns the first hint that the block returns for a Part, or an empty String.
      def hint
        each do |part|
          hint = yield part
          return hint unless hint.empty?
        end
        ""
      end

      # Returns the options of all parts.
      def options
        flat_map { |part| part.class.options }
      end
    end
  end

  private_constant :Parts
end
