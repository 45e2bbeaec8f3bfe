# frozen_string_literal: true

require "test_helper"
require "rails/version"
require "uri"

# The same requests to the same Rails application under Carat and under Puma: the responses are equal.
class RailsBesidePumaTest < Support::IntegrationTest
  FORM = { "Content-Type" => "application/x-www-form-urlencoded" }.freeze
  JSON_BODY = { "Content-Type" => "application/json" }.freeze
  PART = "--XX\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n"
  UPLOAD = { "Content-Type" => "multipart/form-data; boundary=XX" }.freeze
  # Fields that differ from one response to the next, or that a server chooses.
  OWN = %w[date connection keep-alive content-length transfer-encoding x-request-id x-runtime etag server
           accept-ranges].freeze

  APPLICATION = { files: Support::Shop::FILES, app: Support::Shop::FILES["config.ru"],
                  env: { "RAILS_ENV" => "production" } }.freeze

  # What is sent: verb, target, fields, body.
  REQUESTS = [
    ["GET", "/items"],
    ["GET", "/items?fresh=1"],
    ["HEAD", "/items"],
    ["GET", "/items/1"],
    ["GET", "/items/999"],
    ["GET", "/items/999.json"],
    ["GET", "/nowhere"],
    ["POST", "/items", FORM, "item[name]=nut"],
    ["POST", "/items", FORM, "name=%ff%c3"],
    ["PATCH", "/items/1"],
    ["GET", "/requests/show?a[]=1&a[]=2&b[c]=%C3%A4+%2B&empty=&novalue"],
    ["GET", "/requests/show?a=%ff"],
    ["GET", "/requests/show?a=%"],
    ["GET", "/requests/show?a=1&a[b]=2"],
    ["GET", "/requests/show;x=1?q=a/b?c=d"],
    ["GET", "/requests//show"],
    ["GET", "/requests/%73how"],
    ["GET", "/requests/show", { "Host" => "shop.test:8080", "X-Forwarded-For" => "10.1.2.3, 192.168.0.1",
                                "X-Forwarded-Proto" => "https", "Cookie" => "a=1; b=%C3%A4", "Accept" => "text/csv" }],
    ["GET", "/requests/show",
{ "X-Request-Id" => "from-a-proxy", "X-Requested-With" => "XMLHttpRequest" }],
    ["GET", "/requests/show", { "Accept" => %w[text/html application/json] }],
    ["OPTIONS", "/requests/show"],
    ["DELETE", "/requests/show"],
    ["POST", "/requests/show", FORM, "a=1&b[]=2&b[]=3&c[d][e]=%E2%82%AC"],
    ["POST", "/requests/show", FORM, "_method=PUT&a=1"],
    ["POST", "/requests/show", FORM.merge("X-HTTP-Method-Override" => "DELETE"), "a=1"],
    ["POST", "/requests/show", FORM, "a=1&b=\xFF"],
    ["POST", "/requests/show", FORM.merge("Transfer-Encoding" => "chunked"), "3\r\na=1\r\n4\r\n&b=2\r\n0\r\n\r\n"],
    ["POST", "/requests/show", JSON_BODY, '{"a":{"b":[1,null,"\u20AC"]}}'],
    ["POST", "/requests/show", JSON_BODY, '{"a":'],
    ["POST", "/requests/show", { "Content-Type" => "text/plain" }, "no form"],
    ["POST", "/requests/show", {}, ""],
    ["POST", "/requests/show", UPLOAD,
"#{PART}\u00E4\r\n--XX--\r\n"],
    ["POST", "/requests/show", UPLOAD, "#{PART}cut off"],
    ["GET", "/requests/broken"],
    ["GET", "/requests/broken.json", { "Accept" => "application/json" }],
    ["GET", "/requests/nothing"],
    ["GET", "/requests/lines"],
    ["HEAD", "/requests/lines"],
    ["GET", "/requests/marked"],
    ["GET", "/downloads/file"],
    ["HEAD", "/downloads/file"],
    ["GET", "/downloads/page"],
    ["GET", "/downloads/data"],
    ["GET", "/downloads/missing"],
    ["GET", "/events/cookie"],
    ["GET", "/events/broken"],
    ["GET", "/events/early"],
    ["GET", "/shop.css"],
    ["HEAD", "/shop.css"],
    ["GET", "/shop.css", { "Range" => "bytes=0-3" }],
    ["GET", "/numbers.txt", { "Range" => "bytes=0-1,5-6" }],
    ["GET", "/numbers.txt", { "Range" => "bytes=99999999-" }],
    ["GET", "/../config/database.yml"],
    ["GET", "/%2e%2e/config/database.yml"],
    ["GET", "/rails/active_storage/blobs/redirect/forged/name.txt"],
    ["POST", "/rails/active_storage/direct_uploads", JSON_BODY,
'{"blob":{"filename":"a","byte_size":1}}'],
    ["PUT", "/rails/active_storage/disk/forged", {}, "a"]
  ].freeze

  def test_every_response_is_that_of_puma
    assert_same_responses(threads: 2)
  end

  def test_every_response_in_fibers_is_that_of_puma
    skip "fibers need Rails 7.0 or later" if Rails.version < "7.0"
    assert_same_responses(fibers: 8)
  end

  private

  def assert_same_responses(**options)
    carat = server(**APPLICATION, workers: 1, **options).start
    puma = Support::PumaServer.new(**APPLICATION).tap { |other| @servers << other }.start
    pairs = REQUESTS.map { |request| [carat, puma].map { |server| response(server, request) } }

    assert_includes pairs.map { |pair| pair.first.first }, 200
    REQUESTS.zip(pairs) { |request, (ours, theirs)| assert_equal theirs, ours, request.inspect }
  end

  # Status, fields, and body, without what is different each time.
  def response(server, request)
    verb, target, fields, body = request
    response = server.request(verb, target, fields: fields || {}, body: body)
    [response.status, fields_of(response), body_of(response, server)]
  end

  def fields_of(response)
    fields = response.fields.map { |name, value| [name.downcase, value] }.reject { |name, _| OWN.include?(name) }
    fields.sort_by(&:first).map { |name, value| [name, name == "last-modified" ? "" : value.sub(/=[^;]*--[^;]*/, "=")] }
  end

  def body_of(response, server)
    response.body.force_encoding(Encoding::UTF_8).gsub(/(value|content)="[\w-]{80,}"/, "").gsub(server.port.to_s,
                                                                                                "PORT")
  end
end
