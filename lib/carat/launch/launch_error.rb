# frozen_string_literal: true

module Carat
  module Launch
    # The server cannot be started although its configuration is right; the message is one line.
    class LaunchError < StandardError
    end
  end
end
