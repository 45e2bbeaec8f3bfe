# frozen_string_literal: true

module Carat
  module Lab
    module Leak
      # What a worker holds after a round and a full collection: the requests so far, live bytes and live objects, the
      # pages in use (`active`) and those that the allocator may keep (`resident`), the PSS, all pages that the
      # process has (`rss`), and the written ones that no other process maps (`private`), in bytes; and the numbers of
      # Ruby threads, of open descriptors, and of the kernel's mappings.
      Census = Struct.new(:requests, :live, :objects, :active, :resident, :pss, :rss, :private, :threads, :descriptors,
                          :mappings, keyword_init: true)
    end
  end
end
