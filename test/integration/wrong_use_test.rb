# frozen_string_literal: true

require "socket"
require "test_helper"

# What people do wrong on their first day. Each mistake is answered with one sentence: what, where, and what to do.
class WrongUseTest < Support::IntegrationTest
  BAD_CONFIG = 78
  FAILURE = 1
  PUMA = "port ENV.fetch(\"PORT\", 3000)\npreload_app!\n"
  # A line of the log, such as a warning about this machine.
  EVENT = /\A\d{4}-\d\d-\d\dT\S+ (?:info|warn) /
  # By name: the mistake (options of Support::Server), the status, and the sentence.
  CASES = {
    "no rackup file" =>
      [{ args: ["nowhere.ru"] }, BAD_CONFIG,
       %r{there is no file /\S+/nowhere\.ru; start carat beside it, or name one: carat \S+}],
    "a directory" => [{ args: ["."] }, BAD_CONFIG, /\S+ is a directory; start carat beside it, or name one: carat \S+/],
    "a file of Ruby code" =>
      [{ args: ["app.rb"], files: { "app.rb" => "puts 1" } }, FAILURE,
       /carat: app\.rb is no rackup file, and defines no App: name a rackup file, .*: carat config\.ru/],
    "no workers" => [{ args: %w[-w 0] }, BAD_CONFIG, /--workers: "0" is not .*; for Puma's single mode write 1/],
    "a syntax error" =>
      [{ app: "run ->(env) { [200, {}, [)] }\n" }, FAILURE, /carat: (\S*config\.ru:1: |--> config\.ru)/],
    "a missing gem" =>
      [{ app: "require \"no_such_gem\"" }, FAILURE,
       /carat: config\.ru:1: cannot load such file -- no_such_gem \(LoadError\)/],
    "a typing error" =>
      [{ app: "rnu ->(_env) {}" }, FAILURE,
       /carat: config\.ru:1: undefined method [`']rnu' for .* \(NoMethodError\)/],
    "nothing to run" => [{ app: "use Rack::Head" }, FAILURE, /carat: config\.ru: missing run or map statement/],
    "a dead database" =>
      [{ app: "require \"pg\"\nPG.connect(host: \"127.0.0.1\", port: 1)" }, FAILURE,
       /carat: config\.ru:2: .*connection to server .* failed: Connection refused/],
    "an application that exits" => [{ app: "exit!(3)" }, FAILURE, /carat: the mold ended \(exit status 3\)/],
    "an application that does not load" =>
      [{ app: "sleep", args: %w[--boot-timeout 300ms] }, FAILURE,
       /carat: the application did not load within 300ms \(boot_timeout\)/],
    "a failing hook" =>
      [{ config: "on_mold_boot { raise \"no cache\" }" }, FAILURE, /carat: carat\.rb:1: no cache \(RuntimeError\)/],
    "an unknown option" =>
      [{ config: "wrokers 2" }, BAD_CONFIG, /carat\.rb:1: wrokers: no such option; did you mean workers\?/],
    "a config file that is not Ruby" => [{ config: "workers (\n" }, BAD_CONFIG, /carat\.rb:\d: syntax error/],
    "a config file that raises" =>
      [{ config: "\nraise \"not here\"" }, BAD_CONFIG, /carat\.rb:2: RuntimeError: not here/],
    "a config file that is not there" =>
      [{ args: %w[-C nowhere.rb] }, BAD_CONFIG, %r{--config: there is no file /\S+/nowhere\.rb}],
    "the config file of Puma" =>
      [{ args: %w[-C config/puma.rb], files: { "config/puma.rb" => PUMA } }, BAD_CONFIG,
       %r{config/puma\.rb:1: port: no such option; it is Puma's: carat import config/puma\.rb prints the carat\.rb}],
    "the port flag of Puma" =>
      [{ args: %w[-p 3000] }, BAD_CONFIG,
       %r{-p: no such flag; in place of Puma's -p use PORT=3000, or --bind 'tcp://\*:3000'}],
    "the threads of Puma" =>
      [{ args: %w[-t 5:5] }, BAD_CONFIG,
       /--threads: "5:5" is not a whole number .*; Puma's minimum and maximum are one number here: 5/],
    "an address of TLS" =>
      [{ binds: ["ssl://0.0.0.0:443"] }, BAD_CONFIG,
       %r{--bind: "ssl://0\.0\.0\.0:443" is not an address; write tcp://HOST:PORT}],
    "an address of another machine" =>
      [{ binds: ["tcp://192.0.2.1:0"] }, FAILURE, %r{tcp://192\.0\.2\.1:0: this machine has no such address}],
    "a socket that nobody passed" => [{ binds: ["fd://77"] }, BAD_CONFIG, %r{bind: fd://77 is not an open socket}]
  }.freeze

  CASES.each do |name, (options, status, sentence)|
    define_method("test_#{name.tr(" ", "_")}") { assert_refused(status, sentence, **options) }
  end

  def test_a_port_that_is_taken
    TCPServer.open("127.0.0.1", 0) do |taken|
      url = "tcp://127.0.0.1:#{taken.addr[1]}"
      assert_refused FAILURE, /carat: #{url}: the address is in use: stop the other server or choose another/,
                     binds: [url]
    end
  end

  private

  # The first line is the sentence; a backtrace within the application may follow.
  def assert_refused(status, sentence, **options)
    server = server(**options)

    assert_equal status, server.run.exitstatus
    lines = server.log.lines.grep_v(EVENT)
    start = "(?:carat: )?" unless sentence.source.start_with?("carat: ")
    assert_match(/\A#{start}#{sentence}/, lines.join)
    assert_empty lines.drop(1).grep(%r{lib/carat|/gems/}), server.log
  end
end
