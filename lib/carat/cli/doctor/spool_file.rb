# frozen_string_literal: true

require_relative "../../response/spool"
require_relative "finding"

module Carat
  module CLI
    class Doctor
      # Whether a file can be made in spool_dir, and whether it can be one that never has a name.
      class SpoolFile
        # `spool` answers `create_nameless(directory)` and `create_named(directory)`.
        def initialize(configuration, spool: Response::Spool)
          @directory = configuration[:spool_dir]
          @spool = spool
        end

        def finding
          @spool.create_nameless(@directory).close
          Finding.ok("spool_dir", "files without a name can be made in #{@directory}")
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
          Finding.problem("spool_dir", "no file can be made in #{@directory}: #{error.message}")
        end
      end
    end
  end
end
