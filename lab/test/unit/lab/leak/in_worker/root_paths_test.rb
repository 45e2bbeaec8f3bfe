# frozen_string_literal: true

require "minitest/autorun"
require "carat/lab/leak/in_worker/root_paths"

module Carat
  class RootPathsTest < Minitest::Test
    # Keeps objects in each kind of variable.
    class Keeper
      CONSTANT = [Object.new] # rubocop:disable Style/MutableConstant -- a frozen Array would be shareable, not kept
      @seen = [Object.new]
      @@counted = [Object.new] # rubocop:disable Style/ClassVars -- applications have them

      # The object of each variable.
      def self.objects = { constant: CONSTANT.first, instance: @seen.first, class: @@counted.first }
    end

    # Its superclass gets a class variable of the same name later, which Ruby refuses to read.
    Overtaken = Class.new
    OVERTAKEN = Class.new(Overtaken) { class_variable_set(:@@kept, [Object.new]) }
    Overtaken.class_variable_set(:@@kept, nil)

    CALLBACK = [Object.new].then { |kept| -> { kept } }

    def test_constants_and_variables_of_a_class_have_their_names
      name = "Carat::RootPathsTest::Keeper"

      assert_equal ["#{name}::CONSTANT", "Array", "Object"], path(Keeper.objects.fetch(:constant))
      assert_equal ["#{name} @seen", "Array", "Object"], path(Keeper.objects.fetch(:instance))
      assert_equal ["#{name} @@counted", "Array", "Object"], path(Keeper.objects.fetch(:class))
    end

    def test_class_variable_that_ruby_refuses_to_read_has_no_name
      values = ObjectSpace.reachable_objects_from(OVERTAKEN)
      own = values.grep(ObjectSpace::InternalObjectWrapper)
      values += own.flat_map { |object| ObjectSpace.reachable_objects_from(object) }
      kept = values.grep(Array).first.first

      assert_equal ["Carat::RootPathsTest::OVERTAKEN", "Array", "Object"], path(kept)
    end

    def test_proc_has_the_line_at_which_it_is_written
      proc = "Proc (#{Log::RelativePath.of(__FILE__)}:#{CALLBACK.source_location.last})"

      assert_equal ["Carat::RootPathsTest::CALLBACK", proc, "Array", "Object"], path(CALLBACK.call.first)
    end

    # $FILENAME opens the file.
    # rubocop:disable Style/GlobalVars -- applications have them
    def test_global_variable_has_its_name_while_the_command_line_names_a_file_that_is_missing
      $kept_for_carat = [Object.new]
      ARGV.unshift("a file that is missing")

      assert_equal ["$kept_for_carat", "Array", "Object"], path($kept_for_carat.first)
    ensure
      ARGV.shift
      $kept_for_carat = nil
    end
    # rubocop:enable Style/GlobalVars

    private

    def path(object)
      Lab::Leak::RootPaths.new([object], hidden: []).of(object)
    end
  end
end
