# frozen_string_literal: true

require "digest"

module Bench
  # The users of a Redmine (see ClientProcess).
  class RedmineClient
    PROJECT = "/projects/bench"
    ISSUES = 30
    # One in so many requests adds a note to an issue.
    WRITES_EVERY = 10
    PAGES = ["/projects", PROJECT, "#{PROJECT}/issues", "/issues", "/issues/%<issue>d", "#{PROJECT}/activity",
             "#{PROJECT}/activity.atom", "/my/page", "/issues/%<issue>d", "/search?q=bench", "#{PROJECT}/issues/new",
             "#{PROJECT}/issues.atom", "#{PROJECT}/issues/gantt", "/issues/%<issue>d", "#{PROJECT}/issues/calendar",
             "#{PROJECT}/issues.csv", "/users/1", "/issues/%<issue>d", "#{PROJECT}/roadmap"].freeze
    ATTACHMENT_TOKEN = /\b\d+\.\h{64}\b/

    def initialize(port)
      @session = RedmineSession.new(port)
      @issues = []
    end

    # Logs in and creates a project with issues. Returns the steps that failed.
    def set_up
      failures(log_in: method(:log_in), project: method(:create_project), issues: method(:create_issues),
               feed: method(:read_feed))
    end

    # Attaches a file to an issue and reads it back. Returns the steps that failed.
    def attach(file:, sha256:)
      token = nil
      failures(upload: -> { token = upload(file) }, attach: -> { add_attachment(token) },
               download: -> { download(token) == sha256 })
    end

    # Mixed requests over some connections. Returns how many were sent, how many failed, and how long they took.
    def load(requests:, connections:)
      numbers = Queue.new(0...requests).close
      started = Bench.now
      times = Array.new(connections) { Thread.new { work(numbers) } }.flat_map(&:value)
      seconds = Bench.now - started
      done = times.compact
      { requests: times.size, failed: times.size - done.size, rate: done.size / seconds,
        p50_ms: Statistics.percentile(done, 50) || 0,
        p99_ms: Statistics.percentile(done, 99) || 0 }
    end

    private

    def failures(**steps)
      steps.filter_map do |name, step|
        name unless step.call
      rescue *HttpClient::GONE, SystemCallError
        name
      end
    end

    def log_in
      @session.open("/login")
      entered = @session.post("/login", "username" => "admin", "password" => "admin").status == 302
      @session.open("/my/page")
      entered
    end

    def create_project
      form = { "project[name]" => "Bench", "project[identifier]" => "bench", "project[is_public]" => 1 }
      @session.post("/projects", form).status == 302
    end

    def create_issues
      @issues = Array.new(ISSUES) do |number|
        form = { "issue[tracker_id]" => 1, "issue[subject]" => "Bench issue #{number}",
                 "issue[description]" => "It happens *again*:\n\n* first\n* second\n" * 5 }
        @session.post("#{PROJECT}/issues", form).headers["location"].to_s[%r{/issues/(\d+)\z}, 1]
      end
      @issues.all?
    end

    def read_feed
      feed = @session.get("#{PROJECT}/issues.atom")
      feed.status == 200 && feed.body.include?("Bench issue #{ISSUES - 1}")
    end

    # The token of the attachment, nil when there is none.
    def upload(file)
      path = "/uploads.js?attachment_id=1&filename=bench.bin&content_type=application/octet-stream"
      @session.upload(path, file).body[ATTACHMENT_TOKEN]
    end

    def add_attachment(token)
      form = { "attachments[1][filename]" => "bench.bin", "attachments[1][token]" => token }
      @session.patch("/issues/#{@issues.first}", form).status == 302
    end

    # The checksum of what is downloaded.
    def download(token)
      digest = Digest::SHA256.new
      status = @session.download("/attachments/download/#{token.to_i}/bench.bin") { |piece| digest << piece }
      digest.hexdigest if status == 200
    end

    # Milliseconds of each request, nil for one that failed.
    def work(numbers)
      session = @session.again
      times = []
      while (number = numbers.pop)
        started = Bench.now
        times << (succeeds?(session, number) ? (Bench.now - started) * 1000 : nil)
      end
      times
    ensure
      session.close
    end

    def succeeds?(session, number)
      issue = @issues[number / WRITES_EVERY % ISSUES] || 1
      return add_note(session, issue, number) if (number % WRITES_EVERY).zero?

      session.get(format(PAGES[number % PAGES.size], issue: issue)).status == 200
    rescue *HttpClient::GONE
      session.close
      false
    end

    def add_note(session, issue, number)
      session.patch("/issues/#{issue}", "issue[notes]" => "Note *#{number}*").status == 302
    end
  end
end
