// Read by ThreadSanitizer's runtime, by nobody else. libpmemobj is not instrumented: its lanes and
// transactions synchronise by atomics that the sanitizer cannot see, so what it does inside would be reported
// as races.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() { return "race:libpmemobj.so"; }
