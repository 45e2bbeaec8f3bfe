# frozen_string_literal: true

require "minitest/autorun"
require "carat/parts/doctor/doctor"
require "carat/parts/fibers/mappings"

module Carat
  # What each check says about the figures of a machine. That it finds those of this one is in program_test.rb.
  class DoctorFindingsTest < Minitest::Test
    MIB = 1 << 20
    DEVICE = File.stat("/").then { |stat| "#{stat.dev_major}:#{stat.dev_minor}" }
    Options = Struct.new(:options, :chosen) do
      def [](name) = options.fetch(name)

      def chosen?(name) = chosen && name == :max_connections

      def capacity = options.fetch(:threads)

      def processes = [Config::Processes::Declaration.new(count: options.fetch(:processes)..9)]

      def lanes = options.fetch(:fibers) ? 1 : capacity
    end

    def test_as_many_fibers_as_the_kernel_has_mappings_for_are_fine
      { nil => "ok       fibers: not used",
        31_229 => "ok       fibers: a worker may have 31229, the kernel has room for 31229",
        31_230 => "warning  fibers: a worker may have 31230, and the kernel has room for about 31229: requests " \
                  "beyond that wait; raise vm.max_map_count, or lower fibers" }.each do |fibers, words|
        assert_equal words, said(:Mappings, { fibers: }, allowed: fibers ? 65_530 : 0)
      end
    end

    def test_huge_pages_are_fine_on_request_alone
      ["always [madvise] never", "always madvise [never]", nil].each do |modes|
        assert_match(/\Aok /, said(:HugePages, {}, modes:))
      end
      assert_match(/\Awarning  huge pages: the kernel uses them for all memory: .* echo madvise > /,
                   said(:HugePages, {}, modes: "[always] madvise never"))
    end

    def test_memory_is_a_share_of_the_control_group_or_of_the_machine
      machine = "ok       memory: no control group limits the machine's 4 GiB; the server may have 2 GiB of it"
      group = "the control group allows 256 MiB"
      { ["80%", 256 * MIB] => "ok       memory: #{group}; the server may have 204.8 MiB of it",
        ["50%", nil] => machine, ["50%", 8192 * MIB] => machine,
        [512 * MIB, 256 * MIB] => "warning  memory: #{group}, but memory is 512 MiB: the kernel would kill workers " \
                                  "before Carat replaces them; lower memory, or set a share such as \"80%\"" }
        .each do |(memory, limit), words|
        limits = CLI::MachineLimits.new("container_memory" => limit, "machine_memory" => 4096 * MIB)
        assert_equal words, said(:MemoryLimit, { memory: }, limits:)
      end
      assert_equal "warning  memory: the limits of this machine cannot be read",
                   said(:MemoryLimit, { memory: "80%" }, limits: nil)
    end

    def test_a_restart_fits_beside_workers_or_instead_of_them_or_not_at_all
      limits = CLI::MachineLimits.new("container_memory" => 512 * MIB, "machine_memory" => 4096 * MIB)
      two = "two molds of 40 MiB"
      last = "once the last worker has ended: requests wait in the queue meanwhile"
      none = "warning  restart: #{two} do not fit; raise the container's limit or memory by"
      { [200, true, 0] => "ok       restart: #{two} fit beside 2 workers",
        [200, true, 1] => "ok       restart: #{two} fit beside 2 workers and 1 further process",
        [150, true, 1] => "ok       restart: #{two} fit once workers have ended, down to 1",
        [125, false, 0] => "ok       restart: #{two} fit once workers have ended, down to 1",
        [125, true, 2] => "ok       restart: #{two} fit once processes have ended: they start again after it",
        [110, true, 0] => "ok       restart: #{two} fit #{last}",
        [110, true, 2] => "ok       restart: #{two} fit #{last}",
        [90, true, 0] => "#{none} 5 MiB", [90, false, 0] => "#{none} 25 MiB",
        [110, false, 2] => "#{none} 7 MiB, or allow restart_hold" }
        .each do |(memory, restart_hold, processes), words|
        options = { memory: memory * MIB, client_memory: nil, cache: nil, restart_hold:, workers: 2..2, processes: }
        assert_equal words, said(:RestartRoom, Options.new(options), limits:) { mold(40) }
      end
      cached = { memory: 200 * MIB, client_memory: nil, cache: 64 * MIB, workers: 2..2, processes: 0 }
      assert_match(/once workers have ended, down to 1/,
                   said(:RestartRoom, Options.new(cached), limits:) { mold(40) })
      memory = { memory: 4 * MIB }
      assert_match(/unknown: the application cannot be loaded/, said(:RestartRoom, memory, limits:) { nil })
      assert_match(/unknown: /, said(:RestartRoom, memory, limits: CLI::MachineLimits.new({})) { flunk "no limit" })
    end

    def test_the_peak_of_a_second_mold_only_has_to_fit_the_container
      limits = CLI::MachineLimits.new("container_memory" => 256 * MIB, "machine_memory" => 4096 * MIB)
      options = { memory: "80%", client_memory: nil, cache: nil, restart_hold: true, workers: 2..2, processes: 0 }
      { 40 => "beside 2 workers", 90 => "beside 2 workers", 150 => "once workers have ended, down to 1",
        170 => "once the last worker has ended: requests wait in the queue meanwhile" }.each do |peak, words|
        molds = "two molds of 40 MiB#{", one at #{peak} MiB for a moment," if peak > 40}"
        assert_equal "ok       restart: #{molds} fit #{words}",
                     said(:RestartRoom, Options.new(options), limits:) { mold(40, peak) }
      end
      assert_match(/one at 210 MiB for a moment, do not fit; raise .* by 20\.5 MiB\z/,
                   said(:RestartRoom, Options.new(options), limits:) { mold(40, 210) })
    end

    def test_open_files_are_enough_for_the_clients_that_were_asked_for
      remedy = "raise `ulimit -Hn` or LimitNOFILE"
      { [341, true] => "ok       open files: 341 allowed, enough for 100 clients",
        [340, true] => "warning  open files: 340 allowed, enough for 99 of max_connections 100: #{remedy}, or lower " \
                       "max_connections",
        [340, false] => "ok       open files: 340 allowed, enough for 99 clients",
        [325, true, { fibers: 256 }] => "ok       open files: 325 allowed, enough for 100 clients",
        [20_000, true, { max_connections: 9000 }] => "ok       open files: 20000 allowed, enough for 9000 clients",
        [102, false] => "ok       open files: 102 allowed, enough for 4 clients",
        [101, false] => "problem  open files: 101 allowed, too few for the workers: #{remedy}" }
        .each do |(allowed, chosen, more), words|
        options = { workers: 1..1, threads: 3, fibers: nil, max_connections: 100, **more.to_h }
        assert_equal words, said(:OpenFiles, Options.new(options, chosen), allowed:)
      end
    end

    def test_a_kernel_that_never_overcommits_is_a_warning
      %w[0 1].each { |mode| assert_match(/\Aok /, said(:Overcommit, {}, mode:)) }
      assert_match(/\Awarning  overcommit: vm\.overcommit_memory is 2: .* set it to 0 or 1/,
                   said(:Overcommit, {}, mode: "2"))
    end

    def test_a_spool_in_memory_is_a_warning
      mount = "36 1 #{DEVICE} / / rw shared:1 master:2 - %s carat rw,size=1m\n"
      spool = ->(mounts) { said(:SpoolMemory, { spool_dir: "/" }, mounts:) }
      ["", format(mount, "ext4")].each { |mounts| assert_match(/\Aok /, spool[mounts]) }
      %w[tmpfs ramfs].each do |type|
        assert_equal "warning  spool_dir: / is a #{type}: files there take memory; " \
                     "set spool_dir to a directory on a disk",
                     spool["9 1 0:9999 / /x rw - x x rw\n#{format(mount, type)}"]
      end
    end

    def test_a_spool_has_room_for_its_limits
      options = { spool_dir: "/var/tmp", max_body: 1 << 30, spool_limit: 8 << 30 }
      { 8 << 30 => "ok       spool_dir: /var/tmp has 8 GiB free",
        15 << 29 => "warning  spool_dir: /var/tmp has 7.5 GiB free, but spool_limit allows 8 GiB",
        0 => "warning  spool_dir: /var/tmp has 0 B free, but max_body allows 1 GiB" }
        .each { |free, words| assert_equal words, said(:SpoolRoom, options, free:) }
    end

    def test_every_file_of_a_check_is_in_the_table
      files = Dir[File.expand_path("../../../../lib/carat/parts/doctor/**/*.rb", __dir__)]

      assert_equal files.size - 5, CLI::Doctor::CHECKS.uniq.size,
                   "all but doctor.rb, elsewhere.rb, finding.rb, mold_memory.rb, and part.rb"
    end

    private

    def said(check, ...)
      CLI::Doctor.const_get(check).new(...).finding.to_s
    end

    def mold(ready, peak = ready) = CLI::Doctor::MoldMemory.new(ready * MIB, peak * MIB)
  end
end
