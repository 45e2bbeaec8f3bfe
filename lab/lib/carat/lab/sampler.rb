# frozen_string_literal: true

require "carat/native_path"
require "carat/lab.so"

module Carat
  module Lab
    # Samples of what all threads allocate, with the calls that do. The methods are in the compiled extension;
    # `lab/crate` documents them.
    module Sampler
    end
  end
end
