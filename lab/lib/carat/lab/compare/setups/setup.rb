# frozen_string_literal: true

require "fileutils"
require "json"
require "open3"
require "carat/config/configuration"
require "carat/config/settings"
require "carat/launch/surroundings/ruby_program"
require_relative "../../lab_error"
require_relative "../../library"
require_relative "../../load/carat_program"
require_relative "../../load/server"
require_relative "allocation_counter"
require_relative "checkout"
require_relative "gem_choice"
require_relative "puma_program"

module Carat
  module Lab
    module Compare
      # One of the two set-ups, ready to be started as often as needed.
      class Setup
        # The rackup file that counts allocations around the application's own.
        RACKUP = <<~RUBY
          $LOAD_PATH.push(*%<directories>p)
          require "carat/lab/compare/setups/allocation_counter"
          run(module Carat; Lab::Compare::AllocationCounter.wrap(%<rackup>p, %<directory>p, %<gem>p); end)
        RUBY

        # What differs between the user's environment and that of a server.
        GEMFILE = "BUNDLE_GEMFILE"
        NAMES = ["RACK_ENV", "RAILS_ENV", GEMFILE].freeze
        private_constant :RACKUP, :GEMFILE, :NAMES

        # The Choice, and the directory and environment variables of the server.
        attr_reader :choice, :directory, :environment

        # `files` is a directory for own files; `env` is ENV or a Hash. Raises ConfigError and LabError.
        def initialize(choice, files, env)
          @choice = choice
          @files = files
          @counts = File.join(files, "counts")
          FileUtils.mkdir_p(@counts)
          @directory = choice.commit ? Checkout.write(choice.commit, Dir.pwd, File.join(files, "commit")) : Dir.pwd
          own = { **env.to_h, **gemfile(env) }
          @gem = choice.gem && GemChoice.new(*choice.gem, @directory, File.join(files, "gem"), own)
          @configuration = configure(own)
          @environment = { **own.slice(*NAMES), **@configured, **(@gem ? @gem.environment : {}) }
          write_rackup
        end

        # Starts the server, yields it, and stops it. Raises LabError.
        def open
          FileUtils.rm_f(Dir.children(@counts).map { |name| File.join(@counts, name) })
          Load::Server.open(program, directory:, environment:) do |server|
            @gem&.check(AllocationCounter.gem_version(@counts))
            yield server
          end
        end

        # Returns what `carat weigh` says about the application and this path, parsed. Raises LabError.
        def weigh(path)
          command = Load::CaratProgram.new(choice.words, ruby:).subcommand("weigh", "--json", "--path", path)
          out, err, status = Open3.capture3(environment, *command, chdir: directory, stdin_data: "")
          raise LabError, err.lines.last.to_s.chomp unless status.success?

          JSON.parse(out)
        rescue JSON::ParserError
          raise LabError, "carat: carat weigh prints something else"
        end

        # Returns what the server has counted so far.
        def allocations
          AllocationCounter.read(@counts)
        end

        private

        # `bundle exec` names the Gemfile of the working tree; a commit has its own.
        def gemfile(env)
          named = env[GEMFILE].to_s
          inside = "#{Dir.pwd}/"
          return {} unless choice.commit && named.start_with?(inside)

          { GEMFILE => File.join(directory, named.delete_prefix(inside)) }
        end

        # The config file is looked for in the directory of the application. `env` receives the option `environment`.
        # What the file sets in ENV is not for the other set-up. Carat reads the file once more, Puma does not.
        def configure(env)
          before = ENV.to_h
          Dir.chdir(directory) { Config::Configuration.new(Config::Settings.from_words(choice.words), env) }
        ensure
          changed = ENV.to_h.reject { |name, value| before[name] == value }
          @configured = choice.server == PumaProgram::NAME ? changed : {}
          ENV.replace(before)
        end

        def write_rackup
          gem_name = choice.gem&.first
          File.write(rackup, format(RACKUP, directories: Library.directories, rackup: @configuration[:rackup],
                                            directory: @counts, gem: gem_name))
        end

        def rackup
          File.join(@files, "counted.ru")
        end

        def ruby
          choice.ruby || Launch::RubyProgram.path
        end

        def program
          return PumaProgram.new(@configuration, rackup, ruby:) if choice.server == PumaProgram::NAME

          workers = @configuration.chosen?(:workers) ? {} : { workers: "1" }
          Load::CaratProgram.new(choice.words, options: { rackup:, **workers }, ruby:)
        end
      end
    end
  end
end
