# frozen_string_literal: true

module Carat
  module Config
    # The encoding of paths. Without a locale (systemd, cron, and containers set no LANG), Ruby takes the name of a
    # file for ASCII, and raises when it joins or compares two names that are not ASCII.
    module Locale
      module_function

      # Lets this process take names for UTF-8 unless its locale names another encoding.
      def settle
        ascii = Encoding.default_external == Encoding::US_ASCII
        Encoding.default_external = Encoding::UTF_8 if ascii
      end

      # Returns a word of the command line or a variable: these have kept the encoding of the locale.
      def text(word)
        word.dup.force_encoding(Encoding.default_external)
      end
    end
  end
end
