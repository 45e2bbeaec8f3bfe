# frozen_string_literal: true

ApplicationRecord.connection.instance_exec do
  next if table_exists?(:items)

  create_table(:items) { |table| table.string :name }
  create_table(:photos) { |table| table.string :title }
  create_table :active_storage_blobs do |table|
    table.string :key, null: false, index: { unique: true }
    table.string :filename, null: false
    table.string :content_type
    table.text :metadata
    table.string :service_name, null: false
    table.bigint :byte_size, null: false
    table.string :checksum
    table.datetime :created_at, null: false
  end
  create_table :active_storage_attachments do |table|
    table.string :name, null: false
    table.references :record, null: false, polymorphic: true, index: false
    table.references :blob, null: false
    table.datetime :created_at, null: false
  end
  create_table :active_storage_variant_records do |table|
    table.references :blob, null: false, index: false
    table.string :variation_digest, null: false
  end
end
ArchiveRecord.connection.create_table(:entries, if_not_exists: true) { |table| table.string :text }
