# frozen_string_literal: true

require "test_helper"

# Further recipes of docs/processes.md: GoodJob, and Solid Queue in threads. A ledger of their jobs through restarts.
class AppProcessRecipesTest < Support::IntegrationTest
  include Support::ControlledServer

  missing = %w[good_job solid_queue rails sqlite3].find { |name| Gem::Specification.stubs_for(name).empty? }
  needs("the gem #{missing} is not installed") if missing

  BATCH = 20
  GOOD_JOB = <<~RUBY
    process "jobs", stop_timeout: "30s" do
      require "good_job/cli"
      GoodJob::CLI.start(%w[start --max-threads=3 --shutdown-timeout=25])
    end
  RUBY
  SCHEMA = <<~'RUBY'
    require_relative "application"
    Rails.application.initialize!
    unless ActiveRecord::Base.connection.table_exists?("good_jobs")
      require "erb"
      file = "lib/generators/good_job/templates/install/migrations/create_good_jobs.rb.erb"
      text = File.read(File.join(Gem.loaded_specs.fetch("good_job").full_gem_path, file))
      migration_version = "[#{ActiveRecord::Migration.current_version}]"
      eval(ERB.new(text).result(binding))
      ActiveRecord::Migration.suppress_messages { CreateGoodJobs.new.migrate(:up) }
    end
  RUBY

  def test_good_job_runs_each_job_once_through_restarts
    application = Support::JobsApp::FILES.fetch("config/application.rb")
    files = Support::JobsApp::FILES.merge(
      "config/application.rb" => application.gsub(/^.*config\.solid_queue.*\n/, "").gsub("solid_queue", "good_job"),
      "config/environment.rb" => SCHEMA, "config/database.yml" => "{}\n"
    )
    env = { "DATABASE_URL" => Support::Postgres.shared.url, "GOOD_JOB_EXECUTION_MODE" => "external" }

    assert_each_job_runs_once(files, GOOD_JOB, env)
  end

  def test_solid_queue_in_threads_runs_each_job_once_through_restarts
    assert_each_job_runs_once(Support::JobsApp::FILES, Support::JobsApp::ASYNC, {})
  end

  private

  def assert_each_job_runs_once(files, config, env)
    server = server(files:, app: files.fetch("config.ru"), config:, env:, workers: 1, args: CONTROL_SOCKET)
    server.start
    3.times do |index|
      assert_equal 201, server.request("POST", "/entries?from=#{(index * BATCH) + 1}&count=#{BATCH}").status
      assert_equal 0, carat(server, "restart").last
    end
    all = (1..(3 * BATCH)).to_a
    eventually(message: "all jobs") { ledger(server).uniq.size >= all.size }

    assert_equal all, ledger(server).sort
    refute_match(/killing process/, server.log)
  end

  def ledger(server)
    server.directory.read("ledger").lines.map(&:to_i)
  end
end
