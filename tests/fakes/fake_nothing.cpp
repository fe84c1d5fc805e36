// A library with the name of a driver and nothing else of it.

extern "C" int fake_nothing() { return 0; }
