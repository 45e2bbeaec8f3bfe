# frozen_string_literal: true

require "carat/native_path"
require "carat/lab.so"

module Carat
  module Lab
    # Accounts of memory, one for each file that is loaded: what it has allocated that nobody has freed. The methods are
    # in the compiled extension; `lab/crate` documents them.
    module Ledger
    end
  end
end
