# frozen_string_literal: true

require_relative "rooms"
require_relative "type_names"

# Checks who knows whom: no Ruby below the edge and the crates that do without it, nothing but jemalloc below the
# allocator, no I/O below the crates that are pure, unsafe code only where C is spoken, no circle between the files of a
# crate, the rows of crates in docs/architecture.md, and one meaning for each type.
module Suite
  # Crates, flags of cargo, and what they must not use, of all that they use.
  USES = [
    [%w[carat-edge carat-fibers carat-lane], %w[-e normal,build], ->(used) { used.grep(/\A(?:magnus|rb-sys)/) }],
    [%w[carat-malloc], %w[-e normal], ->(used) { used - %w[libc tikv-jemalloc-sys] }],
    # No sockets, no clock of their own, no runtime.
    [%w[carat-fields carat-guard carat-wire], %w[-e normal], ->(used) { used }],
    # Without their part, nothing that does I/O.
    [%w[carat-cable carat-http2], %w[-e normal --no-default-features],
     ->(used) { used & %w[mio nix rustix socket2 tokio] }]
  ].freeze
  UNSAFE = %w[carat-malloc carat-native].freeze
  # The crate of the gem carat-lab.
  LAB = "lab/crate"
  SIMULATION = "crates/carat-edge/src/simulation"
  # A lane has two ends: the edge's, and the class that Ruby sees.
  SEVERAL = %w[Lane].freeze

  def self.check_uses
    USES.each do |crates, flags, refused|
      crates.each do |crate|
        others = refused.call(used_by(crate, flags))
        abort "#{crate} depends on #{others.join(", ")}" if others.any?
      end
    end
  end

  def self.used_by(crate, flags)
    tree = IO.popen(%W[cargo tree --locked -p #{crate} --prefix none] + flags, &:read)
    abort "cargo tree failed" unless Process.last_status.success?
    tree.lines.filter_map { |line| line[/\S+/] }.uniq - [crate]
  end

  def self.check_unsafe
    files = Dir["crates/*/src/**/*.rs"].reject { |path| UNSAFE.include?(path[%r{\Acrates/([^/]+)}, 1]) }
    others = files.select { |path| File.read(path).match?(/\bunsafe(?: \{| fn| impl| extern|\()/) }
    abort "unsafe code in #{others.join(", ")}" if others.any?
  end

  def self.check_rooms
    crates = Dir["crates/*"].sort << LAB
    failures = crates.flat_map do |crate|
      Rooms.new("#{crate}/src", rooms: crate == "crates/carat-edge" ? Rooms::EDGE : []).failures
    end
    failures += Rooms.new(SIMULATION, module_name: "simulation").failures
    abort failures.join("\n") if failures.any?
  end

  # docs/architecture.md has a row for each crate, below those that it uses.
  def self.check_rows
    above = []
    File.readlines("docs/architecture.md").grep(/^\| `carat-/).each do |row|
      crates = row[/^\|([^|]+)\|/, 1].scan(/carat-[a-z0-9-]+/)
      above.concat(crates)
      crates.each do |crate|
        manifest = File.read("crates/#{crate}/Cargo.toml")
        used = manifest[/^\[dependencies\]$(.*?)(?:^\[|\z)/m, 1].to_s.scan(/^carat-[a-z0-9-]+/)
        below = used - above
        abort "#{crate} uses #{below.join(", ")}, which docs/architecture.md has below it" if below.any?
      end
    end
    missing = Dir.children("crates") - above
    abort "docs/architecture.md has no row for #{missing.join(", ")}" if missing.any?
  end

  def self.check_type_names
    failures = TypeNames.new(Dir["{crates/*,#{LAB}}/src/**/*.rs"].sort, allowed: SEVERAL).failures
    abort failures.join("\n") if failures.any?
  end
end

if $PROGRAM_NAME == __FILE__
  Suite.check_uses
  Suite.check_unsafe
  Suite.check_rooms
  Suite.check_rows
  Suite.check_type_names
end
