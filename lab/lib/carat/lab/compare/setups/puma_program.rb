# frozen_string_literal: true

require "carat/launch/surroundings/ruby_program"
require_relative "../../lab_error"

module Carat
  module Lab
    module Compare
      # How Puma is started as a server that is measured: with as many workers and threads as Carat, and without its
      # config file.
      class PumaProgram
        # The name for readers.
        NAME = "puma"

        # What `announcement` says once the server listens.
        ANNOUNCEMENT = %r{\* Listening on (http://\S+)\n}

        # With the application loaded in the master, a failure ends the master.
        FAILURE = nil
        OUTPUT = "output"
        private_constant :OUTPUT

        # Raises LabError unless the directories of `path` have Puma.
        def self.check(path)
          return if path.split(":").any? { |directory| File.executable?(File.join(directory, NAME)) }

          raise LabError, "carat: Puma is not installed: apt install puma, or gem install puma"
        end

        # `configuration` is Carat's; `rackup` is the path of a rackup file.
        def initialize(configuration, rackup, ruby: Launch::RubyProgram.path)
          @configuration = configuration
          @rackup = rackup
          @ruby = ruby
        end

        # Returns the words of the command. A single worker needs no master process.
        def command(_directory)
          threads = @configuration[:threads]
          workers = @configuration[:workers].end
          cluster = workers > 1 ? ["--workers", workers.to_s, "--preload"] : ["--workers", "0"]
          [@ruby, "-S", NAME, "--config", "-", "--bind", "tcp://127.0.0.1:0", "--threads", "#{threads}:#{threads}",
           "--environment", @configuration[:environment], *cluster, @rackup]
        end

        # It needs no further descriptors.
        def redirections(_directory)
          {}
        end

        # Returns the path of the file in which the address appears.
        def announcement(directory)
          File.join(directory, OUTPUT)
        end

        alias log announcement
      end
    end
  end
end
