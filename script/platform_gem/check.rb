# frozen_string_literal: true

require "fileutils"
require "net/http"
require "open3"
require "timeout"
require "tmpdir"
require_relative "../../test/support/rails_app"
require_relative "commands"

module PlatformGem
  # Installs a gem, and serves a Rack application with it, and a Rails application where Rails is installed. With
  # carat-lab, it counts what a request allocates.
  class Check
    include Commands

    COMPILERS = %w[cargo rustc gcc cc clang make].freeze
    # Answers with the bytes of the body.
    RACK_APP = <<~'RUBY'
      run lambda { |env|
        bytes = IO.copy_stream(env["rack.input"] || File::NULL, File::NULL)
        [200, { "content-type" => "text/plain" }, ["hello, #{bytes} bytes"]]
      }
    RUBY
    UPLOAD_BYTES = 300_000_000
    # How long Rails may take; under an emulator, or beside other work, longer.
    SERVES_WITHIN_SECONDS = Integer(ENV.fetch("CARAT_TEST_BOOT_SECONDS", 10))
    DEADLINE_SECONDS = [120, SERVES_WITHIN_SECONDS].max
    # A gem that compiles finds its crates, and compiles those of others once.
    COMPILING = { "CARGO_NET_OFFLINE" => "true",
                  "CARGO_TARGET_DIR" => File.expand_path("../../target/gem", __dir__) }.freeze

    # `gems` are paths of gems: Carat's, and those that it depends on. `home` is an empty directory to install into, or
    # nil for the machine's own, which then has no compiler.
    def initialize(gems, home: nil)
      @gems = gems.map { |path| File.expand_path(path) }
      @home = home
      @env = home ? { "GEM_HOME" => home, "GEM_PATH" => nil, "RUBYLIB" => nil, "RUBYOPT" => nil, **COMPILING } : {}
    end

    # Returns what is wrong with a server that took so long until its first response, or nil.
    def self.delay(seconds, limit = SERVES_WITHIN_SECONDS)
      return if seconds <= limit

      format("the first response took %.1f s, more than %d s: repeat this on a machine that does nothing else, " \
             "or set CARAT_TEST_BOOT_SECONDS", seconds, limit)
    end

    # Prints a line for each step; aborts at the first that fails.
    def run
      puts File.basename(@gems.first)
      refuse_compilers unless @home
      report("gem install", seconds { run_command("gem", "install", "--local", "--no-document", *@gems.reverse) })
      report("carat --version", seconds { run_command("carat", "--version") })
      in_directory { check_rack }
      return in_directory { check_lab } if File.basename(@gems.first).start_with?("carat-lab-")

      obstacle = rails_obstacle
      return puts("not tried with Rails: #{obstacle}") if obstacle

      in_directory { check_rails }
    end

    private

    def in_directory(&block)
      Dir.mktmpdir { |directory| Dir.chdir(directory, &block) }
    end

    def refuse_compilers
      paths = ENV.fetch("PATH").split(":").product(COMPILERS).map { |parts| File.join(*parts) }
      found = paths.select { |path| File.executable?(path) } + Dir.glob("/usr/lib/{*/,*/*/}libclang*")
      abort "not a machine without a compiler: #{found.join(", ")}" if found.any?
    end

    def check_rack
      File.write("config.ru", RACK_APP)
      report("carat check", seconds { run_command("carat", "check") })
      serving = serve("/", "hello, 0 bytes", "carat", "-b", "tcp://127.0.0.1:0") do |url|
        report("an upload of #{UPLOAD_BYTES / 1_000_000} MB", seconds { upload(URI(url)) })
      end
      report("carat, until the first response", serving)
    end

    def upload(url)
      File.open("upload", "w+") do |file|
        file.truncate(UPLOAD_BYTES)
        request = Net::HTTP::Put.new(url, "content-length" => UPLOAD_BYTES.to_s)
        request.body_stream = file
        http = Net::HTTP.start(url.host, url.port, read_timeout: DEADLINE_SECONDS)
        expect("hello, #{UPLOAD_BYTES} bytes", http.request(request).body)
      end
    end

    def check_lab
      File.write("config.ru", RACK_APP)
      output = ""
      report("carat allocations", seconds { output = run_command("carat", "allocations", "--requests", "11") })
      abort "no figures:\n#{output}" unless output.match?(/\d bytes a request/)
    end

    # An old Rails does not go with the Rack that is given.
    def rails_obstacle
      return "the gems that Carat depends on are given" if @gems.size > 1

      found = run_command("gem", "list", "--local", "--exact", "railties", "--no-versions").strip
      "Ruby #{RUBY_VERSION} has none" if found.empty?
    end

    def check_rails
      Support::RailsApp::FILES.each do |path, text|
        FileUtils.mkdir_p(File.dirname(path))
        File.write(path, text)
      end
      serving = serve("/items/7", "item 7 of ", "bin/rails", "server", "-u", "carat", "-p", "0")
      report("rails server -u carat, until the first response", serving)
      delay = self.class.delay(serving)
      abort delay if delay
    end

    # Returns the seconds until the first response, which must begin with `expected`. A block then gets the URL.
    def serve(path, expected, *words)
      Open3.popen2e(@env, *command(words)) do |_input, output, server|
        url = nil
        waited = seconds { Timeout.timeout(DEADLINE_SECONDS) { url = ask(output, path, expected) } }
        yield url if block_given?
        waited
      ensure
        stop(server.pid)
        output.read
        server.join
      end
    end

    def stop(pid)
      Process.kill(:TERM, pid)
    rescue Errno::ESRCH
      nil # it has ended
    end

    def ask(output, path, expected)
      log = +""
      log << output.readline until (url = log[/listening url=(\S+)/, 1])
      expect(expected, Net::HTTP.get(URI("#{url}#{path}")))
      url
    rescue EOFError
      abort "the server ended:\n#{log}"
    end

    def expect(beginning, body)
      abort "unexpected response: #{body}" unless body.start_with?(beginning)
    end
  end

  if $PROGRAM_NAME == __FILE__
    $stdout.sync = true
    if ARGV.first == "--empty"
      Dir.mktmpdir("carat-home-") { |home| Check.new(ARGV.drop(1), home:).run }
    else
      Check.new(ARGV).run
    end
  end
end
