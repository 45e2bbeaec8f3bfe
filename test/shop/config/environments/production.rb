# frozen_string_literal: true

Rails.application.configure do
  config.cache_classes = true
  config.eager_load = true
  config.consider_all_requests_local = false
  config.logger = ActiveSupport::TaggedLogging.new(ActiveSupport::Logger.new($stdout))
  config.assume_ssl = config.force_ssl = true if ENV["ASSUME_SSL"]
  config.active_storage.resolve_model_to_route = :rails_storage_proxy if ENV["PROXY"]
end
