# frozen_string_literal: true

module Carat
  # The server cannot be started although its configuration is right; the message is one line.
  class LaunchError < StandardError
  end
end
