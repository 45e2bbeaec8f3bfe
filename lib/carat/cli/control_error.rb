# frozen_string_literal: true

module Carat
  module CLI
    # A running server cannot be reached; the message is one line.
    class ControlError < StandardError
    end
  end
end
