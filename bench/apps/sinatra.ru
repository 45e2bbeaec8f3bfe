# frozen_string_literal: true

# A page with a session and a template that does not leak.
require "sinatra/base"

class Visits < Sinatra::Base
  set :environment, :production
  set :logging, false
  enable :sessions
  set :session_secret, "secret" * 16
  enable :inline_templates

  get("/") { erb(:page, locals: { visits: session[:visits] = session[:visits].to_i + 1 }) }
end

run Visits
__END__

@@ page
<h1>Visits</h1>
<p><%= visits %></p>
