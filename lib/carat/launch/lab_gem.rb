# frozen_string_literal: true

require_relative "../native_path"

module Carat
  module Launch
    # The gem carat-lab, which measures applications. It is for development: a server needs nothing of it, and loads it
    # only when a worker is profiled.
    module LabGem
      # The subcommands that are in the gem, in the order of the help.
      SUBCOMMANDS = %w[weigh leak profile allocations ips load compare].freeze

      # The command that installs the gem.
      REMEDY = "bundle add carat-lab --group development"

      # The folder of the gem in a checkout of Carat. An installed Carat does not have the folder.
      CHECKOUT = File.expand_path("../../../lab/lib", __dir__)
      LIBRARY = "carat/lab"
      EXTENSION = "carat/lab.so"
      private_constant :CHECKOUT, :LIBRARY, :EXTENSION

      # Loads the main file of the gem, and returns whether the gem is there. Afterwards its other files are on the load
      # path.
      def self.load
        $LOAD_PATH.push(CHECKOUT) if File.directory?(CHECKOUT) && !$LOAD_PATH.include?(CHECKOUT)
        require LIBRARY
        true
      rescue LoadError => e
        raise if e.path && e.path != LIBRARY # RubyGems names no path when the gem is for another version of Carat

        false
      end

      # Returns what is not built and what to do about it, or nil when the subcommands can run. The gem must be loaded.
      def self.unbuilt
        return NativePath.missing unless NativePath.directory
        return if $LOAD_PATH.any? { |path| File.file?(File.join(path.to_s, EXTENSION)) }

        "carat-lab is not built for Ruby #{NativePath::ABI}: run script/setup in a checkout, or " \
          "gem pristine carat-lab --extensions"
      end
    end
  end
end
