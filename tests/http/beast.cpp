// The bodies of Beast, which head_test.cpp compares us with. The server itself has no use for it.
#include <boost/beast/src.hpp>
