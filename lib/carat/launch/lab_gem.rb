# frozen_string_literal: true

module Carat
  module Launch
    # The gem carat-lab, which measures applications. It is for development: a server runs without it, and loads nothing
    # of it until a worker is profiled.
    module LabGem
      # The subcommands that are in the gem, in the order of the help.
      SUBCOMMANDS = %w[weigh leak profile allocations ips load compare].freeze

      # How to get it.
      REMEDY = "bundle add carat-lab --group development"

      # A checkout has the gem beside the server's library, a gem does not.
      CHECKOUT = File.expand_path("../../../lab/lib", __dir__)
      LIBRARY = "carat/lab"
      private_constant :CHECKOUT, :LIBRARY

      # Loads the beginning of the gem, and returns whether it is there. Its other files are then on the load path.
      def self.load
        $LOAD_PATH.push(CHECKOUT) if File.directory?(CHECKOUT) && !$LOAD_PATH.include?(CHECKOUT)
        require LIBRARY
        true
      rescue LoadError => e
        raise if e.path && e.path != LIBRARY # RubyGems names no path when the gem is for another version of Carat

        false
      end
    end
  end
end
