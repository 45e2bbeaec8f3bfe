# frozen_string_literal: true

module Carat
  module Config
    # Suggests the word that the user meant by a misspelled one.
    module Spelling
      # Returns `; did you mean workers?`, or an empty String when no word is similar (or did_you_mean is disabled).
      def self.hint(word, words)
        near = completion(word.to_s, words.map(&:to_s)) || correction(word.to_s, words.map(&:to_s))
        near ? "; did you mean #{near}?" : ""
      end

      # The word that begins with `word`, if there is only one: `--pidfile` for `--pid`. By its letters, `--pid` is more
      # similar to `--bind`, which the spell checker would suggest.
      def self.completion(word, words)
        longer = words.select { |candidate| candidate.start_with?(word) }
        longer.first if longer.one?
      end

      def self.correction(word, words)
        DidYouMean::SpellChecker.new(dictionary: words).correct(word).first if defined?(DidYouMean::SpellChecker)
      end

      private_class_method :completion, :correction
    end
  end
end
