# frozen_string_literal: true

require "minitest/autorun"
require "carat/config/type"
require_relative "../../../../support/workplace"

module Carat
  class AddressTest < Minitest::Test
    include Support::Workplace

    def test_tcp_addresses_have_a_host_and_a_port
      %w[tcp://0.0.0.0:9292 tcp://*:80 tcp://localhost:0 tcp://[::1]:80 tcp://[fe80::1%eth0]:65535].each do |text|
        assert_equal text, parse(text)
      end
    end

    def test_metrics_are_served_on_plain_tcp_addresses_or_nowhere
      type = Config::Type.build(:endpoints)
      assert_equal [[], %w[tcp://127.0.0.1:9394]], [type.parse([]), type.parse("tcp://127.0.0.1:9394")]
      assert_equal %w[tcp://*:9394], type.parse("tcp://*:9394")
      ["unix:///run/nowhere/x.sock", "tcp://127.0.0.1:9394?mode=0660", true].each do |value|
        error = assert_raises(Config::InvalidValue) { type.parse(value) }
        assert_equal "#{value.to_s.inspect} is not tcp://HOST:PORT, such as tcp://127.0.0.1:9394", error.message
      end
    end

    def test_unix_addresses_are_made_absolute_and_keep_their_mode
      assert_equal "unix:///tmp/carat.sock", parse("unix:///tmp/carat.sock")
      assert_equal "unix:///tmp/carat.sock?mode=0660", parse("unix:///tmp/carat.sock?mode=660")
      assert_equal "unix://#{path("carat.sock")}", parse("unix://carat.sock")
    end

    def test_tls_addresses_name_their_files_which_are_made_absolute
      write("a.crt", "")
      write("a.key", "")
      pair = "cert=a.crt&key=a.key"
      absolute = "cert=#{path("a.crt")}&key=#{path("a.key")}"
      assert_equal "tls://0.0.0.0:443?#{absolute}", parse("tls://0.0.0.0:443?#{pair}")
      assert_equal "tls://[::1]:0?#{absolute}&#{absolute}", parse("tls://[::1]:0?#{pair}&#{pair}")
      assert_equal "tls://localhost:443?certs=#{File.dirname(path("a.crt"))}", parse("tls://localhost:443?certs=.")
    end

    def test_tls_addresses_may_name_the_hosts_of_certificates_to_ask_for
      assert_equal "tls://x:1?acme=a.example,b.example&proxy_protocol=true",
                   parse("tls://x:1?proxy_protocol=true&acme=A.example&acme=b.example,a.example")
      assert_refused '"tls://x:1?acme=*.a.example" names *.a.example: a wildcard takes a proof in the DNS; list the ' \
                     "names one by one, or write acme=* and acme_ask", "tls://x:1?acme=*.a.example"
      assert_equal "tls://x:1?acme=a.example,*", parse("tls://x:1?acme=a.example,*")
      %w[localhost .. ../a.example 192.0.2.1 a.example, -a.example a-.example a_b.example].each do |name|
        refused = assert_raises(Config::InvalidValue) { parse("tls://x:1?acme=#{name}") }
        assert_match(/which is not the name of a host on the Internet\z/, refused.message, name)
      end
      assert_refused '"tcp://x:1?acme=a.example" has certificates, which only a tls:// address has',
                     "tcp://x:1?acme=a.example"
      assert_raises(Config::InvalidValue) { parse("tls://x:1?certs=.&acme=a.example") }
    end

    def test_tls_addresses_may_ask_clients_for_certificates
      write("ca.crt", "")
      [["", "required"], ["&verify=required", "required"], ["&verify=optional", "optional"]].each do |given, parsed|
        assert_equal "tls://x:1?certs=#{path("")[0...-1]}&ca=#{path("ca.crt")}&verify=#{parsed}",
                     parse("tls://x:1?certs=.&ca=ca.crt#{given}")
      end
      assert_refused '"tls://x:1?certs=.&verify=optional" has verify=optional, which needs ca=FILE',
                     "tls://x:1?certs=.&verify=optional"
      assert_refused '"tcp://x:1?ca=ca.crt" has certificates, which only a tls:// address has', "tcp://x:1?ca=ca.crt"
      missing = "tls://x:1?certs=.&ca=/no/such.crt"
      assert_refused "#{missing.inspect} names /no/such.crt, which is not a file", missing
    end

    def test_tls_addresses_without_their_files_are_refused
      texts = %w[tls://x:1 tls://x:1? tls://x:1?cert=a tls://x:1?key=a&cert=b tls://x:1?certs=a&certs=b]
      texts.each do |text|
        assert_refused "#{text.inspect} needs ?cert=FILE&key=FILE, which may repeat, ?certs=FOLDER, " \
                       "or ?acme=NAME,NAME", text
      end
      assert_refused '"tcp://x:1?certs=/tmp" has certificates, which only a tls:// address has', "tcp://x:1?certs=/tmp"
      missing = "tls://x:1?cert=/no/such.crt&key=/no/such.key"
      assert_refused "#{missing.inspect} names /no/such.crt, which is not a file", missing
      assert_refused '"tls://x:1?certs=/no/such" names /no/such, which is not a directory', "tls://x:1?certs=/no/such"
      assert_refused '"tls://x:65536?certs=/tmp" has no port from 0 to 65535', "tls://x:65536?certs=/tmp"
    end

    def test_descriptors_begin_after_the_standard_streams
      assert_equal "fd://3", parse("fd://3")
      assert_refused '"fd://2" has no number of 3 or more', "fd://2"
    end

    def test_malformed_address_lists_the_valid_forms
      texts = %w[9292 localhost:9292 tcp://localhost tcp://:9292 tcp://::1:80 http://x:1 unix://
                 fd://x]
      texts.each do |text|
        assert_refused "#{text.inspect} is not an address; write #{Config::Type::Address.forms}", text
      end
      assert_raises(Config::InvalidValue) { parse("tcp://localhost:1\n") }
      assert_raises(Config::InvalidValue) { parse(9292) }
    end

    def test_any_address_may_expect_the_proxy_protocol
      assert_equal "tcp://h:1?proxy_protocol=true", parse("tcp://h:1?proxy_protocol=true")
      assert_equal "tcp://h:1", parse("tcp://h:1?proxy_protocol=false")
      assert_equal "fd://3?proxy_protocol=true", parse("fd://3?proxy_protocol=true")
      assert_equal "unix://#{path("s")}?mode=0660&proxy_protocol=true",
                   parse("unix://s?proxy_protocol=true&mode=660")
    end

    def test_wrong_parameters_are_named
      ["unix:///tmp/s?mode=9", "tcp://h:1?proxy_protocol=yes", "tcp://h:1?x=1", "tcp://h:1?&"].each do |text|
        assert_refused "#{text.inspect} #{Config::Type::AddressParameters.limits}", text
      end
      assert_refused '"tcp://h:1?mode=660" has a mode, which only a Unix socket has', "tcp://h:1?mode=660"
    end

    def test_wrong_parts_are_named
      assert_refused '"tcp://x:65536" has no port from 0 to 65535', "tcp://x:65536"
      assert_refused '"tcp://[:::]:80" has a host that is not an IPv6 address', "tcp://[:::]:80"
      assert_refused '"unix:///no/such/x.sock" is in a directory that does not exist', "unix:///no/such/x.sock"
      assert_refused '"unix:///tmp" is a directory', "unix:///tmp"
      write("taken", "")
      assert_refused '"unix://taken" is a file, not a socket', "unix://taken"
      long = "unix:///#{"x" * 107}"
      assert_refused "#{long.inspect} is longer than 107 bytes", long
    end

    private

    def parse(text)
      Config::Type::Address.parse(text)
    end

    def assert_refused(message, text)
      assert_equal message, assert_raises(Config::InvalidValue, text) { parse(text) }.message
    end
  end
end
