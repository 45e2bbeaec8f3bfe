# frozen_string_literal: true

require_relative "../../part"

module Carat
  module Parts
    # The port for Prometheus and health checks, and `carat top`.
    class Metrics < Part
      option :metrics, key: :addresses, group: "Service", type: :endpoints, default: [], default_text: "off",
                       edge: true,
                       doc: "An address on which the server answers Prometheus and health checks; repeatable."
    end
  end
end
