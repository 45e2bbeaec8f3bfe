# frozen_string_literal: true

# What Rails finds in a request.
class RequestsController < ApplicationController
  skip_forgery_protection

  KEYS = %w[REQUEST_METHOD SCRIPT_NAME PATH_INFO QUERY_STRING SERVER_NAME SERVER_PORT REMOTE_ADDR CONTENT_TYPE
            CONTENT_LENGTH HTTP_HOST HTTP_COOKIE HTTP_X_FORWARDED_FOR].freeze

  def show
    render json: request.env.slice(*KEYS).merge(
      "parameters" => request.request_parameters.merge(request.query_parameters), "url" => request.original_url,
      "fullpath" => request.fullpath, "ip" => request.remote_ip, "ssl" => request.ssl?, "raw" => request.raw_post,
      "method" => request.request_method, "xhr" => request.xhr?.present?, "accept" => request.formats.map(&:to_s),
      "mime" => request.content_mime_type.to_s
    )
  end

  def hinted
    render inline: '<%= stylesheet_link_tag "/a.css", "/b.css" %><%= preload_link_tag "/c.js" %>'
  end

  def prefixed
    render inline: '<%= items_path %> <%= item_path(1) %> <%= asset_path("/a.css") %>'
  end

  def broken
    raise "broken on purpose"
  end

  def nothing
    head :no_content
  end

  def lines
    self.response_body = Enumerator.new { |body| 3.times { |number| body << "line #{number}\n" } }
  end

  def marked
    cookies[:a] = "1 \u00e4"
    cookies[:b] = { value: "2", httponly: true, path: "/requests" }
    response.set_header("X-Odd", "\u00e4".b)
    render plain: "", status: 418
  end
end
