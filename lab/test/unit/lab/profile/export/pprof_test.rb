# frozen_string_literal: true

require "minitest/autorun"
require "stringio"
require "zlib"
require "carat/lab/profile/export/pprof"
require "carat/lab/profile/report"
require "carat/lab/profile/time_report"
require "support/protobuf"
require "support/small_profile"

module Carat
  class PprofTest < Minitest::Test
    include Support::Protobuf
    include Support::SmallProfile

    def test_each_call_is_a_sample_with_its_stack_from_the_innermost
      message = encoded(time_report)
      strings = message.fetch(6)
      functions = message.fetch(5).map { |bytes| fields(bytes) }
      names = functions.to_h { |function| [function.fetch(1).first, strings[function.fetch(2).first]] }
      samples = message.fetch(2).map { |bytes| fields(bytes) }
      stacks = samples.map { |sample| varints(sample.fetch(1).first).map { |id| names.fetch(id) } }

      assert_equal [["Posts#index", "(carat)"], ["Kernel#sleep", "Posts#index", "(carat)"]], stacks
      assert_equal [[300, 400], [0, 70_000]], samples.map { |sample| varints(sample.fetch(2).first) }
    end

    def test_each_series_is_a_type_of_samples_and_reports_are_side_by_side
      message = encoded(time_report, memory_report)
      types = message.fetch(1).map { |bytes| fields(bytes).values_at(1, 2).map { |(index)| message.fetch(6)[index] } }

      assert_equal [%w[cpu microseconds], %w[wall microseconds], %w[alloc_space bytes], %w[alloc_objects count],
                    %w[inuse_space bytes], %w[inuse_objects count]], types
      values = message.fetch(2).map { |bytes| varints(fields(bytes).fetch(2).first) }

      assert_equal [[300, 400, 0, 0, 0, 0], [0, 70_000, 0, 0, 0, 0], [0, 0, 40, 1, 40, 1]], values
    end

    def test_locations_have_lines_and_functions_have_files
      message = encoded(time_report)
      place = message.fetch(5).map { |bytes| message.fetch(6)[fields(bytes).fetch(4).first] }
      lines = message.fetch(4).map { |bytes| fields(fields(bytes).fetch(4).first).fetch(2).first }

      assert_equal [["", "/srv/posts.rb", ""], [0, 12, 0]], [place, lines]
      assert_equal 2_000_000_000, message.fetch(10).first
    end

    private

    def encoded(*reports)
      bytes = Lab::Profile::Pprof.new(reports.flat_map(&:series), 2.0).to_s
      fields(Zlib::GzipReader.new(StringIO.new(bytes)).read)
    end
  end
end
