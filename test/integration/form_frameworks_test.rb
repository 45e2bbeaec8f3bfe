# frozen_string_literal: true

require "digest"
require "json"
require "test_helper"

# Uploads as frameworks hand them to the application, out of forms that the edge has taken apart.
class FormFrameworksTest < Support::IntegrationTest
  include Support::FormBody

  SINATRA = <<~RUBY
    require "digest"
    require "sinatra/base"
    require "json"

    class Photos < Sinatra::Base
      set :host_authorization, permitted_hosts: []

      post "/" do
        file = params["photos"].first
        JSON.generate([file[:tempfile].class.name, file[:filename], file[:type], file[:tempfile].size,
                       Digest::SHA256.hexdigest(file[:tempfile].read), params[:title]])
      end
    end
    run Photos
  RUBY

  def test_sinatra_has_a_file_in_its_params
    server = serve(SINATRA, workers: 1, threads: 1, args: %w[--multipart edge], env: { "RACK_ENV" => "production" })
    body = form(field("title", "T"), file("photos[]", '"%C3%BC.bin"'), file("photos[]", '"b"', "small"))
    response = server.request("POST", "/", fields: { "Content-Type" => TYPE }, body:)

    assert_equal ["Carat::FormFile", "\u00FC.bin", "application/octet-stream", CONTENT.bytesize,
                  Digest::SHA256.hexdigest(CONTENT), "T"], JSON.parse(response.body.force_encoding(Encoding::UTF_8))
  end
end
