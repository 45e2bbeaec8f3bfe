# frozen_string_literal: true

module Carat
  module Lab
    # A measurement is not possible; the message says why and what to do.
    class LabError < StandardError
    end
  end
end
