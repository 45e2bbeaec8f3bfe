# frozen_string_literal: true

require_relative "../short_path"

module Carat
  module CLI
    class Weigh
      # The other files that require a file, in words.
      module Requirers
        # So many have names.
        NAMES = 3
        private_constant :NAMES

        module_function

        # Returns the words for a Lab::Weigh::LoadedFile that has some.
        def words(file)
          names = file.also_by.first(NAMES).map { |path| ShortPath.of(path) }
          others = file.also_by.size - names.size
          "also required by #{names.join(", ")}#{", and #{others} more" if others.positive?}"
        end
      end
    end
  end
end
