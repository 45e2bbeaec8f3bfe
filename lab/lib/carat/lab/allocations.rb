# frozen_string_literal: true

require "carat/native_path"
require "carat/lab.so"

module Carat
  module Lab
    # What a thread allocates, by line and class. The methods are in the compiled extension; `lab/crate`
    # documents them.
    module Allocations
    end
  end
end
