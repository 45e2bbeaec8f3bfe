# frozen_string_literal: true

module Support
  # The lane protocol in Ruby, for tests that act as the edge: encodes and decodes frames.
  module Wire
    KINDS = {
      hello: 1, ready: 2, drain: 3, bye: 4, request: 16, response: 17, chunk: 18, end: 19, window: 20, abort: 21,
      descriptors_lost: 22, tunnel: 23, hints: 24, lingers: 25, collection_due: 26, collection: 27,
      fork_worker: 32, boot_failed: 33, ask_stack: 34, stack: 35, leaving: 36, promote: 37,
      ask_stats: 38, stats: 39, not_fork_safe: 40, ask_fork_safety: 42, fork_safe: 43
    }.freeze
    SCHEMES = %w[http https].freeze
    # In the byte of the kind: the frame has the first descriptor of a message.
    FIRST_DESCRIPTOR = 0x80
    # The status of a response that the application failed to make, and what the edge makes of it.
    FAILED = 0
    FAILURE = "Internal Server Error\n"
    HEADER_SOURCE = File.expand_path("../../crates/carat-wire/src/codec/header.rs", __dir__)
    NAMES = File.read(HEADER_SOURCE)[/NAMES.*?= \[(.*?)\];/m, 1]
                .scan(/"([^"]+)"/).flatten.freeze
    Response = Struct.new(:id, :status, :app_micros, :headers, :body)

    module_function

    def frame(kind, payload = "")
      [payload.bytesize + 1, KINDS.fetch(kind), payload].pack("L<Ca*")
    end

    # A request; `body` is nil, a String, { file: length } for one whose descriptor travels beside it, or
    # { stream: length }, nil if that is not known, for one that follows in chunks; `files` says for each file of a form
    # whether its descriptor travels beside it.
    def request(id, method: "GET", path: "/", query: "", headers: {}, body: nil, files: [], version: 11,
                scheme: "http", server: ["localhost", 80], remote: "127.0.0.1")
      numbers = [id, version, SCHEMES.index(scheme), server.last].pack("L<CCS<")
      head = numbers << short(method) << long(path) << long(query) <<
             long(server.first) << short(remote) << [headers.size].pack("S<")
      headers.each { |name, value| head << name(name) << long(value) }
      frame(:request, head << request_body(body) << [files.size, *files.map { |apart| apart ? 1 : 0 }].pack("S<C*"))
    end

    def window(id, bytes)
      frame(:window, [id, bytes].pack("L<L<"))
    end

    def chunk(id, data)
      frame(:chunk, [id, data].pack("L<a*"))
    end

    def end(id)
      frame(:end, [id].pack("L<"))
    end

    def abort(id)
      frame(:abort, [id].pack("L<"))
    end

    def fork_worker(worker, generation, lanes)
      frame(:fork_worker, [worker, generation, lanes].pack("L<L<S<"))
    end

    def ask_stack(lane, request)
      frame(:ask_stack, [lane, request].pack("S<L<"))
    end

    # The frame, with the mark of one that has the first descriptor of a message.
    def mark_first_descriptor(frame)
      frame.setbyte(4, frame.getbyte(4) | FIRST_DESCRIPTOR)
      frame
    end

    # The kind and the payload of the frame that `bytes` begin with.
    def parse(bytes)
      length, kind = bytes.unpack("L<C")
      [KINDS.key(kind & ~FIRST_DESCRIPTOR), bytes.byteslice(5, length - 1)]
    end

    # A response that the application failed to make is one of the edge.
    def response(payload)
      id, status, micros, count, rest = payload.unpack("L<S<L<S<a*")
      return Response.new(id, 500, micros, [%w[content-type text/plain]], FAILURE) if status == FAILED

      headers = Array.new(count) { header(rest) }
      Response.new(id, status, micros, headers, response_body(rest))
    end

    # The id and the fields of early hints.
    def hints(payload)
      id, count, rest = payload.unpack("L<S<a*")
      [id, Array.new(count) { header(rest) }]
    end

    def header(rest)
      code = rest.slice!(0).ord
      name = code.zero? ? rest.slice!(0, rest.slice!(0, 2).unpack1("S<")) : NAMES.fetch(code - 1)
      [name, rest.slice!(0, rest.slice!(0, 4).unpack1("L<"))]
    end

    def response_body(rest)
      case rest.slice!(0).ord
      when 0 then nil
      when 1 then rest.byteslice(4..)
      when 2 then %i[offset length ranges].zip(rest.unpack("Q<Q<C")).to_h
      when 3 then :stream
      when 4 then :tunnel
      end
    end

    def request_body(body)
      case body
      when nil then [0].pack("C")
      when String then [1].pack("C") << long(body)
      when { stream: nil } then [5].pack("C")
      when Hash then body.key?(:file) ? [2, body[:file]].pack("CQ<") : [4, body.fetch(:stream)].pack("CQ<")
      end
    end

    def name(name)
      code = NAMES.index(name)
      code ? [code + 1].pack("C") : [0].pack("C") << short(name)
    end

    def short(bytes)
      [bytes.bytesize, bytes].pack("S<a*")
    end

    def long(bytes)
      [bytes.bytesize, bytes].pack("L<a*")
    end
  end
end
