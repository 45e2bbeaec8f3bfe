# frozen_string_literal: true

require "json"
require "minitest/autorun"
require "socket"
require "carat/launch/surroundings/ruby_program"
require_relative "../../../../support/hostile_authority"
require_relative "../../../../support/workplace"

module Carat
  # The program itself, as the edge starts it.
  class ACMEClientTest < Minitest::Test
    include Support::Workplace

    def teardown
      @authority&.close
      super
    end

    def test_a_failure_is_kept_for_the_next_start
      messages = run_client("HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\n{}")
      status = JSON.parse(File.read(path("a.example/status.json")))

      assert_equal(%w[failed done], messages.map { |message| message["event"] })
      assert_equal [1, nil, "the authority answered 500: no reason"], status.values_at("failures", "expires", "error")
      assert_operator status["due"], :>=, Time.now.to_i + 50
      assert_equal(%w[done], run_client("").map { |message| message["event"] })
    end

    private

    # Returns what it says.
    def run_client(response)
      @authority&.close
      @authority = Support::HostileAuthority.new(response)
      near, far = UNIXSocket.pair
      program = ["-r", "carat/parts/tls/acme/client", "-e", "module Carat; ACME::Client.run(ARGV); end"]
      pid = Process.spawn({ "CARAT_ACME_FD" => far.fileno.to_s }, *Launch::RubyProgram.command, *program,
                          "--", settings, "a.example", far => far)
      far.close
      near.each_line.map { |line| JSON.parse(line) }
    ensure
      near.close
      Process.wait(pid)
    end

    def settings
      JSON.generate(directory: @authority.url, authorities: @authority.certificate_path, folder: @workplace,
                    validations: %w[tls-alpn-01])
    end
  end
end
