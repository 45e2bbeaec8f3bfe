# frozen_string_literal: true

module Carat
  module Config
    module Type
      # What may follow an address: `?mode=0660&proxy_protocol=true`, or `?cert=a.crt&key=a.key`. `mode` is nil or three
      # octal digits; `certificates` is an Array of names and absolute paths; `acme` is one of host names; `ca` is nil
      # or a path.
      AddressParameters = Struct.new(:mode, :proxy_protocol, :certificates, :acme, :ca, :verify, keyword_init: true)

      # What may follow an address.
      class AddressParameters
        # What to say about parameters that #parse does not understand.
        PROBLEM = "may end with ?mode=0660, ?proxy_protocol=true, and certificates, joined by &, and with nothing else"
        MODE = /\Amode=0?([0-7]{3})\z/
        PROXY = /\Aproxy_protocol=(true|false)\z/
        CERTIFICATE = /\A(certs?|key)=(.+)\z/
        PAIRS = "needs ?cert=FILE&key=FILE, which may repeat, ?certs=FOLDER, or ?acme=NAME,NAME"
        ACME = /\Aacme=(.+)\z/
        NAME = /\A(?=.{1,253}\z)(?:(?!-)[a-z\d-]{1,63}\.)+(?!-)(?=[a-z\d-]*[a-z])[a-z\d-]{1,63}\z/
        AUTHORITY = /\Aca=(.+)\z/
        VERIFY = /\Averify=(required|optional)\z/
        private_constant :ACME, :AUTHORITY, :CERTIFICATE, :MODE, :NAME, :PAIRS, :PROXY, :VERIFY

        # Returns the parameters of a query, which may be empty; nil when it has others.
        def self.parse(query)
          query.split("&", -1).each_with_object(new(certificates: [], acme: [])) do |pair, parameters|
            case pair
            when MODE then parameters.mode = Regexp.last_match(1)
            when PROXY then parameters.proxy_protocol = Regexp.last_match(1) == "true"
            when ACME then parameters.acme += $1.downcase.split(",", -1)
            when AUTHORITY then parameters.ca = File.expand_path($1)
            when VERIFY then parameters.verify = $1
            when CERTIFICATE then parameters.certificates << [$1, File.expand_path($2)]
            else return nil
            end
          end
        end

        # Returns what is wrong with them for an address of this scheme, or nil.
        def problem(scheme)
          return "has a mode, which only a Unix socket has" if mode && scheme != "unix"
          return unless scheme == "tls" || tls?
          return "has certificates, which only a tls:// address has" if scheme != "tls"
          return "has verify=#{verify}, which needs ca=FILE" if verify && !ca

          certificates_problem
        end

        # Returns them as the edge reads them, beginning with `?` unless there are none.
        def to_s
          pairs = certificates.map { |name, path| "#{name}=#{path}" }
          pairs << "acme=#{acme.uniq.join(",")}" if acme.any?
          pairs << "ca=#{ca}" << "verify=#{verify || "required"}" if ca
          pairs << "mode=0#{mode}" if mode
          pairs << "proxy_protocol=true" if proxy_protocol
          pairs.empty? ? "" : "?#{pairs.join("&")}"
        end

        private

        def tls?
          certificates.any? || acme.any? || ca || verify
        end

        def certificates_problem
          return acme_problem if acme.any? && certificates.empty?

          acme.empty? && paired? ? missing : PAIRS
        end

        # Let's Encrypt proves a wildcard only in the DNS.
        def acme_problem
          name = acme.grep_v(NAME).first or return missing
          return "names #{name}: a wildcard takes a proof in the DNS; list the names one by one" if name.include?("*")

          "names #{name}, which is not the name of a host on the Internet"
        end

        def paired?
          names = certificates.map(&:first)
          names == ["certs"] || (names.any? && names.each_slice(2).all?(%w[cert key]))
        end

        # Only root may be able to read a key, so nothing but its existence is checked.
        def missing
          [*certificates, *([["ca", ca]] if ca)].each do |name, path|
            kind = name == "certs" ? "directory" : "file"
            return "names #{path}, which is not a #{kind}" unless File.public_send("#{kind}?", path)
          end
          nil
        end
      end
    end
  end
end
