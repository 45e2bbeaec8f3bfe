# frozen_string_literal: true

module Bench
  # A benchmark that cannot be run as asked; the message is one line for the user.
  class Failure < StandardError
  end
end
