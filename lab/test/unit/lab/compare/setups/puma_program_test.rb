# frozen_string_literal: true

require "minitest/autorun"
require "tmpdir"
require "carat/lab/compare/setups/puma_program"

module Carat
  class PumaProgramTest < Minitest::Test
    ALONE = { threads: 3, workers: 1..1, environment: "staging" }.freeze

    def test_one_worker_needs_no_master
      assert_equal %w[/usr/bin/ruby -S puma --config - --bind tcp://127.0.0.1:0 --threads 3:3 --environment staging
                      --workers 0 /tmp/config.ru], command(ALONE)
    end

    def test_elastic_workers_become_the_largest_number
      words = command({ **ALONE, workers: 1..4 })

      assert_equal %w[--workers 4 --preload], words.last(4).first(3)
    end

    def test_address_is_read_from_the_whole_line
      announcement = Lab::Compare::PumaProgram::ANNOUNCEMENT

      assert_equal "http://127.0.0.1:4123", "[7] * Listening on http://127.0.0.1:4123\n"[announcement, 1]
      assert_nil "* Listening on http://127.0.0.1:4"[announcement, 1]
    end

    def test_missing_puma_is_an_error_with_a_remedy
      Dir.mktmpdir do |directory|
        error = assert_raises(Lab::LabError) { Lab::Compare::PumaProgram.check(directory) }
        assert_equal "carat: Puma is not installed: apt install puma, or gem install puma", error.message

        File.write(File.join(directory, "puma"), "")
        File.chmod(0o755, File.join(directory, "puma"))
        assert_nil Lab::Compare::PumaProgram.check("/nowhere:#{directory}")
      end
    end

    private

    def command(configuration)
      Lab::Compare::PumaProgram.new(configuration, "/tmp/config.ru", ruby: "/usr/bin/ruby").command("/tmp")
    end
  end
end
