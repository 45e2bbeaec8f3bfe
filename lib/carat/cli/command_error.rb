# frozen_string_literal: true

module Carat
  module CLI
    # A subcommand cannot do what it should; the message is one line that says why.
    class CommandError < StandardError
    end
  end
end
