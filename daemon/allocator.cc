// Settings of jemalloc, which a program reads before main() (itemdb_allocator in cmake/targets.cmake).
//
// One arena per core: memory that was freed in one arena cannot be used in another. Memory that was not used
// for a second goes back to the system, given by threads of jemalloc, so that no request waits for that.
extern "C" {
extern const char* malloc_conf;
const char* malloc_conf = "percpu_arena:percpu,background_thread:true,dirty_decay_ms:1000,muzzy_decay_ms:0";
}
