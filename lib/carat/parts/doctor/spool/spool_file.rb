# frozen_string_literal: true

require_relative "../../../response/spool"
require_relative "../finding"

module Carat
  module CLI
    class Doctor
      # Checks whether files can be created in spool_dir, and whether they need a name (see O_TMPFILE in open(2)).
      class SpoolFile
        # `spool` has the methods `create_nameless(directory)` and `create_named(directory)`.
        def initialize(configuration, spool: Response::Spool)
          @directory = configuration[:spool_dir]
          @spool = spool
        end

        # Returns the Finding.
        def finding
          @spool.create_nameless(@directory).close
          Finding.ok("spool_dir", "#{@directory} allows files without a name")
        rescue *Response::Spool::NAMELESS_UNKNOWN
          named
        rescue SystemCallError => e
          problem(e)
        end

        private

        def named
          @spool.create_named(@directory).close
          Finding.ok("spool_dir",
                     "#{@directory} has no O_TMPFILE; a file has a name there until it is unlinked at once")
        rescue SystemCallError => e
          problem(e)
        end

        def problem(error)
          Finding.problem("spool_dir", "no file can be created in #{@directory}: #{error.message}")
        end
      end
    end
  end
end
