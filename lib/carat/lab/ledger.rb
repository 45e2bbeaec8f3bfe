# frozen_string_literal: true

require_relative "../native_path"
require "carat/lab.so"

module Carat
  module Lab
    # Accounts of memory, one for each file that is loaded: what it has allocated that nobody has freed. The methods are
    # in the compiled extension; `crates/carat-lab` documents them.
    module Ledger
    end
  end
end
