# frozen_string_literal: true

module Carat
  module Config
    # A value that its type cannot read; the message says what is wrong and leaves the place to the caller.
    class InvalidValue < StandardError
    end
  end
end
