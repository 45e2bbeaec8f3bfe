# frozen_string_literal: true

require_relative "../../../lib/carat/native_path"
require_relative "planted_application"

module Support
  # How many bytes a request to a PlantedApplication leaves behind, measured without `carat leak`: in a process that has
  # no server and makes many more calls.
  module PlantedBytes
    PROGRAM = File.expand_path("planted_bytes_program.rb", __dir__)

    # From which call to which. Ruby's tables double: between two calls at which they are about to, they have grown by
    # what their entries take.
    CALLS = {
      object: [20_000, 40_000], singleton: [5_000, 15_000],
      symbol: [(1 << 17) - 20_000, (1 << 18) - 20_000],
      memo: [(1 << 17) - 20_000, (1 << 18) - 20_000], one_in_ten: [20_000, 40_000], fragmentation: [500, 2_000],
      thread: [100, 300]
    }.freeze

    # Measuring would show the room that one large String or Hash keeps to grow; a Hash that replaces entries keeps at
    # least as much again. A cache grows by a String of 200 bytes, and an entry of its Hash with the index.
    BY_HAND = { clean: 0, string: 16, extension: 16, freed_elsewhere: 64, mapping: 4096,
                **PlantedApplication::INNOCENT.transform_values { 64 },
                cache: (RUBY_VERSION < "3.2" ? 40 + 224 : 320) + 24 + 4,
                # On Ruby 4.0, the tables do not double in the rounds of a run: objects of 40 bytes, and their entries.
                # A String of 200 bytes has a slot of 320, which measuring finds among the slots of earlier pages.
                **(RUBY_VERSION < "4" ? {} : { symbol: (2 * 40) + 8, memo: (3 * 40) + 24 + 6,
                                               one_in_ten: (320 + 8) / 10.0 }) }.freeze

    private

    # Whether `planted_bytes` knows this one of RACKUP.
    def planted?(name)
      BY_HAND.key?(name) || CALLS.key?(name)
    end

    # The bytes of one of RACKUP, after `plant`; of pages for fragmentation, of live memory for the others.
    def planted_bytes(name, paths)
      return BY_HAND.fetch(name) if BY_HAND.key?(name)

      measure = name == :fragmentation ? "active" : "allocated"
      command = [RbConfig.ruby, PROGRAM, measure, *CALLS.fetch(name).map(&:to_s), *paths]
      out, err, status = Open3.capture3({ "LD_PRELOAD" => ::Carat::NativePath.malloc }, *command, chdir: @directory)
      assert status.success?, err
      Float(out)
    end
  end
end
