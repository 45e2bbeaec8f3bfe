# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../bench/lib/bench"
require_relative "../../../lib/carat/parts/init/application"
require_relative "../../support/workplace"

# What bench/jobs and the cases of a whole application make of their set-ups and results.
class BenchJobsTest < Minitest::Test
  include Support::Workplace

  LOG = <<~LOG
    2026-11-29T09:00:00.000Z info previous mold makes room for the restart
    2026-11-29T09:00:00.000Z info restarting
    2026-11-29T09:00:01.000Z info worker makes room for the restart worker=2 gen=1 pid=9
    2026-11-29T09:00:01.000Z info worker makes room for the restart worker=3 gen=1 pid=7
    2026-11-29T09:00:02.000Z info processes make room for the restart: they start again after it needed=21MiB
    2026-11-29T09:00:03.000Z info last worker makes room for the restart: requests wait in the queue worker=1 gen=1
  LOG
  WORDS = "carat: restarted: generation 2 serves with 1 worker; requests waited for 3.1 s, while no worker ran\n"

  def test_a_restart_keeps_its_steps_and_for_how_long_requests_waited
    told = Bench::JobsRestarts.told(WORDS, 4.26, LOG)

    assert_equal({ "previous mold" => 1, "worker" => 2, "processes" => 1, "last worker" => 1 }, told[:steps])
    assert_equal [3.1, 4.3, WORDS.strip], told.values_at(:waited, :seconds, :words)
  end

  def test_the_result_names_the_longest_wait_and_in_how_many_restarts_each_step_was_taken
    plain = Bench::JobsRestarts.told("carat: restarted: generation 2 serves with 2 workers", 2, LOG.lines.first)
    all = [plain, Bench::JobsRestarts.told(WORDS, 4, LOG), Bench::JobsRestarts.told("", 1, "")]

    assert_equal({ steps: { "previous mold" => 2, "worker" => 1, "processes" => 1, "last worker" => 1 },
                   waited: 3.1 }, Bench::JobsRestarts.most(all))
  end

  def test_carat_init_finds_the_health_check_of_the_whole_application
    write("config/routes.rb", Bench::WholeApp::FILES.fetch("config/routes.rb"))

    assert_equal "/up", Carat.const_get(:CLI)::Init::Application.new.health_path
  end
end
