# frozen_string_literal: true

module Carat
  module Processes
    # What the first mold has loaded and every process forked from it shares: the Rack application, the Configuration
    # and the EnvTemplate.
    AppContext = Struct.new(:app, :configuration, :template)
  end
end
