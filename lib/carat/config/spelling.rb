# frozen_string_literal: true

module Carat
  module Config
    # Finds the word that a misspelled one was meant to be.
    module Spelling
      # Returns `; did you mean workers?`, or an empty String when no word is similar (or did_you_mean is disabled).
      def self.hint(word, words)
        return "" unless defined?(DidYouMean::SpellChecker)

        near = DidYouMean::SpellChecker.new(dictionary: words.map(&:to_s)).correct(word.to_s).first
        near ? "; did you mean #{near}?" : ""
      end
    end
  end
end
