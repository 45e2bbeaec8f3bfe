# frozen_string_literal: true

require "uri"

module Bench
  # A browser's session with Redmine on one kept connection: its cookies and its CSRF token.
  class RedmineSession
    TOKEN = /name="csrf-token" content="([^"]+)"/

    def initialize(port, cookies: {}, token: nil)
      @port = port
      @cookies = cookies
      @token = token
    end

    # The same session on a connection of its own.
    def again = self.class.new(@port, cookies: @cookies.dup, token: @token)

    def get(path, headers = {}) = exchange("GET", path, headers)

    def post(path, form)
      send_form("POST", path, form)
    end

    def patch(path, form)
      send_form("PATCH", path, form)
    end

    # Sends a file as Redmine's page does when a user drops one.
    def upload(path, file)
      headers = { "Content-Type" => "application/octet-stream", "X-Requested-With" => "XMLHttpRequest",
                  "X-CSRF-Token" => @token, "Content-Length" => File.size(file) }
      exchange("POST", path, headers) { |socket| IO.copy_stream(file, socket) }
    end

    # Opens a page and keeps its token for forms.
    def open(path)
      get(path).tap { |response| @token = response.body[TOKEN, 1] }
    end

    # Requests a file and yields its bytes piece by piece; returns the status.
    def download(path)
      client.request(path, headers({}))
      client.stream { |piece| yield piece }
    end

    def close
      @client&.close
      @client = nil
    end

    private

    def send_form(verb, path, form)
      body = URI.encode_www_form({ "authenticity_token" => @token, "_method" => verb.downcase }.merge(form))
      headers = { "Content-Type" => "application/x-www-form-urlencoded", "Content-Length" => body.bytesize }
      exchange("POST", path, headers) { |socket| socket.write(body) }
    end

    def exchange(verb, path, further)
      client.request(path, headers(further), verb: verb)
      yield client.socket if block_given?
      response = client.response
      response.cookies.each { |cookie| @cookies.store(*cookie.split("=", 2)) }
      close if response.headers["connection"] == "close"
      response
    end

    def headers(further)
      further.merge("Cookie" => @cookies.map { |pair| pair.join("=") }.join("; "))
    end

    def client = @client ||= HttpClient.new(@port)
  end
end
