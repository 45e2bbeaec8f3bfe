# frozen_string_literal: true

require "digest"

# GET /events becomes a WebSocket that nothing ends; /publish?TEXT sends one message to each.
SOCKETS = [] # rubocop:disable Style/MutableConstant
GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
PLAIN = { "content-type" => "text/plain" }.freeze

message = ->(text) { [0x81, text.bytesize, text].pack("CCa*") }
accept = lambda do |env|
  socket = env["rack.hijack"].call
  answer = Digest::SHA1.base64digest(env["HTTP_SEC_WEBSOCKET_KEY"] + GUID)
  socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" \
               "Sec-WebSocket-Accept: #{answer}\r\n\r\n#{message.call(": begun\n\n")}")
  SOCKETS << socket
  [-1, {}, []]
end

run(lambda do |env|
  case env["PATH_INFO"]
  when "/events" then accept.call(env)
  when "/publish"
    text = message.call("data: #{env["QUERY_STRING"]}\n\n")
    SOCKETS.each { |socket| socket.write(text) }
    [200, PLAIN, [SOCKETS.size.to_s]]
  else [200, PLAIN, ["Hello, World!"]]
  end
end)
