# frozen_string_literal: true

require "minitest/autorun"
require "carat/lab/leak/site"

module Carat
  class SiteTest < Minitest::Test
    REQUESTS = 100

    def test_line_has_what_its_median_round_leaves
      site = gather([line(bytes: [4000, 4000, 9000, 4000, 4000], objects: [100] * 5)]).first

      assert_in_delta 40.0, site.bytes_per_request
      assert_in_delta 1.0, site.objects_per_request
    end

    def test_content_of_a_container_counts_instead_of_its_steps
      site = gather([line(bytes: [4000, 4000, 24_000, 4000, 14_000])], [container(bytes: [800] * 5)]).first

      assert_in_delta 48.0, site.bytes_per_request
      assert_equal "Array", site.container
      assert_equal %w[KEPT Array], site.path
    end

    def test_many_containers_take_steps_in_each_round_and_count_by_content
      site = gather([line(bytes: [9000, 12_000, 8000, 9500, 9900])], [container(bytes: [5000] * 5, count: 500)]).first

      assert_in_delta 50.0, site.bytes_per_request
    end

    # An object may claim memory that is not malloc's: a Fiber has a stack of its own.
    def test_line_has_the_memory_of_its_objects_where_blocks_are_not_shown
      row = { **line(bytes: [4000] * 5, objects: [100] * 5), object_bytes: 96 }

      assert_in_delta 96.0, gather([row]).first.bytes_per_request
      assert_in_delta 40.0, gather([{ **row, exact: true }]).first.bytes_per_request
    end

    def test_container_without_growth_of_its_line_is_a_place
      site = gather([], [container(bytes: [1600] * 5)]).first

      assert_equal ["app.rb", 3, 16.0], [site.file, site.line, site.bytes_per_request]
    end

    def test_container_that_nobody_was_seen_to_fill_has_no_line
      assert_equal [nil, nil], gather([], [container(file: nil, line: nil)]).first.to_a.first(2)
    end

    def test_object_that_one_request_left_does_not_hide_memory_of_c
      stack = [["/lib/leaky.so", 16, "leak"]]
      site = gather([{ **line(bytes: [1600] * 5, objects: [1, 0, 0, 0, 0]), stack: }]).first

      assert_equal ["memory of C", ["in leak (leaky.so+0x10)"]], [site.growth, site.reasons]
    end

    def test_step_that_another_line_takes_does_not_hide_a_container
      site = gather([line(bytes: [-90_000, 0, 90_000, 0, 0])], [container(bytes: [800] * 5)]).first

      assert_in_delta 8.0, site.bytes_per_request
    end

    def test_largest_place_is_the_first_and_noise_is_none
      sites = gather([line(number: 1, bytes: [1600] * 5), line(number: 2, bytes: [0, 0, 5000, 0, 0]),
                      line(number: 3, bytes: [9600] * 5)])

      assert_equal [3, 1], sites.map(&:line)
    end

    def test_memory_between_blocks_is_named_by_their_sizes
      site = gather([{ **line(bytes: [400_000] * 5), classes: {}, path: nil, block_sizes: [48, 96] }]).first

      assert_equal ["free memory between blocks of 48, 96 bytes", []], [site.growth, site.reasons]
      assert_equal [48, 96], site.report.fetch("block_sizes")
      assert_empty gather([line(bytes: [4000] * 5)]).first.report.fetch("block_sizes")
    end

    private

    def gather(lines, containers = [])
      Lab::Leak::Site.gather(lines, containers, REQUESTS)
    end

    def line(bytes:, number: 3, objects: [0] * 5)
      { file: "app.rb", line: number, bytes:, objects:, classes: { Object: 3 }, path: %w[KEPT Array Object] }
    end

    def container(bytes: [800] * 5, file: "app.rb", line: 3, count: 1)
      { class: "Array", bytes:, count:, file:, line:, path: %w[KEPT Array] }
    end
  end
end
