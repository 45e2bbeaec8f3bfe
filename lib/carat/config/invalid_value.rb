# frozen_string_literal: true

module Carat
  module Config
    # A value that its type rejects. The message gives the reason; the caller adds the place.
    class InvalidValue < StandardError
    end
  end
end
