# frozen_string_literal: true

require "open3"
require "test_helper"

# `carat console` and `carat run` with Rails.
class ConsoleRailsTest < Support::ShopTest
  CONTROL_SOCKET = ["--control-socket", "carat.sock"].freeze

  def test_the_console_is_that_of_rails_with_the_loaded_application
    server = start
    out, = client(server, "console", stdin: "[app.class, Rails.env, Process.pid, Item.count]\nexit\n")

    assert_match(/Loading production environment \(Rails #{Rails.version}\)/, out)
    assert_match(/ActionDispatch::Integration::Session,\s+"production",\s+\d+,\s+\d+\]/, out)
  end

  def test_a_sandbox_rolls_back
    server = start
    count = runner(server, "puts Item.count")
    out, = client(server, "console", "--sandbox", stdin: "Item.delete_all\n\"left\#{Item.count}\"\nexit\n")

    assert_match(/sandbox/, out)
    assert_match(/left0/, out)
    assert_equal count, runner(server, "puts Item.count")
  end

  def test_commands_of_rails_and_rake_run_in_a_fork_of_the_mold
    server = start
    assert_equal "forked\n#{server.pid}", runner(server, <<~'RUBY')
      puts defined?(Carat::Native) ? "forked" : "alone", Process.ppid
    RUBY
    out, err, status = client(server, "run", "--", "rake", "-P")
    assert_predicate status, :success?, err
    assert_match(/^rake db:migrate/, out)
    out, err, status = client(server, "run", *%w[-- bin/rails db:version])

    assert_match(/Current version: /, out, err)
    assert_predicate status, :success?
    assert_equal 1, client(server, "run", *%w[-- bin/rails no:such:task]).last.exitstatus
  end

  def test_another_environment_has_a_program_of_its_own
    server = start
    server.directory.write("bin/rails", "#!/bin/sh\necho $RAILS_ENV $#\n")
    File.chmod(0o755, File.join(server.directory.path, "bin/rails"))

    assert_equal "test 1\n", client(server, "run", *%w[--env RAILS_ENV=test -- bin/rails about]).first
    assert_equal "production 2\n", client(server, "run", *%w[-- bin/rails server -d]).first
  end

  private

  def start
    rakefile = "require_relative 'config/application'\nRails.application.load_tasks\n"
    shop(files: { "Rakefile" => rakefile }, args: CONTROL_SOCKET)
  end

  def runner(server, code)
    out, err, status = client(server, "run", "--", "bin/rails", "runner", code)
    assert_predicate status, :success?, err
    out.strip
  end

  def client(server, subcommand, *words, stdin: "")
    command = [*Support::ServerOptions::COMMAND, subcommand, *CONTROL_SOCKET, *words]
    Open3.capture3(Support::ServerOptions::NEUTRAL_ENV, *command, stdin_data: stdin, chdir: server.directory.path)
  end
end
