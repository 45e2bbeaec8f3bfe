# frozen_string_literal: true

require "open3"
require "test_helper"

# The cases of h2spec for HTTP/2 and HPACK, in clear and over TLS.
class Http2SpecTest < Support::IntegrationTest

  needs("h2spec is compiled by Go, which is not installed") unless system("command -v go > /dev/null")

  CERTIFICATE = Support::TestCertificate.new("localhost", "127.0.0.1")
  BINDS = ["tcp://127.0.0.1:0", "tls://127.0.0.1:0?cert=server.crt&key=server.key"].freeze
  APP = 'run ->(env) { [200, {}, [env["rack.input"].read, "hello world " * 20]] }'
  # In clear, this is a bad request of HTTP/1.1: it gets its 400, where the case wants no byte.
  WRONG_CASE = "Sends invalid connection preface"

  def test_every_case_passes_over_tls
    assert_empty failed_cases(1, "-t", "-k")
  end

  def test_every_case_passes_in_clear_but_the_preface_of_another_version
    assert_empty failed_cases(0) - [WRONG_CASE]
  end

  private

  # The names of the cases that fail; all cases run.
  def failed_cases(nth, *options)
    server = serve(APP, workers: 1, threads: 2, binds: BINDS, files: CERTIFICATE.files)
    output, = Open3.capture2e(h2spec, *options, "-h", server.host(nth), "-p", server.port(nth).to_s, "-o", "10")
    output.force_encoding("UTF-8")
    assert_match(/^145 tests, \d+ passed, 0 skipped, \d+ failed$/, output)
    output[/^Failures:.*/m].to_s.scan(/× \d+: (.*)/).flatten
  end

  def h2spec
    path, status = Open3.capture2("script/h2spec/build", chdir: File.expand_path("../..", __dir__))
    assert_predicate status, :success?
    path.chomp
  end
end
