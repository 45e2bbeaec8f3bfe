# frozen_string_literal: true

require_relative "../part"

module Carat
  module Parts
    # Spans of requests for an OpenTelemetry collector.
    module OTLP
      # The options of the part.
      class Part < Parts::Part
        option :otlp, key: :collector, group: "Service", type: :collector, default_text: "off", edge: true,
                      doc: "An OpenTelemetry collector that gets spans of the requests, or of a share with `?sample=`."
      end
    end
  end
end
