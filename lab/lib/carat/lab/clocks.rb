# frozen_string_literal: true

require "carat/native_path"
require "carat/lab.so"

module Carat
  module Lab
    # Samples of where the threads are while a clock runs. The methods are in the compiled extension; `lab/crate`
    # documents them.
    module Clocks
    end
  end
end
