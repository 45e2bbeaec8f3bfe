# frozen_string_literal: true

require "json"
require "test_helper"

# Whatever the application and its clients write into the log: it stays within its event, and a line of JSON is always
# a whole object.
class LogHostileTest < Support::IntegrationTest
  FORGED = "2026-01-01T00:00:00.000Z info worker ready worker=9 gen=9 pid=1"
  HOSTILE = <<~RUBY
    HOSTILE = "no luck\\n#{FORGED}\\ncarat: worker=9: forged\\r#{FORGED}\\e[2J\\0\\u009b\\u2028\\xff" + "x" * 1_000_000
  RUBY
  APP = <<~RUBY
    #{HOSTILE}
    run(lambda do |env|
      case env["PATH_INFO"]
      when "/raise" then raise HOSTILE
      when "/binary" then raise HOSTILE.b
      when "/errors" then env["rack.errors"].puts(HOSTILE)
      when "/after" then env["rack.after_reply"] << -> { raise HOSTILE }
      when "/header" then return [200, { "x" => HOSTILE }, []]
      when "/body" then return [200, {}, Enumerator.new { raise HOSTILE }]
      when "/stuck" then sleep
      when "/fatal" then raise NoMemoryError, HOSTILE
      end
      [200, {}, ["done"]]
    end)
  RUBY
  CONFIG = <<~RUBY
    attempts = 0
    before_fork { raise HOSTILE if (attempts += 1) == 1 }
  RUBY
  PATHS = %w[/raise /binary /after /header /body /fatal].freeze
  # The beginnings of the lines that Carat writes, and of its reports about requests.
  LINES = /\A(?:\d{4}-\d\d-\d\dT\S+Z (?:info|warn|error) |carat: |GET \/)/

  def test_text_from_elsewhere_begins_no_line_of_its_own
    server = serve(APP, files: { "carat.rb" => CONFIG }, args: %w[--warm-up /raise --request-timeout 0.5])
    provoke(server, PATHS)
    lines = server.log.lines(chomp: true)

    assert_empty lines.grep_v(LINES).reject { |line| line.start_with?("    ") || line.empty? }
    assert_empty lines.select { |line| line.start_with?(FORGED, "carat: worker=9") }
    assert_match(/^GET \/raise: \S*config\.ru:\d+:in .*no luck.*\n    #{FORGED}$/, server.log)
    assert_match(/^ *from \S*slot\.rb:\d+/, server.log)
    assert_printable server
  end

  def test_every_line_of_a_json_log_is_an_object
    server = serve(APP, files: { "carat.rb" => CONFIG },
                        args: %w[--log-format json --access-log --warm-up /raise --request-timeout 0.5])
    provoke(server, PATHS + %w[/errors])
    objects = server.log.lines.map { |line| JSON.parse(line) }

    assert_empty objects.reject { |object| object.key?("time") && (object.key?("message") || object.key?("target")) }
    causes = objects.filter_map { |object| object["cause"] || object["message"] }.grep(/no luck.*\n#{FORGED}\n/)
    assert_operator causes.size, :>=, PATHS.size - 1
    assert_includes objects.map { |object| object["message"] }, "stack of the stuck request"
    assert_printable server
  end

  def test_boot_that_fails_is_an_object_of_a_json_log
    files = { "broken.ru" => "#{HOSTILE}raise HOSTILE" }
    [["broken.ru"], %w[--bind tcp://192.0.2.1:0], %w[--bind fd://7]].each do |words|
      server = server(files: files, args: ["--log-format", "json", *words])
      server.run

      refute_empty server.log
      server.log.lines.each { |line| assert_match(/^2/, JSON.parse(line).fetch("time")) }
      assert_printable server
    end
  end

  private

  # Asks for everything, and waits for the lines about it.
  def provoke(server, paths)
    [*paths, "/stuck"].each do |path|
      server.get(path)
    rescue EOFError
      # A body that breaks off.
    end
    await_log(server, /stack of the stuck request/)
    server.stop
  end

  def assert_printable(server)
    refute_match(/[\p{Cc}\p{Cf}\p{Zl}&&[^\n]]/, server.log.dup.force_encoding("UTF-8"))
    assert_predicate server.log.dup.force_encoding("UTF-8"), :valid_encoding?
  end
end
