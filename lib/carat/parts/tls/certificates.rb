# frozen_string_literal: true

require_relative "acme_command"
require_relative "../doctor/finding"

module Carat
  module CLI
    class Doctor
      # Checks whether certificates of an authority can be kept, when they expire, and why one is missing.
      class Certificates
        def initialize(configuration)
          @names = Launch::ACMECommand.names(configuration[:bind])
          @is_open = Launch::ACMECommand.open?(configuration[:bind])
          @path = Launch::ACMECommand.new(configuration).folder
        end

        # Returns the Finding.
        def finding
          return Finding.ok("certificates", "no authority is asked for any") if @names.empty? && !@is_open
          return Finding.problem("certificates", "this user cannot write to #{place} (acme_storage)") unless writable?

          failed = statuses.find { |_, status| status["error"] }
          return Finding.warning("certificates", "#{failed.first}: #{failed.last["error"]}") if failed

          states = statuses.map { |name, status| state(name, status["expires"]) }
          states << "further names on demand" if @is_open
          Finding.ok("certificates", states.join(", "))
        end

        private

        # The folder itself, or the nearest directory around it that exists.
        def place
          @place ||= @path.split("/").size.times.reduce(@path) { |path| File.exist?(path) ? path : File.dirname(path) }
        end

        def writable?
          File.directory?(place) && File.writable?(place)
        end

        def statuses
          @statuses ||= begin
            require_relative "acme/folder"
            folder = ACME::Folder.new(@path)
            @names.to_h { |name| [name, folder.status(name)] }
          end
        end

        def state(name, expires)
          expires ? "#{name} expires #{Time.at(expires).utc.strftime("%F")}" : "#{name} is not issued yet"
        end
      end
    end
  end
end
