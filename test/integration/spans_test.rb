# frozen_string_literal: true

require "test_helper"

# The option `otlp`: spans of requests, and the trace that they belong to.
class SpansTest < Support::IntegrationTest
  TRACE = "0af7651916cd43dd8448eb211c80319c"
  APP = 'run ->(env) { [200, {}, [env.values_at("HTTP_TRACEPARENT", "HTTP_TRACESTATE").join(" ")]] }'

  def teardown
    @collector&.close
    super
  end

  def test_spans_of_a_request_belong_to_its_trace_and_arrive_before_the_server_ends
    server = trace(APP)
    parent = "00-#{TRACE}-b7ad6b7169203331-01"
    told = server.get("/items?secret", fields: { "Traceparent" => parent, "Tracestate" => "a=1" }).body
    assert_equal 0, server.stop.exitstatus

    spans = @collector.spans
    assert_equal [%w[GET queue application send], [TRACE]], [spans.map(&:name), spans.map(&:trace).uniq]
    root, queue, application, = *spans
    assert_equal(["b7ad6b7169203331", *[root.id] * 3], spans.map(&:parent))
    assert_equal "00-#{TRACE}-#{application.id}-01 a=1", told
    assert_operator root.from, :<=, queue.from
    assert_equal spans.drop(1).flat_map { |span| [span.from, span.to] }.sort,
                 (spans.drop(1).flat_map { |span| [span.from, span.to] })
    assert_equal [200, "/items", "shop", "a=1"],
                 [*root.attributes.values_at("http.response.status_code", "url.path", "service.name"), root.state]
  end

  def test_a_collector_that_hangs_costs_spans_and_no_request
    server = trace(Support::Gate::APP, responds: false)
    assert_equal 200, server.get("/").status
    assert_equal 0, server.stop.exitstatus

    await_log(server, /warn spans lost with the end of the server spans=\d/)
    assert_empty @collector.spans
  end

  private

  def trace(app, **options)
    @collector = Support::SpanCollector.new(**options)
    serve(app, args: ["--otlp", "http://127.0.0.1:#{@collector.port}"], env: { "OTEL_SERVICE_NAME" => "shop" })
  end
end
