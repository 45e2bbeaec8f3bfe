# frozen_string_literal: true

module Carat
  module Parts
    module TLS
      # The query of a tls:// address: `cert=a.crt&key=a.key`, `certs=FOLDER`, `acme=NAME,NAME` or `acme=*`, and
      # `ca=FILE`.
      class Parameters
        # The scheme of such an address.
        SCHEME = "tls"
        # The form of such an address, for messages.
        FORM = "tls://HOST:PORT?cert=FILE&key=FILE"
        # The forms of such an address, for docs/options.md.
        FORMS = "`#{FORM}`, `tls://HOST:PORT?certs=FOLDER`, `tls://HOST:PORT?acme=NAME,NAME`, or " \
                "`tls://HOST:PORT?acme=*` ([TLS](tls.md))".freeze
        # The name of the parameters in messages.
        NOUN = "certificates"
        CERTIFICATE = /\A(certs?|key)=(.+)\z/
        # The value that stands for all names that the application calls its own.
        EVERY_OWN_NAME = "*"
        PAIRS = "needs ?cert=FILE&key=FILE, which may repeat, ?certs=FOLDER, or ?acme=NAME,NAME"
        WILDCARD = "a wildcard takes a proof in the DNS; list the names one by one, or write acme=* and acme_ask"
        ACME = /\Aacme=(.+)\z/
        NAME = /\A(?=.{1,253}\z)(?:(?!-)[a-z\d-]{1,63}(?<!-)\.)+(?!-)(?=[a-z\d-]*[a-z])[a-z\d-]{1,63}(?<!-)\z/
        AUTHORITY = /\Aca=(.+)\z/
        VERIFY = /\Averify=(required|optional)\z/
        private_constant :ACME, :AUTHORITY, :CERTIFICATE, :EVERY_OWN_NAME, :NAME, :PAIRS, :VERIFY, :WILDCARD

        # `certificates` are pairs of a parameter's name and an absolute path, and `acme` are host names. The path in
        # `ca` is set by #take?.
        def initialize
          @certificates = []
          @acme = []
        end

        # Takes a pair such as `cert=a.crt`; returns false when its parameter is unknown.
        def take?(pair)
          case pair
          when ACME then @acme += $1.downcase.split(",", -1)
          when AUTHORITY then @ca = File.expand_path($1)
          when VERIFY then @verify = $1
          when CERTIFICATE then @certificates << [$1, File.expand_path($2)]
          else return false
          end
          true
        end

        # Returns what is wrong with the parameters for an address of this scheme, or nil.
        def problem(scheme)
          return unless scheme == SCHEME || any?
          return "has certificates, which only a tls:// address has" if scheme != SCHEME
          return "has verify=#{@verify}, which needs ca=FILE" if @verify && !@ca

          certificates_problem
        end

        # Returns the parameters in the form that the edge reads.
        def pairs
          pairs = @certificates.map { |name, path| "#{name}=#{path}" }
          pairs << "acme=#{@acme.uniq.join(",")}" if @acme.any?
          pairs << "ca=#{@ca}" << "verify=#{@verify || "required"}" if @ca
          pairs
        end

        private

        def any?
          @certificates.any? || @acme.any? || @ca || @verify
        end

        def certificates_problem
          return acme_problem if @acme.any? && @certificates.empty?

          @acme.empty? && paired? ? missing : PAIRS
        end

        # Returns what is wrong with the names, or nil. A wildcard needs a proof in the DNS, which the server cannot
        # give.
        def acme_problem
          name = (@acme - [EVERY_OWN_NAME]).grep_v(NAME).first or return missing
          return "names #{name}: #{WILDCARD}" if name.include?("*")

          "names #{name}, which is not the name of a host on the Internet"
        end

        def paired?
          names = @certificates.map(&:first)
          names == ["certs"] || (names.any? && names.each_slice(2).all?(%w[cert key]))
        end

        # Returns which file is missing, or nil. Only the existence of a file is checked: perhaps only root may read it.
        def missing
          [*@certificates, *([["ca", @ca]] if @ca)].each do |name, path|
            kind = name == "certs" ? "directory" : "file"
            return "names #{path}, which is not a #{kind}" unless File.public_send("#{kind}?", path)
          end
          nil
        end
      end
    end
  end
end
