# frozen_string_literal: true

module Carat
  module Processes
    # What the first mold has loaded and every process forked from it shares: the Rack application, the Configuration,
    # the EnvTemplate, and the mold's ProcessLog.
    AppContext = Struct.new(:app, :configuration, :template, :log)
  end
end
