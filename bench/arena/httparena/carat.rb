# frozen_string_literal: true

bind "tcp://0.0.0.0:8080"
bind "tls://0.0.0.0:8443?cert=/certs/server.crt&key=/certs/server.key" if File.exist?("/certs/server.crt")
workers "auto"
threads 1
