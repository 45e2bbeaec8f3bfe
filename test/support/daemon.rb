# frozen_string_literal: true

require "etc"
require "fileutils"
require "tmpdir"
require_relative "eventually"

module Support
  # A third-party server that tests talk to. It runs in a temporary directory, as an ordinary user even when root runs
  # the tests, and ends with this process, however that ends.
  #
  # A subclass defines `arguments`, `ready?`, and, if there is work before the first start, `prepare`.
  class Daemon
    # The program is missing, or it ended before it was ready.
    class Failed < StandardError; end

    # Root runs the program as the first of these users that exists.
    USERS = %w[postgres nobody].freeze
    READY_SECONDS = 60
    LOG = "server.log"
    STARTING = Mutex.new
    private_constant :STARTING

    # @return [String] the directory of its files, its log, and its Unix socket
    attr_reader :directory
    # @return [Integer, nil] the pid of its main process; nil when it has ended
    attr_reader :pid

    # The instance that the tests of this process share. The first call, from any fiber or thread, starts it.
    def self.shared
      STARTING.synchronize { @shared ||= new.start }
    end

    def initialize
      @directory = File.realpath(Dir.mktmpdir("#{self.class.name.split("::").last.downcase}-"))
      FileUtils.chown(user, nil, @directory) if user
      owner = Process.pid
      at_exit { destroy if Process.pid == owner }
      prepare
    end

    # Starts the program and returns self when it is ready.
    # @raise [Failed] when it ends first; [Eventually::TooLate] when it is not ready in time
    def start
      @pid = launch_for_good
      await("readiness") { ready? || !running? }
      running? ? self : raise(Failed, "#{self.class} ended:\n#{log}")
    end

    # Stops it, and returns when it has ended.
    def stop(signal = :TERM)
      Process.kill(signal, @pid) if running?
      await("end") { !running? }
    end

    # Ends every connection and restarts with the same files and the same socket.
    def restart
      stop
      start
    end

    # Stops it and removes its directory.
    def destroy
      stop
      FileUtils.rm_rf(@directory)
    end

    # Polls, because in Ruby 3.1 a thread that waits for one child keeps others from waiting for any child.
    def running?
      return false unless @pid

      @pid = nil if Process.wait(@pid, Process::WNOHANG)
      !@pid.nil?
    rescue Errno::ECHILD
      @pid = nil
      false
    end

    # The log so far.
    def log
      File.read(File.join(@directory, LOG))
    end

    private

    def await(what, &block)
      Eventually.eventually(within: READY_SECONDS, message: "the #{what} of #{self.class}", &block)
    end

    # Runs once, before the first start.
    def prepare; end

    # Runs a command and waits for its end.
    def run(*command)
      pid = launch(*command)
      Process.wait2(pid).last.success? or raise Failed, "#{command.first} failed:\n#{log}"
    end

    # Writes a file that only its user can read.
    def write(name, content)
      path = File.join(@directory, name)
      File.write(path, content, perm: 0o600)
      FileUtils.chown(user, nil, path) if user
    end

    # The kernel ends the program with the thread that started it, so this thread lives as long as the process.
    def launch_for_good
      started = Queue.new
      Thread.new { started << launch(*arguments) && sleep }
      started.pop
    end

    def launch(*command)
      as_user = ["--reuid=#{user}", "--regid=#{Etc.getpwnam(user).gid}", "--clear-groups"] if user
      Process.spawn({ "LC_ALL" => "C" }, "setpriv", *as_user, "--pdeathsig=INT", "--", *command,
                    chdir: @directory, in: File::NULL, %i[out err] => [File.join(@directory, LOG), "a"])
    end

    # The user that the program runs as; nil when this process itself runs as an ordinary user.
    def user
      return unless Process.uid.zero?

      @user ||= (USERS & Etc::Passwd.map(&:name)).first
    end
  end
end
