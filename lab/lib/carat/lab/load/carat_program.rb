# frozen_string_literal: true

require "carat/config/options"
require "carat/launch/surroundings/ruby_program"
require "carat/native_path"

module Carat
  module Lab
    module Load
      # How Carat is started as a server that is measured: as the words say, on a port of its own.
      class CaratProgram
        # The `carat` whose library is loaded.
        EXECUTABLE = File.join(NativePath::ROOT, "exe/carat")

        # What would replace the code, redirect requests, or delay the end.
        OPTIONS = { reload: "false", force_tls: "false", drain_delay: "off" }.freeze

        # The descriptor that receives the address.
        READY_FD = 3
        private_constant :OPTIONS, :READY_FD

        # The name for readers.
        NAME = "carat"

        # What `announcement` says once the server listens.
        ANNOUNCEMENT = %r{^(http://\S+)\n}

        # What its log says when a worker ends before it serves. The server would try again for ever.
        FAILURE = / error worker failed to boot /

        # `words` are those of Flags#words; `options` is a Hash of further ones; `ruby` is the path of Ruby.
        def initialize(words, options: {}, ruby: Launch::RubyProgram.path)
          @words = words
          @options = options
          @ruby = ruby
        end

        # Returns the words of the command; `directory` is for the server's files.
        def command(directory)
          own = { bind: "tcp://127.0.0.1:0", ready_fd: READY_FD, pidfile: File.join(directory, "pid"),
                  control_socket: File.join(directory, "control"), log: log(directory), log_format: "text" }
          options = { **OPTIONS, **@options, **own }
          kept = @words.reject { |word| options.key?(word[/\A\w+/].to_sym) }
          carat("serve", [*kept, *options.map { |pair| pair.join("=") }])
        end

        # Returns the words of a subcommand of `carat` for the same application, with further flags.
        def subcommand(name, *flags)
          [*carat(name, @words), *flags]
        end

        # Returns further descriptors of the process.
        def redirections(directory)
          { READY_FD => [announcement(directory), "w"] }
        end

        # Returns the path of the file in which the address appears.
        def announcement(directory)
          File.join(directory, "ready")
        end

        # Returns the path of the server's log.
        def log(directory)
          File.join(directory, "log")
        end

        private

        def carat(subcommand, words)
          [@ruby, EXECUTABLE, subcommand, *words.map { |word| flag(word) }]
        end

        def flag(word)
          name, value = word.split("=", 2)
          "#{Config::Options.fetch(name.to_sym).flag}=#{value}"
        end
      end
    end
  end
end
