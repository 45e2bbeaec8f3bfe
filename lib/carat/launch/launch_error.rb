# frozen_string_literal: true

module Carat
  module Launch
    # The server cannot start although its configuration is valid; the message is one line.
    class LaunchError < StandardError
    end
  end
end
