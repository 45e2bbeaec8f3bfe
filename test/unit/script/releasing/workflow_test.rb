# frozen_string_literal: true

require "minitest/autorun"
require "shellwords"
require "yaml"
require_relative "../../../../script/releasing/program"

# The workflow that publishes runs once in months: what it calls must be there.
class ReleasingWorkflowTest < Minitest::Test
  ROOT = Releasing::Checkout::ROOT
  JOBS = YAML.load_file(File.join(ROOT, ".github/workflows/release.yml")).fetch("jobs").freeze

  def test_every_script_that_it_runs_is_there
    scripts = commands.flat_map { |command| command.scan(%r{script/[\w./]+}) }.uniq

    assert_includes scripts, "script/releasing/parts.sh"
    assert_empty(scripts.reject { |path| File.executable?(File.join(ROOT, path)) })
  end

  def test_every_step_of_a_release_that_it_runs_exists
    steps = commands.filter_map { |command| command[%r{script/release (\S+)}, 1] }

    assert_empty steps - Releasing::Program::STEPS
  end

  def test_every_command_is_a_script_that_also_runs_elsewhere
    scripts = %r{\A(script/|docker run --rm --volume \S+ --workdir /carat "\$IMAGE" script/|sudo apt-get )}

    assert_empty(commands.grep_v(scripts))
  end

  def test_only_the_job_that_publishes_has_rights
    assert_equal(["publish"], JOBS.select { |_, job| job.key?("permissions") }.keys)
    assert_equal "rubygems.org", JOBS.fetch("publish").fetch("environment")
  end

  private

  def commands
    JOBS.values.flat_map { |job| job.fetch("steps") }.filter_map { |step| step["run"] }
  end
end
