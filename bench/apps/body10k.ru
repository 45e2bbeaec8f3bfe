# frozen_string_literal: true

TEN_KILOBYTES = ("x" * 10_240).freeze

run ->(_env) { [200, { "content-type" => "text/plain" }, [TEN_KILOBYTES]] }
