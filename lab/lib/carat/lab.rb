# frozen_string_literal: true

require "carat"
require_relative "lab/version"

module Carat
  # Measurements of an application, outside of a server.
  module Lab
    # The memory that each loaded file and gem adds.
    module Weigh
    end

    # A load on a server, and what its processes use meanwhile.
    module Load
    end

    # In what two set-ups of an application differ.
    module Compare
    end

    # Whether memory grows with the number of requests.
    module Leak
    end
  end

  private_constant :Lab
end
