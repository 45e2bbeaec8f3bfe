# frozen_string_literal: true

require "test_helper"

module Native
  class AnswerTest < Support::NativeTest
    def test_a_small_array_goes_in_one_frame
      response = answered(200, { "content-type" => "text/plain", "x-odd" => "\xFF" }, ["a", "", "b\0"])
      headers = [["content-type", "text/plain"], ["x-odd", "\xFF".b]]
      assert_equal [1, 200, headers, "ab\0"], response.to_a.values_at(0, 1, 3, 4)
    end

    def test_names_are_sent_in_lower_case
      assert_equal [["content-type", "text/plain"], ["x-odd", "A"]],
                   answered(200, { "Content-Type" => "text/plain", "X-ODD" => "A" }, []).headers
    end

    def test_headers_for_the_server_are_not_sent
      assert_equal [["x", "1"]], answered(200, { "rack.odd" => -> {}, "x" => "1" }, []).headers
    end

    def test_several_values_are_several_headers
      assert_equal [%w[set-cookie a], %w[set-cookie b]], answered(200, { "set-cookie" => %w[a b] }, []).headers
    end

    def test_a_line_break_separates_values_until_rack_3
      headers = { "set-cookie" => "a\nb" }
      assert_equal [%w[set-cookie a], %w[set-cookie b]], answered(200, headers, []).headers
      assert_equal [["set-cookie", "a\nb"]], answered(200, headers, [], release: "3.0.0").headers
    end

    def test_hints_are_sent_at_once_for_their_own_request_alone
      lane = taken
      slot = lane.slot
      assert slot.hint(slot.id, { "Link" => "</a>\n</b>", "rack.own" => 1, "x" => %w[1 2] })
      expected = [slot.id, [%w[link </a>], %w[link </b>], %w[x 1], %w[x 2]]]
      assert_equal expected, Support::Wire.hints(lane.frame.last)

      refute slot.hint(slot.id, { "x" => 1 })
      assert slot.hint(slot.id + 1, { "x" => "1" })
      assert slot.hint(slot.id, { "x" * 2000 => "" })
      assert_equal [slot.id, []], Support::Wire.hints(lane.frame.last)
      id = slot.id
      assert slot.respond(200, {}, [])
      assert slot.hint(id, { "x" => "1" })
      slot.flush
      assert_equal :response, lane.frame.first
    end

    def test_a_list_of_names_and_values_does_as_headers
      assert_equal [%w[a 1], %w[a 2]], answered(200, %w[a 1 a 2], []).headers
    end

    def test_what_ruby_has_to_convert_is_left_to_it
      [["200", {}, []], [200, { "a" => 1 }, []], [200, { a: "1" }, []], [200, [%w[a 1]], []], [200, nil, []],
       [200, %w[a], []], [200, {}, nil], [200, {}, "text"], [200, {}, [1]], [200, {}, Class.new(Array).new],
       [200, {}, [].tap { |array| def array.close; end }], [200, {}, ["x" * 65_537]]].each do |answer|
        lane = taken
        assert_equal false, lane.slot.respond(*answer), answer.inspect
        assert_predicate lane.slot, :pending?
      end
    end

    def test_what_cannot_be_sent_is_refused_and_the_request_waits_on
      [[199, {}], [600, {}], [-1, {}], [2**40, {}], [200, { "" => "x" }], [200, { "\u00E9" => "x" }],
       [200, { "x" * 2000 => "" }], [200, { "x" => "y" * (1 << 20) }],
       [200, ["x", ""] * 70_000]].each do |status, headers|
        lane = taken
        assert_raises(Carat::Native::InvalidResponse) { lane.slot.respond(status, headers, []) }
        assert_predicate lane.slot, :pending?
      end
    end

    def test_an_answer_without_a_request_is_an_error
      lane = taken
      lane.slot.respond(200, {}, [])
      assert_raises(Carat::Native::LinkError) { lane.slot.respond(200, {}, []) }
    end

    def test_the_largest_body_of_one_frame
      assert_equal 65_536, answered(200, {}, ["x" * 65_536]).body.bytesize
    end

    def test_no_body_follows_head_and_statuses_without_one
      assert_nil answered(200, { "content-length" => "5" }, ["hello"], method: "HEAD").body
      [204, 304].each { |status| assert_nil answered(status, {}, ["hello"]).body }
    end

    def test_a_file_is_passed_with_its_part
      lane = taken
      File.open(__FILE__) { |file| lane.slot.respond_file(200, {}, [file.fileno, 2, 6, true]) }
      lane.slot.flush
      assert_equal({ offset: 2, length: 6, ranges: 1 }, lane.response.body)
      assert_equal "frozen", lane.descriptors.first.pread(6, 2)
    end

    def test_the_time_of_the_application_is_told_in_microseconds
      lane = serve(->(_env) { [200, {}, [Thread.new { IO.select(nil, nil, nil, 0.01) }.join && ""]] })
      assert_includes 10_000..5_000_000, lane.call.app_micros
    end

    private

    # A lane whose request waits for its response.
    def taken(release: "2.2.0", **request)
      lane = harness(release: release)
      lane.request(**request)
      lane.slot.take
      lane
    end

    def answered(status, headers, body, **options)
      lane = taken(**options)
      assert lane.slot.respond(status, headers, body)
      lane.slot.flush
      lane.response
    end
  end
end
