# frozen_string_literal: true

require "io/nonblock"
require "io/wait"
require "json"
require "tmpdir"

module Support
  # A headless Chromium with one page, controlled by the DevTools protocol over a pair of pipes. It has no network but
  # this machine, and trusts any certificate.
  class Browser
    NAMES = %w[chromium-headless-shell chromium].freeze
    FLAGS = %w[--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars --remote-debugging-pipe
               --disable-background-networking --proxy-server=127.0.0.1:9 --force-color-profile=srgb
               --ignore-certificate-errors].freeze

    # Seconds until a reply.
    PATIENCE = 120
    DESKTOP = { width: 1280, height: 900, deviceScaleFactor: 1, mobile: false }.freeze
    PHONE = { width: 390, height: 844, deviceScaleFactor: 2, mobile: true }.freeze
    KEYS = { "ArrowDown" => 40, "ArrowLeft" => 37, "ArrowRight" => 39, "ArrowUp" => 38, "End" => 35, "Enter" => 13,
             "Escape" => 27, "Tab" => 9 }.freeze

    # Why there can be no browser, or nil.
    def self.obstacle
      "none of #{NAMES.join(", ")} is installed" unless program
    end

    # The path of the program, or nil.
    def self.program
      directories = ENV.fetch("PATH").split(File::PATH_SEPARATOR)
      NAMES.product(directories).map { |name, directory| File.join(directory, name) }
           .find { |path| File.executable?(path) }
    end

    # Errors and warnings that pages have reported.
    attr_reader :complaints

    # Yields a browser, and ends it.
    def self.open
      Dir.mktmpdir("carat-browser") do |directory|
        browser = new(directory)
        yield browser
      ensure
        browser&.close
      end
    end

    def initialize(directory)
      @complaints = []
      @number = 0
      start(directory)
      target = call("Target.createTarget", url: "about:blank").fetch("targetId")
      @session = call("Target.attachToTarget", targetId: target, flatten: true).fetch("sessionId")
      %w[Page Runtime Log].each { |domain| call("#{domain}.enable") }
    end

    # Opens a file, or a URL, at the size of a screen, "light" or "dark", and waits until the page is drawn.
    def visit(path, screen: DESKTOP, scheme: "light")
      call("Emulation.setDeviceMetricsOverride", **screen)
      call("Emulation.setEmulatedMedia", features: [{ name: "prefers-color-scheme", value: scheme }])
      @loaded = false
      call("Page.navigate", url: path.start_with?("/") ? "file://#{path}" : path)
      receive until @loaded
    end

    # Returns the value of an expression of JavaScript.
    def evaluate(expression)
      result = call("Runtime.evaluate", expression:, returnByValue: true, awaitPromise: true)
      raise "#{expression}: #{result["exceptionDetails"]}" if result.key?("exceptionDetails")

      result.fetch("result")["value"]
    end

    # Presses a key of KEYS.
    def press(key)
      text = key == "Enter" ? { text: "\r" } : {}
      event = { key:, code: key, windowsVirtualKeyCode: KEYS.fetch(key) }
      call("Input.dispatchKeyEvent", type: "keyDown", **event, **text)
      call("Input.dispatchKeyEvent", type: "keyUp", **event)
    end

    # Returns a picture of the whole page as PNG.
    def picture
      size = call("Page.getLayoutMetrics").fetch("cssContentSize")
      clip = { x: 0, y: 0, width: size["width"], height: [size["height"], 6000].min, scale: 1 }
      call("Page.captureScreenshot", format: "png", captureBeyondViewport: true, clip:).fetch("data").unpack1("m")
    end

    # Its processes end before it does.
    def close
      @session = nil
      call("Browser.close")
      @waiter.join(PATIENCE) or raise "the browser does not end"
    ensure
      @input.close
      @output.close
      Process.kill(:KILL, @waiter.pid) if @waiter.alive?
    end

    private

    def start(directory)
      reader, @input = IO.pipe
      @output, writer = IO.pipe
      [reader, writer].each { |pipe| pipe.nonblock = false } # Chromium takes EAGAIN for the end
      pid = spawn(self.class.program, *FLAGS, "--user-data-dir=#{directory}",
                  3 => reader, 4 => writer, in: File::NULL, out: File::NULL, err: File.join(directory, "log"))
      @waiter = Process.detach(pid)
      [reader, writer].each(&:close)
    end

    def call(name, **params)
      number = (@number += 1)
      message = { id: number, method: name, params:, **(@session ? { sessionId: @session } : {}) }
      @input.write("#{JSON.generate(message)}\0")
      @input.flush
      reply = receive until reply && reply["id"] == number
      raise "#{name}: #{reply["error"]}" if reply.key?("error")

      reply.fetch("result")
    end

    # Returns the next message; notes what it says about the page.
    def receive
      raise "the browser says nothing" unless @output.wait_readable(PATIENCE)

      message = JSON.parse(@output.gets("\0").chomp("\0"))
      case message["method"]
      when "Page.loadEventFired" then @loaded = true
      when "Runtime.exceptionThrown"
        @complaints << message.dig("params", "exceptionDetails", "exception", "description")
      when "Runtime.consoleAPICalled", "Log.entryAdded" then @complaints << message["params"].to_s
      end
      message
    end
  end
end
