# frozen_string_literal: true

module Carat
  module Config
    # The encoding of paths. Without a locale (systemd, cron, and containers set no LANG), Ruby takes the names of files
    # for ASCII, and raises when it joins or compares two names that have other characters.
    module Locale
      module_function

      # Makes UTF-8 the encoding of names in this process, unless its locale names an encoding other than ASCII.
      def settle
        ascii = Encoding.default_external == Encoding::US_ASCII
        Encoding.default_external = Encoding::UTF_8 if ascii
      end

      # Returns `word` in the encoding that #settle chose: the words of the command line and the values of variables
      # were read before that, and have the encoding of the locale.
      def text(word)
        word.dup.force_encoding(Encoding.default_external)
      end
    end
  end
end
