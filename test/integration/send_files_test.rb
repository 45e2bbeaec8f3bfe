# frozen_string_literal: true

require "test_helper"

# Files that the application names by X-Sendfile and X-Accel-Redirect.
class SendFilesTest < Support::IntegrationTest
  APP = <<~'RUBY'
    run(lambda do |env|
      name, value = env["QUERY_STRING"].split("=", 2)
      [200, { name => value.sub("ROOT", Dir.pwd), "content-type" => "text/x", "set-cookie" => "a=b" }, ["body"]]
    end)
  RUBY
  CONFIG = %(sendfile "files", "/protected" => "more"\n)
  FILES = { "files/a.txt" => "a" * 100_000, "more/b c.txt" => "b", "secret" => "secret" }.freeze

  def test_named_files_are_sent_with_the_header_of_the_response
    server = serve(APP, config: CONFIG, files: FILES)
    by_path = server.get("/?x-sendfile=ROOT/files/a.txt")
    by_url = server.get("/?x-accel-redirect=/protected/b%20c.txt")

    assert_equal ["a" * 100_000, "b"], [by_path, by_url].map(&:body)
    assert_equal ["text/x", "a=b", "100000", nil],
                 %w[content-type set-cookie content-length x-sendfile].map { |name| by_path[name] }
    part = server.get("/?x-sendfile=ROOT/files/a.txt", fields: { "Range" => "bytes=1-3" })
    assert_equal [206, "aaa"], [part.status, part.body]
    head = ask(server, "HEAD", "/?x-sendfile=ROOT/files/a.txt").read_response(head: true)
    assert_equal "100000", head["content-length"]
  end

  def test_files_elsewhere_and_files_that_are_not_there_are_404
    server = serve(APP, config: CONFIG, files: FILES)
    names = %w[x-sendfile=ROOT/secret x-sendfile=ROOT/files/../secret x-sendfile=/etc/passwd x-sendfile=ROOT/files/none
               x-sendfile=secret x-accel-redirect=/secret x-accel-redirect=/protected/../secret
               x-accel-redirect=/protected/none]
    responses = names.map { |name| server.get("/?#{name}") }

    assert_equal [[404, "", nil]], responses.map { |it| [it.status, it.body, it["set-cookie"]] }.uniq
    await_log(server, %r{warn no such file in the directories of sendfile file="?/etc/passwd})
  end

  def test_without_the_option_the_fields_are_for_a_proxy
    server = serve(APP, files: FILES)
    response = server.get("/?x-accel-redirect=/protected/x")

    assert_equal ["body", "/protected/x"], [response.body, response["x-accel-redirect"]]
  end
end
