# frozen_string_literal: true

require "test_helper"

# Two readers of examples/chat, whose sockets the edge has.
class ChatExampleTest < Support::IntegrationTest
  include Support::ControlledServer

  CHAT = File.expand_path("../../examples/chat/config.ru", __dir__)

  # Why there is no chat, or nil.
  def self.obstacle
    Gem::Specification.find_by_name("turbo-rails")
    Support::Browser.obstacle || Support::CableApp.obstacle
  rescue Gem::MissingSpecError
    "turbo-rails is not installed"
  end

  needs obstacle

  def test_two_readers_hear_each_other_through_a_restart
    server = serve(nil, workers: 2, threads: 2, args: [CHAT, "--cable", "/cable", *CONTROL_SOCKET],
                        env: { "RAILS_ENV" => "production" })
    in_two_browsers("http://127.0.0.1:#{server.port}/") do |readers|
      chat(readers, "hello")
      seconds = readers.map { |reader| clock(reader) }
      assert_equal 0, carat(server, "restart").last
      chat(readers, "after the restart")
      readers.zip(seconds) { |reader, before| assert_operator clock(reader), :>=, before, "it goes on" }
    end
  ensure
    carat(server, "stop") if server
  end

  private

  # Yields two, which complain of nothing. CARAT_TEST_PICTURES names a directory for pictures of them.
  def in_two_browsers(url)
    Support::Browser.open do |ann|
      Support::Browser.open do |ben|
        [ann, ben].each { |reader| reader.visit(url) }
        yield [ann, ben]
        keep_pictures(ann:, ben:)
        assert_empty ann.complaints + ben.complaints
      end
    end
  end

  def keep_pictures(**readers)
    directory = ENV.fetch("CARAT_TEST_PICTURES", nil)
    readers.each { |name, reader| File.binwrite("#{directory}/chat-#{name}.png", reader.picture) } if directory
  end

  # Each says something, and both hear it in one order.
  def chat(readers, text)
    readers.each_with_index do |reader, number|
      eventually { reader.evaluate("!!document.querySelector('turbo-cable-stream-source[connected]')") }
      reader.evaluate("text.value = '#{text} #{number}'; document.querySelector('button').click()")
      readers.each do |each|
        eventually(message: text) { messages(each).last == "#{text} #{number}" }
      end
    end
    assert_equal(*readers.map { |reader| messages(reader) })
  end

  def messages(reader)
    reader.evaluate("[...document.querySelectorAll('li')].map((it) => it.innerText)")
  end

  # How many seconds a reader has been there.
  def clock(reader)
    eventually { reader.evaluate("clock.innerText")[/\d+/] }.to_i
  end
end
