# frozen_string_literal: true

module Carat
  module CLI
    class Import
      # What becomes of a call: `code` is Ruby for carat.rb, nil when there is no counterpart; `note` says what a reader
      # has to know, nil when the code does the same.
      Translation = Struct.new(:code, :note)
    end
  end
end
