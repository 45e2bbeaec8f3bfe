# frozen_string_literal: true

require "time"
require_relative "../platform_gem/check"
require_relative "checkout"
require_relative "files"
require_relative "publication"

module Releasing
  # The command line of script/release.
  class Program
    STEPS = %w[ready source parts unpack platform sbom sums crates rack try notes push page].freeze
    # A network of its own that has only the machine itself, where the kernel lets this user make one.
    ALONE = ["unshare", "--net", "--map-root-user", "sh", "-c", 'ip link set lo up && exec "$@"', "_"].freeze
    CHECK = File.expand_path("../platform_gem/check.rb", __dir__)

    def initialize(words)
      @words = words
      @checkout = Checkout.new
    end

    # Returns the exit status.
    def run
      $stdout.sync = true
      case @words.first
      when nil then all
      when "--write" then write(*@words.drop(1))
      when *STEPS then step(*@words)
      else usage
      end
      true
    rescue Refusal => e
      warn "release: #{e.message}"
      false
    end

    private

    # Everything, dry.
    def all
      start = clock
      puts "Carat #{@checkout.version}, from this checkout"
      tell_obstacles
      heading("source gems") { files.source }
      heading("parts") { files.parts("--build") }
      heading("platform gem") { files.platform }
      heading("SBOM") { files.sbom }
      heading("checksums") { files.sums }
      heading("trials") { files.trials.each { |gems| try(*gems) } }
      puts "", "Everything is in pkg, after #{(clock - start).round} s. Nothing is published; see RELEASE.md."
    end

    def heading(title)
      puts "", "== #{title}"
      start = clock
      yield
      puts format("%<title>s: %<seconds>.0f s", title:, seconds: clock - start)
    end

    def tell_obstacles
      @checkout.obstacles.each { |sentence| puts "not a release yet: #{sentence}" }
      return if today_written.empty?

      puts "script/release --write #{@checkout.version} would change: #{today_written.join(", ")}"
    end

    # The files that a release of today would change.
    def today_written
      texts = @checkout.written(@checkout.version, today)
      texts.reject { |path, text| File.read(File.join(Checkout::ROOT, path)) == text }.keys
    rescue Refusal => e
      puts "not a release yet: #{e.message}"
      []
    end

    def write(version = @checkout.version)
      @checkout.write(version, today)
      puts "#{version}, of #{today}: look at git diff, and commit"
    end

    def step(name, *words)
      case name
      when "ready" then ready(*words)
      when "try" then try(*words)
      when "notes" then puts(@checkout.notes)
      when "push" then Publication.new(files).push(*words)
      when "page" then Publication.new(files).page(@checkout.version, @checkout.notes, *words)
      else files.public_send(name, *words)
      end
    end

    def ready(tag)
      server, repository = ENV.values_at("GITHUB_SERVER_URL", "GITHUB_REPOSITORY")
      obstacles = @checkout.obstacles(tag:, address: (File.join(server, repository) if server && repository))
      raise Refusal, obstacles.join("\nrelease: ") if obstacles.any?
    end

    # Gems beside the first one are what it depends on.
    def try(*gems)
      prefix = system(*ALONE, "true", err: File::NULL) ? ALONE : []
      puts "with the network of this machine, for lack of another" if prefix.empty?
      system(*prefix, RbConfig.ruby, CHECK, "--empty", *gems) || raise(Refusal, "#{gems.first} is not fit for release")
    end

    def files
      @files ||= Files.new(@checkout.version)
    end

    def clock
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end

    def today
      Time.now.utc.strftime("%Y-%m-%d")
    end

    def usage
      program = File.readlines(File.expand_path("../release", __dir__))
      puts program.drop(3).take_while { |line| line.start_with?("#") }.map { |line| line.sub(/\A# ?/, "") }
      raise Refusal, "#{@words.first}: no such step"
    end
  end
end
