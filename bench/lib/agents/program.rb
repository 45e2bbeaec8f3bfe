# frozen_string_literal: true

module Bench
  module Agents
    # The program of an agent: `gems` are directories, `boot` its code in config.ru, `report` what each request does,
    # `state` an expression that the response shows. An agent with `files` keeps data in files of this pattern, and
    # sends them minutes later, as the kind `late`.
    Program = Struct.new(:gems, :boot, :report, :state, :files, :late, keyword_init: true) do
      # Returns the names of the gems that are not in the directory `root`.
      def missing(root)
        gems.reject { |gem| File.directory?(File.join(root, gem)) }
      end

      # Returns the content of config.ru.
      def app(root, collector)
        paths = gems.map { |name| "$LOAD_PATH.unshift(#{File.join(root, name, "lib").inspect})" }
        <<~RUBY
          #{paths.join("\n")}
          require "logger"
          PORT = "#{collector.port}"
          COLLECTOR = "http://127.0.0.1:#{collector.port}"
          CERTIFICATE = #{collector.certificate_path.inspect}
          #{boot}
          MOLD = Thread.list.size
          run(lambda do |env|
            mark = "mark-\#{env["QUERY_STRING"]}-"
            #{report}
            [200, {}, [[#{state || "nil"}].inspect]]
          end)
        RUBY
      end
    end
  end
end
