# frozen_string_literal: true

require "set"
require "test_helper"

# The option `cable`: the edge has the sockets of Action Cable, and the application its channels.
class CableTest < Support::IntegrationTest
  include Support::CableServer
  needs Support::CableApp.obstacle

  def test_clients_hear_each_other_and_who_leaves
    server = rails(workers: 2, threads: 1)
    ann, *others = %w[ann ben cid].map { |name| subscriber(server, name) }
    say(ann, "grüße")

    [ann, *others].each { |member| assert_equal "ann: grüße", heard(member) }
    ann.json("command" => "unsubscribe", "identifier" => ROOM)
    others.each { |member| assert_equal "ann left after 1", heard(member) }
    others.first.close
    assert_equal "ben left after 0", heard(others.last)
    refute_match(/ERROR|Error/, server.log)
  end

  def test_the_application_says_who_may_come_in
    server = rails(workers: 1, threads: 1)
    foreign = socket(server, "ann", "Origin" => "http://elsewhere.test")
    nobody = socket(server, nil)

    assert_equal 404, foreign.response.status
    assert_predicate nobody, :accepted?
    assert_equal({ "type" => "disconnect", "reason" => "unauthorized", "reconnect" => false }, reply(nobody))
    assert_nil nobody.read_text
  end

  def test_a_channel_rejects
    ann = welcome(rails(workers: 1, threads: 1), "ann")
    closed = JSON.generate("channel" => "RoomChannel", "closed" => true)
    ann.json("command" => "subscribe", "identifier" => closed)

    assert_equal({ "identifier" => closed, "type" => "reject_subscription" }, reply(ann))
  end

  def test_controllers_jobs_and_consoles_broadcast
    program = 'ActionCable.server.broadcast("room", { "text" => "console" })'
    server = rails(workers: 2, threads: 2, files: { "say.rb" => program })
    ann = subscriber(server, "ann")
    server.request("POST", "/notices?text=hello")
    assert_equal "hello", heard(ann)
    server.request("POST", "/notices?text=later&job=1")
    assert_equal "job: later", heard(ann)
    command = [*Support::ServerOptions::COMMAND, "run", *CONTROL_SOCKET, "--", "ruby", "say.rb"]
    out, status = Open3.capture2e(Support::ServerOptions::NEUTRAL_ENV, *command, chdir: server.directory.path)

    assert_equal ["", 0], [out, status.exitstatus]
    assert_equal "console", heard(ann)
  end

  # One broadcasts from its block, one from what it forks, and one is another program. They find the control socket.
  def test_processes_broadcast
    program = "loop { Carat::Cable.broadcast('room', '{\"text\":\"program\"}'); sleep 0.05 }"
    files = { "program.rb" => program }
    server = rails(workers: 1, threads: 1, args: %w[--cable /cable], files:, config: <<~RUBY)
      tick = ->(text) { loop { ActionCable.server.broadcast("room", { "text" => text }); sleep 0.05 } }
      process("block") { tick.call("block") }
      process("fork") { Process.wait(fork { tick.call("fork") }) }
      process("program", command: "exec #{RbConfig.ruby} -I#{File.expand_path("../../lib", __dir__)} -rcarat program.rb")
    RUBY
    ann = subscriber(server, "ann")
    texts = Set.new

    eventually { texts.add(heard(ann)).size == 3 }
    assert_equal %w[block fork program], texts.sort
  end

  def test_a_client_is_disconnected_remotely
    server = rails(workers: 2, threads: 1)
    ann = subscriber(server, "ann")
    ben = subscriber(server, "ben")
    server.request("DELETE", "/clients/ann")

    assert_equal({ "type" => "disconnect", "reason" => "remote", "reconnect" => true }, reply(ann))
    assert_nil ann.read_text
    assert_equal "ann left after 0", heard(ben)
  end

  def test_a_refork_keeps_sockets_and_the_variables_of_channels
    server = rails(workers: 1, threads: 1, args: %w[--cable /cable --refork 20,1000000])
    ann = subscriber(server, "ann")
    say(ann, "one")
    assert_equal "ann: one", heard(ann)
    eventually { Support::ProcessTree.title(server.get("/pid").body.to_i).end_with?(" gen=2") }
    say(ann, "two")

    assert_equal "ann: one two", heard(ann)
  end

  def test_a_killed_worker_costs_no_socket_and_no_other_command
    server = rails(workers: 1, threads: 1)
    ann = subscriber(server, "ann")
    say(ann, "one")
    pid = reply(ann).dig("message", "pid")
    Process.kill(:KILL, pid)
    say(ann, "two")
    message = reply(ann).fetch("message")

    assert_equal "ann: one two", message["text"]
    refute_equal pid, message["pid"]
  end

  def test_a_command_whose_worker_is_killed_has_done_nothing
    server = rails(workers: 1, threads: 1)
    ann = subscriber(server, "ann")
    perform(ann, "say_later", text: "lost")
    pid = eventually { server.directory.read("arrived").to_i.then { |number| number if number.positive? } }
    Process.kill(:KILL, pid)
    eventually { server.workers.values.any? { |worker| worker != pid } }
    server.directory.write("open", "")
    say(ann, "kept")

    assert_equal "ann: kept", heard(ann)
  end

  def test_a_command_that_fails_is_logged_and_ends_nothing
    server = rails(workers: 1, threads: 1)
    ann = subscriber(server, "ann")
    perform(ann, "fail")
    say(ann, "still here")

    assert_equal "ann: still here", heard(ann)
    assert_match(/no such action/, server.log)
  end

  def test_fibers_keep_their_clients_apart
    server = rails(workers: 1, fibers: 8)
    members = Array.new(8) { |number| subscriber(server, "n#{number}") }
    members.each_with_index { |member, number| say(member, number.to_s) }
    texts = Array.new(8) { |number| "n#{number}: #{number}" }

    members.each { |member| assert_equal texts, Array.new(8) { heard(member) }.sort }
  end

  def test_what_cannot_work_is_refused_at_boot
    channel = "class NewsChannel < ActionCable::Channel::Base\n  periodically(every: 0.01) { 1 }\nend\n"
    server = server(app: APP.sub("Shop.initialize!", "#{channel}Shop.initialize!"), **settings)

    refute_predicate server.run, :success?
    assert_match(/cable: NewsChannel, .*config.ru:\d+: `periodically` every 0.01 seconds does not work/, server.log)
  end

  def test_another_adapter_is_refused_at_boot
    server = server(app: APP, **settings(adapter: "async"))

    refute_predicate server.run, :success?
    assert_match(%r{cable: config/cable.yml must name the adapter carat, not async}, server.log)
  end
end
