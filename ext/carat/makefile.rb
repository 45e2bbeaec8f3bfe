# frozen_string_literal: true

require "rbconfig"

module Carat
  # The Makefile that lets cargo compile the extension, the edge and the allocator, and installs the three files.
  class Makefile
    # What rb-sys asks cargo to watch: both differ as soon as another Ruby is meant, so its bindings are made anew.
    RUBY_IDENTITY = "#{RUBY_VERSION}p#{RUBY_PATCHLEVEL}-#{RUBY_PLATFORM}"
    TEMPLATE = <<~'MAKE'
      # Made by extconf.rb.
      SHELL = /bin/sh
      DESTDIR =
      sitearchdir = %<sitearchdir>s
      sitelibdir = $(sitearchdir)
      RUBYARCHDIR = $(DESTDIR)$(sitearchdir)/carat
      RELEASE = "%<target>s/release"
      CC = cc

      # cargo calls make for some crates, and what this make was called with is not for those.
      all:
      	unset MAKEFLAGS MFLAGS; cd "%<root>s" && RUBY="%<ruby>s" RUBY_VERSION="%<identity>s" CARGO_TARGET_DIR="%<target>s" \
      	  cargo build --release --locked -p carat-edge -p carat-malloc -p carat-native
      	$(CC) -shared -s -o $(RELEASE)/malloc.so -Wl,--version-script="%<root>s/crates/carat-malloc/malloc.map" \
      	  -Wl,--gc-sections -Wl,-z,relro -Wl,-z,now -Wl,-u,malloc -Wl,-u,malloc_trim -Wl,-u,carat_calloc \
      	  -Wl,--defsym=calloc=carat_calloc $(RELEASE)/libmalloc.a -lpthread -ldl

      # A file that is in use is replaced, never overwritten.
      install: all
      	mkdir -p "$(RUBYARCHDIR)"
      	install -m 755 $(RELEASE)/libnative.so "$(RUBYARCHDIR)/.native.so"
      	mv -f "$(RUBYARCHDIR)/.native.so" "$(RUBYARCHDIR)/native.so"
      	install -m 755 $(RELEASE)/malloc.so "$(RUBYARCHDIR)/.malloc.so"
      	mv -f "$(RUBYARCHDIR)/.malloc.so" "$(RUBYARCHDIR)/malloc.so"
      	install -m 755 $(RELEASE)/carat-edge "$(RUBYARCHDIR)/.carat-edge"
      	mv -f "$(RUBYARCHDIR)/.carat-edge" "$(RUBYARCHDIR)/carat-edge"
      	%<tidy>s

      clean:
      distclean:
      .PHONY: all install clean distclean
    MAKE

    # @param root [String] where Cargo.toml is
    # @param target [String, nil] cargo's directory for its output; nil for one here that install removes again
    def initialize(root:, target: nil)
      @root = root
      @target = target
    end

    def to_s
      format(TEMPLATE, root: @root, ruby: RbConfig.ruby, identity: RUBY_IDENTITY, target: @target || own_target,
                       sitearchdir: RbConfig::CONFIG.fetch("sitearchdir"),
                       tidy: @target ? "@:" : %(rm -rf "#{own_target}"))
    end

    private

    def own_target
      File.join(Dir.pwd, "target")
    end
  end
end
