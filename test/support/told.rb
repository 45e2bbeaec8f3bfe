# frozen_string_literal: true

module Support
  # What the processes of an application have written to the file `told`: lines of a word and a number.
  module Told
    # A process that writes a line for its start, and one for its end at SIGTERM.
    LOOP = <<~RUBY
      process "jobs", stop_timeout: 20 do
        tell = ->(what) { File.write("told", "\#{what} \#{Process.pid}\\n", mode: "a") }
        ended = false
        trap("TERM") { ended = true }
        tell.call("start")
        sleep 0.01 until ended
        tell.call("end")
      end
    RUBY

    private

    def told(server)
      server.directory.read("told").lines.map { |line| line.split.then { |what, pid| [what, pid.to_i] } }
    rescue Errno::ENOENT
      []
    end

    def await_told(server, count)
      eventually(message: "#{count} lines") { told(server).then { |all| all if all.size >= count } }
    end
  end
end
