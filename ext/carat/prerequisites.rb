# frozen_string_literal: true

require "rbconfig"

module Carat
  # Finds the tools that compiling Carat needs.
  class Prerequisites
    MANIFEST = File.expand_path("../../Cargo.toml", __dir__)
    RUSTUP = "curl https://sh.rustup.rs -sSf | sh"
    LIBCLANG_DIRECTORIES = %w[
      /usr/lib/llvm*/lib /usr/lib/*-linux-gnu* /usr/lib64 /usr/lib64/llvm*/lib /usr/lib /usr/local/lib /lib
      /usr/local/llvm*/lib /opt/homebrew/opt/llvm/lib
    ].freeze

    # A missing tool, and how to install it.
    Missing = Struct.new(:what, :remedy) do
      def to_s
        "#{what} (#{remedy})"
      end
    end

    # `system` is what Ruby calls the operating system.
    def initialize(system: RbConfig::CONFIG.fetch("host_os"))
      @system = system
    end

    # Whether Carat serves on this system.
    def linux?
      @system.include?("linux")
    end

    # Returns an Array of Missing; empty when Carat can be compiled.
    def missing
      [cargo, libclang, ruby_headers, compiler].compact
    end

    private

    def cargo
      version = installed_cargo
      return if version && Gem::Version.new(version) >= Gem::Version.new(oldest_rust)

      found = version ? "; found #{version}" : ""
      Missing.new("cargo #{oldest_rust} or later#{found}",
                  "Debian 13: apt-get install cargo; Debian 12: cargo-web; elsewhere: #{RUSTUP}")
    end

    # Returns the version of cargo, or nil without one.
    def installed_cargo
      `cargo --version`[/\d+\.\d+\.\d+/]
    rescue Errno::ENOENT
      nil
    end

    def oldest_rust
      File.read(MANIFEST)[/^rust-version = "(.+)"$/, 1]
    end

    def libclang
      directories = [ENV.fetch("LIBCLANG_PATH", nil), *LIBCLANG_DIRECTORIES].compact
      return if directories.any? { |path| Dir.glob("#{path}/libclang{,-*}.{so,so.*,dylib}").any? || libclang?(path) }

      Missing.new("libclang", "Debian: apt-get install libclang-dev")
    end

    # LIBCLANG_PATH may be the path of the library.
    def libclang?(path)
      File.file?(path) && File.basename(path).start_with?("libclang")
    end

    def ruby_headers
      header = File.join(RbConfig::CONFIG.fetch("rubyhdrdir").to_s, "ruby.h")
      Missing.new("Ruby's headers (#{header})", "Debian: apt-get install ruby-dev") unless File.file?(header)
    end

    def compiler
      return if ENV.fetch("PATH", "").split(":").any? { |path| File.executable?(File.join(path, "cc")) }

      Missing.new("a C compiler to link with (cc)", "Debian: apt-get install build-essential")
    end
  end
end
