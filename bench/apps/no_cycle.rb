# frozen_string_literal: true

module GC
  # The name by which Carat knows a gem that collects out of band.
  module OOB
  end
end
