# frozen_string_literal: true

module Carat
  module Lab
    # What a process allocates: calls with what they have allocated, of Ruby and of C.
    module Profile
      # A function: its kind (`ruby`, `c`, `object`, or `other`), name, file or nil, and line or nil.
      Frame = Struct.new(:kind, :name, :file, :line)
    end
  end
end
