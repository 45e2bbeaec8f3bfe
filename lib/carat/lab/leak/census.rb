# frozen_string_literal: true

module Carat
  module Lab
    module Leak
      # What a worker holds after a round and a full collection: the requests so far, live bytes and live objects, the
      # pages in use (`active`) and those that the allocator may keep (`resident`), the PSS, and the written pages that
      # no other process maps (`private`), in bytes; and the number of Ruby threads.
      Census = Struct.new(:requests, :live, :objects, :active, :resident, :pss, :private, :threads, keyword_init: true)
    end
  end
end
