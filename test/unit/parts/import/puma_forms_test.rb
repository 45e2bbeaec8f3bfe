# frozen_string_literal: true

require "minitest/autorun"
require "stringio"
require "carat/cli/program"
require "support/workplace"

module Carat
  # Forms found in configurations of real applications: each becomes one that `carat check` takes.
  class PumaFormsTest < Minitest::Test
    include Support::Workplace

    FORMS = File.read(File.join(__dir__, "puma_forms.txt")).split(/^## (\w+)\n/).drop(1).each_slice(2).to_h
    # What the file must say, and what its addresses are when it differs from Puma's default.
    SAYS = {
      "config_options" => /^# MyEvents\.use @config\.options$/, "daemonize" => /systemd.*:\n# daemonize true$/,
      "default_host" => /^bind "tcp:\/\/\[::\]:3002"$/,
      "self_call" => /^workers 2\nworkers 2\n.*^# config\.threads 5, 5$/m,
      "heredoc" => /^# state_path "tmp.*\n# puma\n# A$/, "heroku_default_rackup" => /^# rackup DefaultRackup$/,
      "proxy_protocol" => /^bind "tcp:\/\/\*:3000\#\{"\?proxy_protocol=true" if ENV\["PROXY_PROTO_V1"\] == "true"\}"$/,
      "pwk" => /worker_memory "300MB".*:\n# before_fork do$/, "rails8_pidfile" => /stop_timeout: "30s"/,
      "zero_values" => /^shutdown_timeout 1$.*^idle_timeout 1$.*^header_timeout 1$/m
    }.freeze

    def test_each_form_becomes_a_valid_configuration
      FileUtils.mkdir_p(%w[shared/sockets shared/pids shared/log tmp/sockets])
      FORMS.each do |name, text|
        write("config/puma.rb", text.gsub("@HERE@", @workplace))
        FileUtils.rm_f(%w[carat.rb config/carat.rb])
        carat = run_carat("import")
        write(carat[/Save it as (\S+),/, 1], carat)

        assert_includes run_carat("check"), "the configuration is valid", "#{name}:\n#{carat}"
        assert_match SAYS.fetch(name, //), carat, name
      end
    end

    def test_the_proxy_protocol_is_on_where_the_variable_says_so
      write("config/puma.rb", FORMS.fetch("proxy_protocol"))
      write("carat.rb", run_carat("import"))

      assert_includes run_carat("check"), "tcp://*:3000\n"
      assert_includes run_carat("check", "PROXY_PROTO_V1" => "true"), "tcp://*:3000?proxy_protocol=true\n"
    end

    private

    def run_carat(command, **env)
      out = StringIO.new
      with_env(env) { CLI::Program.new([command], env:, out:, err: out).run }
      out.string
    end

    # The configuration reads the variables of the process.
    def with_env(env)
      before = env.to_h { |name, _| [name, ENV.fetch(name, nil)] }
      ENV.update(env)
      yield
    ensure
      ENV.update(before)
    end
  end
end
