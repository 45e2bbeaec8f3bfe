# frozen_string_literal: true

require "fileutils"
require "open3"
require "test_helper"
require "tmpdir"

class QuietDaemonsTest < Minitest::Test
  SCRIPT = File.expand_path("../../../script/quiet_daemons.sh", __dir__)

  def setup
    @directory = Dir.mktmpdir
    @policy = File.join(@directory, "policy-rc.d")
  end

  def teardown
    FileUtils.remove_entry(@directory)
  end

  def test_no_daemon_may_start_during_the_command
    assert_equal ["101\n", 0], run_quietly('"$POLICY"; echo $?')
  end

  def test_policy_is_removed_afterwards
    run_quietly("true")

    assert_empty Dir.children(@directory)
  end

  def test_policy_of_the_machine_is_restored_whatever_the_command_returns
    File.write(@policy, "mine")

    assert_equal ["", 3], run_quietly("exit 3")
    assert_equal "mine", File.read(@policy)
    assert_equal ["policy-rc.d"], Dir.children(@directory)
  end

  def test_policy_that_an_interrupted_run_left_behind_is_removed
    File.write(@policy, "#!/bin/sh\n# Carat is installing packages: no daemon starts\nexit 101\n")
    run_quietly("true")

    assert_empty Dir.children(@directory)
  end

  private

  def run_quietly(command)
    program = '. "$1"; POLICY=$2; export POLICY; as_root() { "$@"; }; without_starting_daemons bash -c "$3"'
    output, status = Open3.capture2e("bash", "-uo", "pipefail", "-c", program, "_", SCRIPT, @policy, command)
    [output, status.exitstatus]
  end
end
