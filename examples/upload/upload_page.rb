# frozen_string_literal: true

require "ipaddr"
require "json"
require "sinatra/base"
require_relative "process_memory"
require_relative "receipt"

# A page that takes a file, responds with its SHA-256, size, and time, and charts the memory of the server.
class UploadPage < Sinatra::Base
  BEGUN = "upload.begun"

  set :root, __dir__
  # Sinatra 4.1 and later check the Host header; this example accepts local names and all addresses.
  set :host_authorization, permitted_hosts: ["localhost", ".localhost", IPAddr.new("0.0.0.0/0"), IPAddr.new("::/0")]

  # Sinatra parses the form before any route, so the clock starts here. Pieces of 64 KiB leave less garbage than
  # Rack's 1 MiB.
  def call(env)
    env[BEGUN] = Receipt.now
    env[Rack::RACK_MULTIPART_BUFFER_SIZE] = Checksum::PIECE_BYTES
    super
  end

  get "/" do
    erb :index, locals: { receipt: nil, problem: nil }
  end

  post "/" do
    file = params["file"]
    return refuse unless file.is_a?(Hash) && file[:tempfile]

    respond Receipt.new(file[:filename], file[:tempfile], begun: env.fetch(BEGUN))
  end

  get "/memory" do
    content_type :json
    cache_control :no_store
    JSON.generate(ProcessMemory.new.samples.map(&:to_h))
  end

  helpers do
    def respond(receipt)
      return erb(:index, locals: { receipt: receipt, problem: nil }) if html?

      content_type :json
      receipt.to_json
    end

    def refuse
      status 422
      html? ? erb(:index, locals: { receipt: nil, problem: "Choose a file first." }) : "no file in the form\n"
    end

    def html?
      request.preferred_type("application/json", "text/html").to_s == "text/html"
    end

    def h(text)
      Rack::Utils.escape_html(text)
    end

    def digits(number)
      number.to_s.reverse.scan(/\d{1,3}/).join(" ").reverse
    end
  end
end
