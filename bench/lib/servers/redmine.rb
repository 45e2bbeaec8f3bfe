# frozen_string_literal: true

require "fileutils"
require "securerandom"

module Bench
  # Redmine as Debian packages it, copied to a directory that the benchmark may write to, with a PostgreSQL of its own.
  module Redmine
    PACKAGE = "/usr/share/redmine"
    INSTANCE = "instances/default"
    DATABASE = "redmine"
    TEMPLATE = "redmine_template"
    THREADS = 5
    # In KB: Redmine refuses attachments above 5 MB otherwise.
    ATTACHMENT_LIMIT = 300 * 1024
    SETTINGS = <<~SQL
      update users set must_change_passwd = false;
      insert into settings (name, value, updated_on) values ('attachment_max_size', '#{ATTACHMENT_LIMIT}', now());
    SQL

    # One sentence why Redmine cannot run here, or nil.
    def self.obstacle
      return "Redmine is not installed (script/redmine runs a command where it is)" unless File.exist?(PACKAGE)

      Gem::Specification.find_all_by_name("pg").empty? ? "the driver of PostgreSQL is not installed" : nil
    end

    # The rackup file of a Redmine with empty tables, and no attachments.
    def self.fresh
      prepare
      psql("postgres", "drop database if exists #{DATABASE} with (force)",
           "create database #{DATABASE} template #{TEMPLATE}")
      FileUtils.rm_rf(File.join(home, INSTANCE, "files"))
      FileUtils.mkdir_p(File.join(home, INSTANCE, "files"))
      File.join(home, "config.ru")
    end

    # The variables that Redmine needs.
    def self.environment
      { "RAILS_ENV" => "production", "REDMINE_INSTANCE" => "default", "RAILS_MAX_THREADS" => THREADS.to_s }
    end

    def self.home = TestFile.path("redmine")

    # Copies the package, and makes the database that others are copied from.
    def self.prepare
      return if @prepared

      @prepared = true
      copy_package
      %w[config files log public tmp].each { |name| FileUtils.mkdir_p(File.join(home, INSTANCE, name)) }
      write("Gemfile.local", "gem \"pg\"\n")
      write("#{INSTANCE}/config/secret_key.txt", SecureRandom.hex(64))
      fill_template
    end

    # Some of its files are links that are relative to the package.
    def self.copy_package
      FileUtils.cp_r(PACKAGE, home)
      FileUtils.rm_f(%w[instances Gemfile.lock config/database.yml].map { |path| File.join(home, path) })
      Dir.glob("app/**/*", base: home).map { |path| File.join(home, path) }.select { |path| File.symlink?(path) }
         .each { |path| FileUtils.ln_sf(File.realpath(path.sub(home, PACKAGE)), path) }
    end

    def self.fill_template
      psql("postgres", "create database #{TEMPLATE}")
      configure(TEMPLATE)
      rake("db:migrate")
      rake("redmine:load_default_data", "REDMINE_LANG" => "en")
      psql(TEMPLATE, *SETTINGS.lines)
      configure(DATABASE)
    end

    def self.configure(database)
      server = Support::Postgres.shared
      write("#{INSTANCE}/config/database.yml", <<~YAML)
        production:
          adapter: postgresql
          database: #{database}
          host: #{server.directory}
          port: #{server.port}
          username: #{Support::Postgres::OWNER}
          pool: #{THREADS}
      YAML
    end

    def self.rake(task, variables = {})
      output = IO.popen([environment.merge(variables), "rake", task, { chdir: home, err: %i[child out] }], &:read)
      raise Failure, "rake #{task} failed:\n#{output}" unless Process.last_status.success?
    end

    def self.psql(database, *statements)
      require_relative "../../../test/support/postgres"
      connection = PG.connect(Support::Postgres.shared.url(database))
      statements.each { |statement| connection.exec(statement) }
    ensure
      connection&.finish
    end

    def self.write(name, text) = File.write(File.join(home, name), text)

    private_class_method :prepare, :copy_package, :fill_template, :configure, :rake, :psql, :write
  end
end
