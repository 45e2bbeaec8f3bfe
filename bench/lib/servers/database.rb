# frozen_string_literal: true

module Bench
  # The PostgreSQL of the applications, started when it is first needed.
  module Database
    CONNECTIONS = 12
    RAILS = "7.0"

    # The variables that a Rails application needs.
    def self.environment
      require_relative "../../../test/support/postgres"
      { "DATABASE_URL" => "#{Support::Postgres.shared.url}&pool=#{CONNECTIONS}&checkout_timeout=60",
        "RAILS_ENV" => "production" }
    end

    # One sentence why Rails cannot run in fibers here, or nil.
    def self.obstacle
      rails = newest("activerecord")
      return "Rails is not installed (apt install ruby-rails)" unless rails
      return "fibers need Rails #{RAILS} or later, and this is #{rails} (script/trixie has 7.2)" if
        rails < Gem::Version.new(RAILS)

      "the driver of PostgreSQL is not installed (apt install ruby-pg)" unless newest("pg")
    end

    def self.newest(gem) = Gem::Specification.find_all_by_name(gem).map(&:version).max
    private_class_method :newest
  end
end
