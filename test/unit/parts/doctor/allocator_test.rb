# frozen_string_literal: true

require "minitest/autorun"
require "carat/parts/doctor/allocator"

module Carat
  class DoctorAllocatorTest < Minitest::Test
    OURS = "/gem/carat/malloc.so"

    def test_preloaded_jemalloc_is_reported
      assert_equal "ok       allocator: jemalloc 5.3.0, which Carat preloads", finding("jemalloc 5.3.0")
    end

    def test_probe_runs_with_the_variables_of_a_mold
      variables = nil
      CLI::Doctor::Allocator.new({ allocator: "jemalloc" }, environment: {}, library: OURS) do |given|
        variables = given
        "jemalloc 5.3.0"
      end.finding

      assert_equal OURS, variables["LD_PRELOAD"]
    end

    def test_a_process_is_asked_for_the_name
      asked = CLI::Doctor::Allocator.new({ allocator: "system" }, environment: { "LD_PRELOAD" => nil }).finding.to_s

      refute_match(/an unknown allocator/, asked)
    end

    def test_allocator_of_the_system_is_reported_with_its_cost
      assert_match(/\Aok       allocator: glibc 2\.41, as configured; "jemalloc" returns more/,
                   finding("glibc 2.41", allocator: "system"))
    end

    def test_allocator_that_the_user_preloads_is_reported
      assert_equal "ok       allocator: mimalloc, as libmimalloc.so.2 is preloaded",
                   finding("mimalloc", environment: { "LD_PRELOAD" => "libmimalloc.so.2" })
    end

    def test_missing_or_rejected_library_is_a_warning
      assert_match(/\Awarning  allocator: carat.malloc\.so is missing: /, finding("glibc 2.41", library: nil))
      assert_match(/\Awarning  allocator: glibc 2\.41, though Carat preloads jemalloc: .* noexec/,
                   finding("glibc 2.41"))
    end

    def test_path_that_cannot_be_preloaded_is_a_warning
      assert_match(%r{\Awarning  allocator: glibc 2\.41, as /my gems/malloc\.so cannot be preloaded: },
                   finding("glibc 2.41", library: "/my gems/malloc.so"))
    end

    private

    def finding(name, allocator: "jemalloc", environment: {}, library: OURS)
      CLI::Doctor::Allocator.new({ allocator: }, environment:, library:) { name }.finding.to_s
    end
  end
end
