# frozen_string_literal: true

require "json"
require "open3"

module Bench
  # What `carat weigh` costs the boot that it measures: a boot as a mold does it, and the same one weighed, in turn.
  class WeighCost
    ROUNDS = 5
    LIBRARY = File.expand_path("../../../lib", __dir__)
    # The part of the boot that `carat weigh` times.
    PLAIN = <<~'RUBY'
      module Carat
        log = Log::ProcessLog.new(mold: true)
        began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
        Warmup::Application.load(ARGV.fetch(0))
        Warmup::EagerLoading.run(log:)
        $stderr.puts(Process.clock_gettime(Process::CLOCK_MONOTONIC) - began)
      end
    RUBY
    NEEDED = %w[config/configuration log/process_log warmup/application warmup/eager_loading].freeze
    # The environment of a mold, for the same allocator and collector.
    ENVIRONMENT = <<~'RUBY'
      require "json"
      module Carat
        configuration = Config::Configuration.from_words(["rackup=#{ARGV.fetch(0)}"])
        puts JSON.generate(Launch::MoldEnvironment.new(configuration).to_h)
      end
    RUBY

    # app: the name of a rackup file; env: a callable that returns the application's variables.
    def initialize(app, env: -> { {} })
      @app = File.join(APPS, app)
      @env = env
    end

    def call(spec, _options)
      variables = spec.with_env(@env.call).environment
      rounds = Array.new(ROUNDS) { [plain(variables), weighed(variables)] }
      plain, weighed = rounds.transpose
      { plain: Statistics.median(plain), weighed: Statistics.median(weighed),
        ratio: Statistics.median(rounds.map { |one, other| other / one }) }
    end

    private

    # Seconds.
    def plain(variables)
      mold = JSON.parse(ruby(variables, ENVIRONMENT, %w[config/configuration launch/mold_environment]).first)
      Float(ruby(variables.merge(mold), PLAIN, NEEDED).last.lines.last)
    end

    def weighed(variables)
      out, error, status = Open3.capture3(variables, RbConfig.ruby, Servers::CARAT, "weigh", "--json", @app)
      raise Failure, "carat weigh failed:\n#{error}" unless status.success?

      JSON.parse(out).fetch("seconds")
    end

    # Standard output and standard error of a program.
    def ruby(variables, program, libraries)
      words = libraries.flat_map { |name| ["-r", "carat/#{name}"] }
      out, error, status = Open3.capture3(variables, RbConfig.ruby, "-I", LIBRARY, *words, "-e", program, "--", @app)
      raise Failure, "the application does not boot:\n#{error}" unless status.success?

      [out, error]
    end

    COLUMNS = [
      Column.new("s of a boot", :plain, places: 2), Column.new("weighed", :weighed, places: 2),
      Column.new("ratio", :ratio, places: 2, target: Target.at_most(2))
    ].freeze

    def self.kase(name, title, cost, needs: -> {})
      Case.new(name: name, title: "#{title}: a boot, without and with carat weigh", servers: %w[carat],
               measure: cost, columns: COLUMNS, needs: needs)
    end
    private_class_method :kase

    CASES = [
      kase("weigh-cost", "40 MB of objects", new("weight.ru")),
      kase("weigh-cost-rails", "Rails with 20 models", new("rails_weight.ru", env: Weight::DATABASE),
           needs: Weight::RAILS)
    ].freeze
  end
end
