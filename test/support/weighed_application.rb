# frozen_string_literal: true

require "fileutils"
require "json"
require "open3"
require "rbconfig"
require "tmpdir"

module Support
  # An application in a directory of its own, and what `carat weigh` says about it.
  module WeighedApplication
    COMMAND = [RbConfig.ruby, "-I", File.expand_path("../../lib", __dir__),
               File.expand_path("../../exe/carat", __dir__), "weigh"].freeze
    RUN = "run ->(_env) { [200, {}, []] }\n"

    def setup
      @directory = File.realpath(Dir.mktmpdir("carat"))
    end

    def teardown
      FileUtils.remove_entry(@directory)
    end

    private

    def write(path, text)
      FileUtils.mkdir_p(File.dirname(path(path)))
      File.write(path(path), text)
    end

    def path(name)
      File.join(@directory, name)
    end

    # The parsed report about a config.ru that begins with `code`.
    def weigh(code, *flags)
      write("config.ru", code + RUN)
      out, err, status = run_weigh("--json", *flags)
      assert_predicate status, :success?, err
      JSON.parse(out)
    end

    # Standard output, standard error, and the status of the command.
    def run_weigh(*words, env: {})
      Open3.capture3(env, *COMMAND, *words, chdir: @directory)
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
