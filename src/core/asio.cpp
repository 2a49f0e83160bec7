// The bodies of Asio, compiled once (BOOST_ASIO_SEPARATE_COMPILATION). Those of Asio's TLS and of Beast are in http.
#include <boost/asio/impl/src.hpp>
