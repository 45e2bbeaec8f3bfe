# frozen_string_literal: true

require_relative "bound"
require_relative "figure"
require_relative "file_creations"
require_relative "http_client"
require_relative "series"
require_relative "server"
require_relative "table"
require_relative "wrk"

module Bench
  # POSTs of two bytes in chunks beside GETs of the same application.
  class TinyPostCase
    # get, post: what wrk saw; files: how many were made for COUNTED posts, nil where that cannot be counted.
    Sample = Struct.new(:get, :post, :files, keyword_init: true)
    HEADINGS = ["server", "GET/s", "POST/s", "POST/GET", "files made for 200 POSTs", "errors"].freeze
    RATIO = Bound.at_least(0.8)
    FILES = Bound.at_most(0)
    COUNTED = 200
    ANSWER = "a body."

    attr_reader :title, :peers

    def initialize(title:, app:, peers:)
      @title = title
      @app = app
      @peers = peers
    end

    # Files are counted after the load: a traced process is slow.
    def measure(peer, arguments)
      Server.run(peer, @app) do |server|
        load(server, arguments.warmup, arguments) if arguments.warmup.positive?
        get = load(server, arguments.duration, arguments)
        post = load(server, arguments.duration, arguments, script: "tiny_post.lua")
        files = FileCreations.count(server.pids_by_role.values.flatten) { post_some(peer, server) }
        Sample.new(get: get, post: post, files: files)
      end
    end

    # samples: Peer => list of Sample.
    def table(samples)
      samples.each_with_object(Table.new(HEADINGS)) do |(peer, list), table|
        get, post = %i[get post].map { |verb| Series.new(list.map { |sample| sample[verb].rate }) }
        ratio = post.ratio(get)
        table << [peer.name, Figure.count(get.median), Figure.count(post.median),
                  peer.judged(RATIO, ratio, Figure.decimals(ratio, 2)), files(peer, list.filter_map(&:files)),
                  list.sum { |sample| sample.get.errors + sample.post.errors }]
      end
    end

    private

    def load(server, seconds, arguments, script: "report.lua")
      Wrk.run("http://127.0.0.1:#{server.port}/", seconds: seconds, connections: arguments.connections,
                                                  threads: arguments.wrk_threads, script: script)
    end

    def post_some(peer, server)
      client = HttpClient.new(server.port)
      COUNTED.times do
        client.ask("/", { "Transfer-Encoding" => "chunked" }, verb: "POST")
        client.socket.write("2\r\nok\r\n0\r\n\r\n")
        answer = client.answer
        raise Failure, "#{peer.name} answered #{answer.status}, #{answer.body.inspect}" unless answer.body == ANSWER
      end
    ensure
      client&.close
    end

    def files(peer, counts)
      counts.empty? ? Figure::NONE : peer.judged(FILES, counts.max)
    end
  end
end
