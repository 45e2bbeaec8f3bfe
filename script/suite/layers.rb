# frozen_string_literal: true

# Checks who knows whom: nothing that the edge or the allocator depends on is of Ruby, the allocator has nothing but
# jemalloc, and only the crates that speak with C may hold unsafe code.
module Suite
  RUBY_CRATE = /^(?:magnus|rb-sys)\S* v\S+/
  ALLOCATOR = %w[carat-malloc libc tikv-jemalloc-sys].freeze
  UNSAFE = %w[carat-malloc carat-native].freeze

  def self.tree(crate, edges)
    tree = IO.popen(%W[cargo tree --locked -p #{crate} -e #{edges} --prefix none], &:read)
    abort "cargo tree failed" unless Process.last_status.success?
    tree.lines.uniq
  end

  def self.check_ruby
    crates = tree("carat-edge", "normal,build")
    ruby = crates.join.scan(RUBY_CRATE).uniq
    abort "carat-edge depends on #{ruby.join(", ")}" if ruby.any?
    puts "carat-edge: #{crates.size} crates, none of them of Ruby"
  end

  def self.check_allocator
    others = tree("carat-malloc", "normal").map { |line| line[/\S+/] }.compact.uniq - ALLOCATOR
    abort "carat-malloc depends on #{others.join(", ")}" if others.any?
  end

  def self.check_unsafe
    files = Dir["crates/*/src/**/*.rs"].reject { |path| UNSAFE.include?(path[%r{\Acrates/([^/]+)}, 1]) }
    others = files.select { |path| File.read(path).match?(/\bunsafe(?: \{| fn| impl| extern|\()/) }
    abort "unsafe code in #{others.join(", ")}" if others.any?
  end
end

Suite.check_ruby
Suite.check_allocator
Suite.check_unsafe
