# frozen_string_literal: true

module Support
  module Differential
    # Request lines, header lines and Hosts that servers have read in different ways.
    module OddHeads
      # %<to>s is the target.
      REQUEST_LINES = {
        "absolute-form" => "GET http://a%<to>s HTTP/1.1\r\nHost: a\r\n\r\n",
        "absolute-form of another host" => "GET http://b%<to>s HTTP/1.1\r\nHost: a\r\n\r\n",
        "absolute-form with a user" => "GET http://u@a%<to>s HTTP/1.1\r\nHost: a\r\n\r\n",
        "absolute-form of another scheme" => "GET ftp://a%<to>s HTTP/1.1\r\nHost: a\r\n\r\n",
        "lines that end with LF" => "GET %<to>s HTTP/1.1\nHost: a\n\n",
        "last line ends with LF" => "GET %<to>s HTTP/1.1\r\nHost: a\r\n\n",
        "lines that end with CR" => "GET %<to>s HTTP/1.1\rHost: a\r\r",
        "HTTP/0.9" => "GET %<to>s\r\n",
        "HTTP/1.0" => "GET %<to>s HTTP/1.0\r\nHost: a\r\n\r\n",
        "HTTP/1.0 that keeps alive" => "GET %<to>s HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n",
        "HTTP/1.0 in chunks" => "POST %<to>s HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n" \
                                "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.2" => "GET %<to>s HTTP/1.2\r\nHost: a\r\n\r\n",
        "HTTP/2.0" => "GET %<to>s HTTP/2.0\r\nHost: a\r\n\r\n",
        "HTTP/1.10" => "GET %<to>s HTTP/1.10\r\nHost: a\r\n\r\n",
        "lower-case version" => "GET %<to>s http/1.1\r\nHost: a\r\n\r\n",
        "two spaces" => "GET  %<to>s HTTP/1.1\r\nHost: a\r\n\r\n",
        "a tab" => "GET\t%<to>s HTTP/1.1\r\nHost: a\r\n\r\n",
        "a space in the target" => "GET %<to>s x HTTP/1.1\r\nHost: a\r\n\r\n",
        "a space at the end" => "GET %<to>s HTTP/1.1 \r\nHost: a\r\n\r\n",
        "a version in the target" => "GET %<to>s HTTP/1.1 HTTP/1.1\r\nHost: a\r\n\r\n",
        "a fragment" => "GET %<to>s#x HTTP/1.1\r\nHost: a\r\n\r\n",
        "blank lines before it" => "\r\n\r\nGET %<to>s HTTP/1.1\r\nHost: a\r\n\r\n",
        "bare LF before it" => "\nGET %<to>s HTTP/1.1\r\nHost: a\r\n\r\n",
        "a lower-case method" => "get %<to>s HTTP/1.1\r\nHost: a\r\n\r\n",
        "CONNECT" => "CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n",
        "HTTP/2 preface" => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
      }.freeze

      FIELDS = ["X: y\r\n z", "X: y\n z", " X: y", "X : y", "X", ": y", "X\0: y", "X: y\0z", "X: y\rz", "X: y\x7Fz",
                "X: \xFF", "X@: y", "X: y\n", "X: y\r", "Content-Length: 0\r\nContent-Length: 0",
                "Expect: 100-continue", "Expect: x",
                "Upgrade: websocket\r\nConnection: upgrade", "Upgrade: h2c\r\nConnection: upgrade, http2-settings",
                "Trailer: Content-Length", "Connection: content-length\r\nContent-Length: 0",
                "Connection: host", "Keep-Alive: timeout=0", "Max-Forwards: 0"].freeze

      HOSTS = ["", "Host: a\r\nHost: a\r\n", "Host: a\r\nHost: b\r\n", "Host: \r\n", "Host: a b\r\n", "Host: a,b\r\n",
               "Host: a@b\r\n", "Host: a/b\r\n", "Host: a:x\r\n", "Host: a:80:80\r\n", "Host:\ta\r\n", "Host : a\r\n",
               "host: a\r\n", "Host: [::1]\r\n", "Host: [::1\r\n", "Host: a\r\n Host: b\r\n",
               "X: y\nHost: a\r\n"].freeze
    end
  end
end
