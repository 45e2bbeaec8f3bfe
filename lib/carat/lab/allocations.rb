# frozen_string_literal: true

require_relative "../native_path"
require "carat/lab.so"

module Carat
  module Lab
    # What a thread allocates, by line and class. The methods are in the compiled extension; `crates/carat-lab`
    # documents them.
    module Allocations
    end
  end
end
