# frozen_string_literal: true

module Carat
  module Lab
    module Compare
      # What the user says about one of the two set-ups: its `name`, A or B; a `description`; `words`, those of
      # Flags#words; the `server`, carat or puma; and, or nil, the path of a `ruby`, a `gem` as name and version, and a
      # `commit` of the application.
      Choice = Struct.new(:name, :description, :words, :server, :ruby, :gem, :commit, keyword_init: true) do
        # Returns what decides which code is loaded.
        def code
          [ruby, gem, commit, words.grep(/\A(config|environment)=/)]
        end
      end
    end
  end
end
