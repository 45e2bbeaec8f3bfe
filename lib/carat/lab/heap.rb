# frozen_string_literal: true

require_relative "../native_path"
require "carat/lab.so"

module Carat
  module Lab
    # The live objects of Ruby's heap. The methods are in the compiled extension; `crates/carat-lab` documents them.
    module Heap
    end
  end
end
