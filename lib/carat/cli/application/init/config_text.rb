# frozen_string_literal: true

require_relative "../../../config/options"

module Carat
  module CLI
    class Init
      # The text of a carat.rb: the options that most applications think about, with the sentences of the option table.
      class ConfigText
        HEAD = <<~RUBY
          # frozen_string_literal: true

          # Carat's configuration of %s. `carat check` validates it; `carat --help` lists all options.
          # A line with # before its option changes nothing until you remove the #. A flag wins over this file, and this
          # file wins over environment variables, such as PORT, WEB_CONCURRENCY, and RAILS_MAX_THREADS.
        RUBY
        POOL = "The pool in config/database.yml must be as large."
        ADAPTER = "config/cable.yml must name the adapter carat."
        private_constant :HEAD, :POOL, :ADAPTER

        # `application` is an Application.
        def initialize(application)
          @application = application
        end

        # Returns Ruby.
        def to_s
          [format(HEAD, @application.name), *paragraphs].join("\n")
        end

        private

        def paragraphs
          [
            suggestion(:bind, '"tcp://127.0.0.1:3000"'), suggestion(:workers, "1..4"),
            suggestion(:threads, "5", *(POOL if @application.database?)), suggestion(:worker_memory, '"400MB"'),
            *checks, *(suggestion(:static, '"public"') if @application.public?),
            suggestion(:request_timeout, '"30s"'), suggestion(:max_body, '"100MB"'), suggestion(:compress, "true"),
            *(suggestion(:cable, '"/cable"', ADAPTER) if @application.cable?), suggestion(:access_log, "true")
          ]
        end

        # The health check of Rails changes nothing, so it may run at each start.
        def checks
          path = @application.health_path
          %i[warm_up restart_check].map do |name|
            path ? setting(name, path.inspect) : suggestion(name, '"/"')
          end
        end

        def suggestion(name, value, *remarks)
          paragraph(name, remarks, "# #{name} #{value}")
        end

        def setting(name, value)
          paragraph(name, [], "#{name} #{value}")
        end

        def paragraph(name, remarks, line)
          option = Config::Options.fetch(name)
          "# #{[option.doc, *remarks].join(" ")} Default: #{option.default_words}.\n#{line}\n"
        end
      end
    end
  end
end
