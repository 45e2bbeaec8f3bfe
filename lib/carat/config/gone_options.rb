# frozen_string_literal: true

require_relative "../parts"

module Carat
  module Config
    # Options of earlier versions, and what to use instead. When the config file, a flag, or a variable names one, the
    # error message ends with its sentence.
    module GoneOptions
      # The sentence for each name, worded to follow a semicolon.
      TABLE = {
        canary: "restart_check tries new code before it serves; a load balancer can give it a share of the requests",
        canary_by: "a load balancer keeps a client with its code",
        **Parts.map(&:gone_options).reduce(:merge)
      }.freeze

      # Returns the end of a message about `word`, an option as a source spells it: `canary_by`, `--canary-by`,
      # `CARAT_CANARY_BY`. Returns an empty String for a word that never was an option.
      def self.hint(word)
        name = word.to_s.sub(/\A(?:--(?:no-)?|CARAT_)/, "").tr("-", "_").downcase.to_sym
        TABLE.key?(name) ? "; it is gone: #{TABLE.fetch(name)}" : ""
      end
    end
  end
end
