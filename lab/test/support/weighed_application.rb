# frozen_string_literal: true

require "json"
require "open3"
require "support/application_directory"

module Support
  # An application in a directory of its own, and what `carat weigh` says about it.
  module WeighedApplication
    include ApplicationDirectory

    RUN = "run ->(_env) { [200, {}, []] }\n"

    private

    # The parsed report about a config.ru that begins with `code`.
    def weigh(code, *flags)
      write("config.ru", code + RUN)
      out, err, status = run_weigh("--json", *flags)
      assert_predicate status, :success?, err
      JSON.parse(out)
    end

    # Standard output, standard error, and the status of the command.
    def run_weigh(*words, env: {})
      Open3.capture3(env, *COMMAND, "weigh", *words, chdir: @directory)
    end

    # The nodes of the report's tree whose file has this base name.
    def nodes(report, name)
      every(report.fetch("tree")).select { |node| File.basename(node.fetch("file")) == name }
    end

    # The only one.
    def node(report, name)
      found = nodes(report, name)
      assert_equal 1, found.size, "#{name}: #{every(report.fetch("tree")).map { |node| node["file"] }}"
      found.first
    end

    def every(node)
      [node, *node.fetch("children").flat_map { |child| every(child) }]
    end

    def own(report, name, unit = "bytes")
      node(report, name).fetch("own").fetch(unit)
    end
  end
end
