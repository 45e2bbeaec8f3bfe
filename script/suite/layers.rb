# frozen_string_literal: true

require_relative "rooms"
require_relative "type_names"
require_relative "wildcard_arms"

# Checks who knows whom: no Ruby below the edge and the crates that do without it, nothing but jemalloc below the
# allocator, no I/O below the crates that are pure, unsafe code only where C is spoken, no circle between the files of a
# crate, the rows of crates in docs/architecture.md, one meaning for each type, and every event and command of the
# supervisor where they are told apart.
module Suite
  RUBY_CRATE = /^(?:magnus|rb-sys)\S* v\S+/
  WITHOUT_RUBY = %w[carat-edge carat-fibers carat-lane].freeze
  ALLOCATOR = %w[carat-malloc libc tikv-jemalloc-sys].freeze
  UNSAFE = %w[carat-malloc carat-native].freeze
  # The crate of the gem carat-lab.
  LAB = "lab/crate"
  SIMULATION = "crates/carat-edge/src/simulation"
  # These depend on no other crate: no sockets, no clock of their own, no runtime.
  PURE = %w[carat-fields carat-guard carat-wire].freeze
  # These use other crates, but without their part none that does I/O.
  WITHOUT_IO = %w[carat-cable carat-http2].freeze
  IO_CRATES = %w[mio nix rustix socket2 tokio].freeze
  # A lane has two ends: the edge's, and the class that Ruby sees.
  SEVERAL = %w[Lane].freeze

  def self.tree(crate, edges, *flags)
    tree = IO.popen(%W[cargo tree --locked -p #{crate} -e #{edges} --prefix none] + flags, &:read)
    abort "cargo tree failed" unless Process.last_status.success?
    tree.lines.uniq
  end

  def self.check_ruby
    WITHOUT_RUBY.each do |crate|
      crates = tree(crate, "normal,build")
      ruby = crates.join.scan(RUBY_CRATE).uniq
      abort "#{crate} depends on #{ruby.join(", ")}" if ruby.any?
      puts "#{crate}: #{crates.size} crates, none of them of Ruby"
    end
  end

  def self.check_allocator
    others = names("carat-malloc") - ALLOCATOR
    abort "carat-malloc depends on #{others.join(", ")}" if others.any?
  end

  def self.check_pure
    PURE.each do |crate|
      others = names(crate) - [crate]
      abort "#{crate} is pure, but depends on #{others.join(", ")}" if others.any?
    end
  end

  def self.check_io
    WITHOUT_IO.each do |crate|
      others = names(crate, "--no-default-features") & IO_CRATES
      abort "#{crate} does no I/O, but depends on #{others.join(", ")}" if others.any?
    end
  end

  def self.names(crate, *flags)
    tree(crate, "normal", *flags).map { |line| line[/\S+/] }.compact.uniq
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

  # The supervisor's events and commands.
  def self.check_wildcard_arms
    enums = WildcardArms.enums("crates/carat-supervisor/src/event.rs") +
            WildcardArms.enums("crates/carat-supervisor/src/command.rs")
    failures = WildcardArms.new(Dir["crates/carat-{supervisor,edge}/src/**/*.rs"].sort, enums).failures
    abort failures.join("\n") if failures.any?
  end
end

if $PROGRAM_NAME == __FILE__
  Suite.check_ruby
  Suite.check_allocator
  Suite.check_pure
  Suite.check_io
  Suite.check_unsafe
  Suite.check_rooms
  Suite.check_rows
  Suite.check_type_names
  Suite.check_wildcard_arms
end
