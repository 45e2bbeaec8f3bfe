# frozen_string_literal: true

module Carat
  module Lab
    module Leak
      # What a worker holds after a round and a full collection: the requests so far, live bytes and live objects, the
      # pages that the allocator uses (`active`) and may keep (`resident`), and the PSS, in bytes.
      Census = Struct.new(:requests, :live, :objects, :active, :resident, :pss, keyword_init: true)
    end
  end
end
