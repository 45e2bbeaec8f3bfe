# frozen_string_literal: true

require_relative "../native_path"
require "carat/lab.so"

module Carat
  module Lab
    # Accounts of memory, one for each file that is loaded: what it has allocated that nobody has freed. The methods are
    # in the compiled extension; `crates/carat-lab` documents them.
    module Ledger
      # The account of what is older than the ledger.
      EARLIER = 0

      # The account of everything outside of files.
      ROOT = 1
    end
  end
end
