# frozen_string_literal: true

require "json"
require "net/http"

module Bench
  # Sends requests to the application of JobsApp, each on a connection of its own.
  class JobsClient
    HEADERS = { "x-forwarded-proto" => "https" }.freeze
    # How much of a failed request's response is told.
    TOLD_BYTES = 200

    attr_reader :port
    # Whether to say when and how a request has failed.
    attr_writer :tells

    # by: the framework that runs the jobs; nil is Solid Queue.
    def initialize(port, by: nil)
      @port = port
      @by = by
    end

    # Returns the status, or the name of the error.
    def get(target) = exchange(Net::HTTP::Get.new(target, HEADERS))

    def exchange(request)
      response = http { |http| http.request(request) }
      tell(request, response.code, response.body) unless response.is_a?(Net::HTTPSuccess)
      response.code
    rescue SystemCallError, EOFError, Net::ReadTimeout, Net::OpenTimeout => e
      tell(request, e.class.name, e.message)
      e.class.name
    end

    def enqueue(from, count)
      by = "&by=#{@by}" if @by
      exchange(Net::HTTP::Post.new("/entries?from=#{from}&count=#{count}#{by}", HEADERS))
    end

    # How many jobs are in which state.
    def state = JSON.parse(http { |http| http.request(Net::HTTP::Get.new("/state", HEADERS)).body })

    private

    # Requests may wait for a restart on a busy machine. Each is sent once: by default, Net::HTTP repeats a GET.
    def http(&)
      Net::HTTP.start("127.0.0.1", port, read_timeout: 120, open_timeout: 10, max_retries: 0, &)
    end

    def tell(request, status, text)
      return unless @tells

      text = text.to_s[0, TOLD_BYTES].inspect
      warn("#{Time.now.strftime("%T.%L")} #{request.method} #{request.path}: #{status} #{text}")
    end
  end
end
