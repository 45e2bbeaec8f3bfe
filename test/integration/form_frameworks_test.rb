# frozen_string_literal: true

require "digest"
require "json"
require "test_helper"
require "support/form_body"
require "support/integration_test"

# Uploads as frameworks hand them to the application, out of forms that the edge has taken apart.
class FormFrameworksTest < Support::IntegrationTest
  include Support::FormBody

  RAILS = <<~RUBY
    require "logger"
    require "action_controller/railtie"
    require "digest"

    class Shop < Rails::Application
      config.eager_load = true
      config.hosts = nil
      config.secret_key_base = "secret" * 10
      config.logger = Logger.new($stdout)
      routes.append { post "/", to: "photos#create" }
    end

    class PhotosController < ActionController::Base
      def create
        photo = params[:photos].first
        moved = File.join(Dir.pwd, "moved")
        told = [photo.class.name, photo.tempfile.class.name, photo.original_filename, photo.content_type, photo.size,
                Digest::SHA256.hexdigest(photo.read), Digest::SHA256.file(photo.path).hexdigest,
                Digest::SHA256.hexdigest(photo.open.binmode.read)]
        FileUtils.mv(photo.path, moved)
        render json: [*told, Digest::SHA256.file(moved).hexdigest, params[:title]]
      end
    end

    Shop.initialize!
    run Shop
  RUBY

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

  TWICE = <<~RUBY
    require "digest"

    use Rack::MethodOverride # parses the form
    use Rack::TempfileReaper
    run(lambda do |env|
      env.delete("rack.request.form_input")
      env.delete("rack.request.form_hash")
      env["rack.input"].rewind
      photos = Rack::Request.new(env).POST["photos"]
      digests = photos.map { |photo| Digest::SHA256.hexdigest(photo[:tempfile].read) }
      [200, { "content-type" => "text/plain" }, [digests.join(" ")]]
    end)
  RUBY

  def test_rails_has_an_uploaded_file
    told = JSON.parse(post(RAILS))
    assert_equal ["ActionDispatch::Http::UploadedFile", "Carat::FormFile", "\u00FC.bin", "application/octet-stream",
                  CONTENT.bytesize, digest, digest, digest, digest, "T"], told
  end

  def test_sinatra_has_a_file_in_its_params
    told = JSON.parse(post(SINATRA))
    assert_equal ["Carat::FormFile", "\u00FC.bin", "application/octet-stream", CONTENT.bytesize, digest, "T"], told
  end

  def test_a_form_that_is_parsed_twice_has_its_files_both_times
    assert_equal [digest, Digest::SHA256.hexdigest("small")].join(" "), post(TWICE)
  end

  private

  def post(app)
    server = serve(app, workers: 1, threads: 1, args: %w[--multipart edge], env: { "RACK_ENV" => "production" })
    parts = [field("title", "T"), file("photos[]", '"%C3%BC.bin"'), file("photos[]", '"b"', "small")]
    response = server.request("POST", "/", fields: { "Content-Type" => TYPE }, body: form(*parts))
    assert_equal 200, response.status, response.body
    response.body.force_encoding(Encoding::UTF_8)
  end

  def digest
    Digest::SHA256.hexdigest(CONTENT)
  end
end
