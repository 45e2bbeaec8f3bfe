# frozen_string_literal: true

Rails.application.routes.draw do
  resources :items
  resources :photos, only: %i[create show destroy]
  resources :entries, only: %i[create index]
  %w[show broken nothing lines marked hinted prefixed].each do |name|
    match "/requests/#{name}", to: "requests##{name}", via: :all
  end
  %w[file page data missing].each { |name| get "/downloads/#{name}", to: "downloads##{name}" }
  %w[two endless broken early cookie].each { |name| get "/events/#{name}", to: "events##{name}" }
  %w[show count].each { |name| get "/workers/#{name}", to: "workers##{name}" }
end
