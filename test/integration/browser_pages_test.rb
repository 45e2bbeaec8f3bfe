# frozen_string_literal: true

require "digest"
require "test_helper"
require "support/browser"
require "support/needs"
require "support/test_certificate"

# Pages over TLS and HTTP/2 in a browser: an upload, events, and WebSockets on streams of the same connection.
class BrowserPagesTest < Support::IntegrationTest
  extend Support::Needs

  needs Support::Browser.obstacle

  EXAMPLES = File.expand_path("../../examples", __dir__)
  CERTIFICATE = Support::TestCertificate.new("localhost")
  BIND = "tls://127.0.0.1:0?cert=server.crt&key=server.key"
  PROTOCOL = "performance.getEntriesByType('navigation')[0].nextHopProtocol"

  CABLE_APP = <<~'RUBY'
    require "logger"
    require "action_controller/railtie"
    require "action_cable/engine"

    class Shop < Rails::Application
      config.load_defaults Rails::VERSION::STRING.to_f
      config.eager_load = true
      config.hosts = nil
      config.secret_key_base = "secret" * 10
      config.logger = Logger.new($stdout)
      config.log_level = :error
      config.action_cable.allow_same_origin_as_host = true
      routes.append { root to: "pages#show" }
    end

    class PagesController < ActionController::Base
      PAGE = <<~HTML
        <!DOCTYPE html><title>Cable</title><link rel="icon" href="data:,"><h1>Cable</h1><ol></ol>
        <script>
          const room = JSON.stringify({ channel: "RoomChannel" })
          const socket = new WebSocket(location.href.replace("http", "ws") + "cable", ["actioncable-v1-json"])
          const send = (command, more) => socket.send(JSON.stringify({ command, identifier: room, ...more }))
          const show = (text) => document.querySelector("ol").insertAdjacentHTML("beforeend", "<li>" + text)
          socket.onopen = () => { show(socket.protocol); send("subscribe") }
          socket.onmessage = ({ data }) => {
            const { type, message } = JSON.parse(data)
            if (type === "confirm_subscription") send("message", { data: JSON.stringify({ action: "say", text: "hello" }) })
            if (message && message.text) show(message.text)
          }
        </script>
      HTML

      def show = render(html: PAGE.html_safe)
    end

    module ApplicationCable
      class Connection < ActionCable::Connection::Base
      end
    end

    class RoomChannel < ActionCable::Channel::Base
      def subscribed = stream_from("room")
      def say(data) = ActionCable.server.broadcast("room", { "text" => "all hear #{data["text"]}" })
    end

    Shop.initialize!
    run Rails.application
  RUBY

  def test_a_file_is_uploaded
    page = on_page("upload", args: %w[--multipart edge]) do |browser|
      browser.evaluate(<<~JS)
        (() => {
          const files = new DataTransfer()
          files.items.add(new File([new Uint8Array(3_000_000).fill(7)], "seven.bin"))
          document.getElementById("file").files = files.files
          document.querySelector("button").click()
        })()
      JS
      await_text(browser, "#sha256", /\A\h{64}\z/)
    end

    assert_equal Digest::SHA256.hexdigest("\x07" * 3_000_000), page
  end

  def test_an_event_appears
    text = on_page("events", args: ["--static", "#{EXAMPLES}/events/public"], fibers: 16) do |browser|
      await_text(browser, "#state", /connected|live|open/i)
      browser.evaluate("document.getElementById('text').value = 'grüße'; document.querySelector('button').click()")
      await_text(browser, "#messages", /grüße/)
    end

    assert_includes text, "grüße"
  end

  def test_a_chat_by_web_socket
    server = nil
    on_page("hijack") do |browser, its_server|
      server = its_server
      await_text(browser, "#messages", /joined: 1 here/)
      browser.evaluate("document.getElementById('text').value = 'hello'; document.querySelector('button').click()")
      await_text(browser, "#messages", /joined: 1 here\s*hello/)
    end

    await_log(server, %r{"GET / HTTP/2\.0" 200 \d+ .*app=.*\n.*"GET / HTTP/2\.0" 200}m)
    refute_match(%r{HTTP/1}, server.log)
  end

  def test_a_chat_by_action_cable
    files = { "config/cable.yml" => "production:\n  adapter: async\n" }
    server = start(CABLE_APP, files: files, env: { "RAILS_ENV" => "production" }, threads: 2)
    visit(server, "cable") { |browser| await_text(browser, "ol", /actioncable-v1-json\s*all hear hello/) }

    await_log(server, %r{"GET /cable HTTP/2\.0" 200 })
    refute_match(%r{HTTP/1|ERROR}, server.log)
  end

  private

  # A page of an example, over HTTP/2; without complaints. Returns what the block returns.
  def on_page(example, args: [], **options, &block)
    server = start(nil, args: ["#{EXAMPLES}/#{example}/config.ru", *args], **options)
    visit(server, example, &block)
  end

  def start(app, args: [], files: {}, **options)
    sizes = options.key?(:fibers) ? { workers: 1 } : { workers: 1, threads: 3 }
    serve(app, binds: [BIND], files: CERTIFICATE.files.merge(files), args: ["--access-log", *args], **sizes, **options)
  end

  def visit(server, name)
    Support::Browser.open do |browser|
      browser.visit("https://localhost:#{server.port}/")
      assert_equal "h2", browser.evaluate(PROTOCOL)
      found = yield browser, server
      keep_picture(browser, name)
      assert_empty browser.complaints
      found
    end
  end

  # CARAT_TEST_PICTURES names a directory for pictures of the pages.
  def keep_picture(browser, name)
    directory = ENV.fetch("CARAT_TEST_PICTURES", nil)
    File.binwrite(File.join(directory, "#{name}.png"), browser.picture) if directory
  end

  # Waits until the text of an element is as it should be, and returns it.
  def await_text(browser, selector, pattern)
    eventually(message: "#{selector} like #{pattern.inspect}") do
      browser.evaluate("document.querySelector(#{selector.dump}).innerText")[pattern]
    end
  end
end
