# frozen_string_literal: true

module Carat
  module Lab
    module Load
      # What is requested, for how many seconds, over how many connections at once.
      Plan = Struct.new(:path, :seconds, :connections, keyword_init: true)

      # Seconds of load that are not measured.
      Plan::WARM_UP_SECONDS = 1
    end
  end
end
