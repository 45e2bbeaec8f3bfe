# frozen_string_literal: true

require_relative "../native_path"

module Carat
  module Launch
    # Carat's allocator in LD_PRELOAD of the mold, and through it of the workers. Programs that the application starts
    # have the user's own LD_PRELOAD: the mold restores it as soon as it runs.
    class Preload
      VARIABLE = "LD_PRELOAD"
      private_constant :VARIABLE
      # What VARIABLE was without Carat; empty where there was none.
      KEPT = "CARAT_USER_PRELOAD"
      # Who preloads one of these has chosen an allocator.
      ALLOCATORS = /jemalloc|mimalloc|tcmalloc|snmalloc|hoard/
      # ld.so takes both between the names.
      SEPARATORS = /[ :]+/

      # Gives `environment`, the mold's ENV, the user's LD_PRELOAD back.
      def self.restore(environment)
        kept = environment.delete(KEPT) or return

        environment[VARIABLE] = kept.empty? ? nil : kept
      end

      # `environment` is the user's; `library` the absolute path of Carat's allocator, or nil where it is not built.
      def initialize(configuration, environment, library: NativePath.malloc)
        @configuration = configuration
        @user = environment.fetch(VARIABLE, "")
        @library = library
      end

      # Returns a Hash of Strings by name, empty where the allocator stays as it is.
      def variables
        return {} unless used?

        { VARIABLE => [@library, *names].join(":"), KEPT => @user }
      end

      # Whether the mold gets Carat's allocator.
      def used?
        wanted? && !separated?
      end

      # Returns why the mold goes without Carat's allocator although it is to have it, or nil.
      def obstacle
        return unless wanted? && separated?

        "#{@library} is not preloaded: LD_PRELOAD has no way to write a path with a space or a colon; install Carat " \
          "in another directory, or set allocator to \"system\""
      end

      # Returns the path of the allocator that the user preloads, or nil.
      def theirs
        names.find { |name| File.basename(name).match?(ALLOCATORS) }
      end

      private

      def wanted?
        @configuration[:allocator] == "jemalloc" && !theirs && !@library.nil?
      end

      def separated?
        @library.match?(SEPARATORS)
      end

      def names
        @user.split(SEPARATORS).reject(&:empty?)
      end
    end
  end
end
