# frozen_string_literal: true

# examples/weight with BENCH_STOCKS times its objects. GET /wait sleeps 20 to 50 ms and creates garbage.
require_relative "../../examples/weight/weight"
require_relative "worker_field"

FURTHER_STOCKS = Array.new(Integer(ENV.fetch("BENCH_STOCKS", "1"), 10) - 1) do
  [Stock.translations, Stock.articles, Stock.routes]
end

use WorkerField

map "/wait" do
  run(lambda do |env|
    sleep(rand(0.02..0.05))
    Weight.call(env.merge("PATH_INFO" => "/garbage"))
  end)
end

run Weight
