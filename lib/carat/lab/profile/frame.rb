# frozen_string_literal: true

module Carat
  module Lab
    module Profile
      # A function: its kind (`ruby`, `c`, `object`, or `other`), name, file or nil, and line or nil.
      Frame = Struct.new(:kind, :name, :file, :line)
    end
  end
end
