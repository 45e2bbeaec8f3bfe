# frozen_string_literal: true

require "digest"
require "test_helper"

# Pages over TLS and HTTP/2 in a browser: an upload, events, and WebSockets on streams of the same connection.
class BrowserPagesTest < Support::IntegrationTest

  needs Support::Browser.obstacle

  EXAMPLES = File.expand_path("../../examples", __dir__)
  CERTIFICATE = Support::TestCertificate.new("localhost")
  BIND = "tls://127.0.0.1:0?cert=server.crt&key=server.key"
  PROTOCOL = "performance.getEntriesByType('navigation')[0].nextHopProtocol"

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

  private

  # A page of an example, over HTTP/2; without complaints. Returns what the block returns.
  def on_page(example, args: [], **sizes)
    sizes = { threads: 3 } if sizes.empty?
    args = ["#{EXAMPLES}/#{example}/config.ru", "--access-log", *args]
    server = serve(nil, binds: [BIND], files: CERTIFICATE.files, args:, workers: 1, **sizes)
    Support::Browser.open do |browser|
      browser.visit("https://localhost:#{server.port}/")
      assert_equal "h2", browser.evaluate(PROTOCOL)
      found = yield browser, server
      keep_picture(browser, example)
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
