# frozen_string_literal: true

require_relative "../../native_path"

module Carat
  module Launch
    # Carat's allocator in the LD_PRELOAD of the mold, from which workers inherit it. The mold restores the user's
    # LD_PRELOAD as soon as it runs, for programs that the application starts.
    class Preload
      # The variable that the dynamic loader reads.
      VARIABLE = "LD_PRELOAD"
      private_constant :VARIABLE
      # The variable that keeps the user's value of VARIABLE, which is empty if there was none.
      KEPT = "CARAT_USER_PRELOAD"
      # The libraries that are allocators. A user who preloads one has chosen it.
      ALLOCATORS = /jemalloc|mimalloc|tcmalloc|snmalloc|hoard/
      # The separators that ld.so accepts between names.
      SEPARATORS = /[ :]+/

      # Restores the user's LD_PRELOAD in `environment`, the mold's ENV.
      def self.restore(environment)
        kept = environment.delete(KEPT) or return

        environment[VARIABLE] = kept.empty? ? nil : kept
      end

      # `environment` is the user's; `library` is the absolute path of Carat's allocator, or nil when it is not built.
      def initialize(configuration, environment, library: NativePath.malloc)
        @configuration = configuration
        @user = environment.fetch(VARIABLE, "")
        @library = library
      end

      # Returns the variables to set, a Hash of Strings by name, which is empty when nothing is preloaded.
      def variables
        return {} unless used?

        { VARIABLE => [@library, *names].join(":"), KEPT => @user }
      end

      # Whether Carat's allocator is preloaded into the mold.
      def used?
        wanted? && !separated?
      end

      # Returns the reason why Carat's allocator cannot be preloaded although it was chosen, or nil.
      def obstacle
        return unless wanted? && separated?

        "#{@library} cannot be preloaded: LD_PRELOAD does not allow paths with a space or a colon; install Carat " \
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
