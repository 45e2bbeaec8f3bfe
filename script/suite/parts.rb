# frozen_string_literal: true

# Counts the files of the core that name a part, a capability that a user may switch off (cable, cache, and others).
# The core is to name none but in the lists that compose the server: a change that adds a file fails, and one that
# removes some lowers LIMIT.
module Suite
  # The rooms of each part, and the words by which a file names it. In Ruby, `lib/carat/parts` has a room for each.
  PARTS = {
    "cable" => ["{crates/carat-cable,lib/action_cable}/**", /cable/i],
    "cache" => ["crates/carat-cache/**", /response_?cache|carat_cache|`cache`/i],
    # The option `sendfile`, and not the system call.
    "site" => ["crates/carat-static/**",
               /carat_static|site_?files|crate::site|static_files|send_files\b|(?<!::)sendfile\b(?!\()|
                error_?pages|maintenance|force_?tls/ix],
    "codings" => ["crates/carat-coding/**", /carat_coding|\bEncoders|gzip|brotli|zstd|compress/i],
    # Ranges of a response have a type of this family, which is HTTP's; a key of Rack has the word, too.
    "multipart" => ["{crates/carat-multipart/**,lib/carat/{form_file,request/inputs/form_*}.rb}",
                    %r{multipart(?!/byteranges|\.tempfile_factory)}i],
    "tls" => ["crates/carat-tls/**",
              /\btls\b|_tls|tls_|Tls[A-Z]|acme|certificates?\b/i],
    "http2" => ["crates/carat-http2/**", %r{http_?2|\bh2\b|HTTP/2}i],
    "metrics" => ["crates/carat-edge/src/parts/metrics/**", /metrics|dashboard|prometheus/i],
    "otlp" => ["crates/carat-telemetry/**", /otlp|tracer|carat_telemetry/i],
    "rate_limit" => ["crates/carat-rate-limit/**", /rate_?limit/i],
    "consoles" => ["crates/carat-edge/src/parts/consoles/**", /consoles?\b/i],
    "reload" => ["crates/carat-watch/**", /\breload/i],
    "fibers" => ["crates/{carat-fibers/**,carat-native/src/scheduler{.rs,/**}}", /\bfibers?\b/i],
    "import" => ["lib/carat/parts/import/**", %r{carat import|parts/import|puma_file|PumaDSL}],
    "init" => ["lib/carat/parts/init/**", %r{parts/init|ConfigText}],
    "doctor" => ["lib/carat/parts/doctor/**", /doctor/i]
  }.freeze

  # The edge's side, and Ruby's; tests may name all, and so may the lists.
  CORE = ["crates/carat-{body,dispatch,edge,exchange,fields,files,guard,http,lane,link,log,machine,policy,settings," \
          "native,supervisor,wire}/src/**/*.rs", "lib/**/*.rb"].freeze
  OUTSIDE = %r{/(?:simulation|tests?)(?:/|\.rs\z)|_tests?\.rs\z|
               \Alib/carat(?:/parts(?:/.*)?)?\.rb\z|
               crates/carat-(?:edge/src/parts(?:/(?:surroundings|transports))?\.rs\z|native/src/lib\.rs\z|
                            settings/src/parts\.rs\z)}x
  TESTS = /^#\[cfg\(test\)\]\nmod .*/m

  # The files that name a part when this was last counted: of the edge, and of Ruby.
  LIMITS = { "rs" => 0, "rb" => 0 }.freeze

  # Files whose words only look like those of parts: names of other libraries, and what systemd calls a reload,
  # and the versions of HTTP that Rack knows.
  ALIENS = %w[lib/carat/warmup/agents.rb lib/carat/warmup/eager_loading.rb lib/carat/warmup/thread_origin.rb
              crates/carat-edge/src/supervise/signals_and_files/service_manager.rs
              crates/carat-native/src/interpreter/roots.rs].freeze

  # Returns the names of parts by file.
  def self.naming_files
    files = Dir[*CORE].grep_v(OUTSIDE) - ALIENS
    files.sort.to_h { |file| [file, named_parts(file)] }.reject { |_, names| names.empty? }
  end

  def self.named_parts(file)
    text = File.read(file).sub(TESTS, "").gsub(/# rubocop:.*/, "")
    return [] if PARTS.any? { |_, (rooms, _)| File.fnmatch?(rooms, file, File::FNM_EXTGLOB) }

    PARTS.filter_map { |name, (_, words)| name if words.match?(text) }
  end
end

if $PROGRAM_NAME == __FILE__
  files = Suite.naming_files
  files.each { |file, names| puts "#{file}: #{names.join(", ")}" } if ARGV == ["--list"]
  counts = Suite::PARTS.keys.map { |name| "#{name} #{files.count { |_, names| names.include?(name) }}" }
  all = Dir[*Suite::CORE].grep_v(Suite::OUTSIDE).size
  puts "#{files.size} of #{all} files of the core name a part: #{counts.join(", ")}"
  Suite::LIMITS.each do |ending, limit|
    found = files.keys.count { |file| file.end_with?(".#{ending}") }
    puts "*.#{ending}: #{found}, at most #{limit}"
    abort "#{found} files in *.#{ending} name a part, and #{limit} did: --list shows them" if found > limit
  end
end
