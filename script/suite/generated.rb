# frozen_string_literal: true

require_relative "../../lib/carat/config/options_page"
require_relative "completions"
require_relative "limits_page"
require_relative "manual"

module Suite
  # The files that `rake docs` writes. Those in share/ lie where a prefix, such as /usr/local, has them.
  module Generated
    ROOT = File.expand_path("../..", __dir__)

    # @return [Hash{String => String}] the text of each file by its path in the checkout
    def self.files
      config = Carat.const_get(:Config)
      line = CommandLine.new
      completions = Completions.new(line)
      {
        "docs/options.md" => config::OptionsPage.new.to_s,
        LimitsPage::PATH => LimitsPage.new(config::Options).update(File.read(File.join(ROOT, LimitsPage::PATH))),
        "share/man/man1/carat.1" => Manual.new(line).to_s,
        "share/bash-completion/completions/carat" => completions.bash,
        "share/zsh/site-functions/_carat" => completions.zsh,
        "share/fish/vendor_completions.d/carat.fish" => completions.fish
      }
    end
  end
end
