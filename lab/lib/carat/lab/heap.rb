# frozen_string_literal: true

require "carat/native_path"
require "carat/lab.so"

module Carat
  module Lab
    # The live objects of Ruby's heap. The methods are in the compiled extension; `lab/crate` documents them.
    module Heap
    end
  end
end
