# frozen_string_literal: true

require "carat/cli/command_error"

module Carat
  module Lab
    # A measurement is not possible; the message says why and what to do.
    class LabError < CLI::CommandError
    end
  end
end
