# frozen_string_literal: true

require_relative "../command_error"

module Carat
  module CLI
    # A running server cannot be reached; the message is one line.
    class ControlError < CommandError
    end
  end
end
