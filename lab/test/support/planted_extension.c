// `leak_sixteen_bytes` forgets as many, `map_page` a mapping of which it writes to one page. `replace_blocks` allocates 4096 bytes in blocks of a size, and frees the oldest
// blocks beyond a limit of bytes; one block of so many stays.
#include <ruby.h>
#include <stdlib.h>
#include <sys/mman.h>
#define ROOM (1 << 20)
static struct block { char *memory; int size; int stays; } blocks[ROOM];
static long first, last, bytes;
static VALUE leak(VALUE self) { char *volatile memory = malloc(16); (void)memory; return Qnil; }
static VALUE map_page(VALUE self) {
  *(char *)mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) = 1;
  return Qnil;
}
static VALUE replace(VALUE self, VALUE size, VALUE one_in, VALUE limit) {
  for (int left = 4096; left >= FIX2INT(size); left -= FIX2INT(size), last++) {
    struct block block = { malloc(FIX2INT(size)), FIX2INT(size), last % FIX2INT(one_in) == 0 };
    blocks[last % ROOM] = block;
    bytes += block.size;
  }
  for (; bytes > FIX2LONG(limit); first++) {
    struct block block = blocks[first % ROOM];
    if (block.stays) continue;
    free(block.memory);
    bytes -= block.size;
  }
  return Qnil;
}
void Init_leaky(void) {
  rb_define_global_function("leak_sixteen_bytes", leak, 0);
  rb_define_global_function("map_page", map_page, 0);
  rb_define_global_function("replace_blocks", replace, 3);
}
