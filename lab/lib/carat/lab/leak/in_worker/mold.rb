# frozen_string_literal: true

require "carat/processes/mold"
require "carat/warmup/application"
require_relative "probe"

module Carat
  module Lab
    module Leak
      # The program of the mold whose workers are measured: Carat's own, with a Probe around the application.
      module Mold
        # Runs the mold; `words` are those of Flags#words, and `path` is that of the Probe.
        def self.start(words, path)
          Warmup::Application.singleton_class.prepend(Module.new do
            define_method(:load) { |file| Probe.new(super(file), path) }
          end)
          Processes::Mold.start(words)
        end
      end
    end
  end
end
