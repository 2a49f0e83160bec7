#pragma once
#include <string>

namespace welkin::test {

/// A certificate that signed itself (EC P-256, localhost and 127.0.0.1), as PEM files.
/// @param certificate_file, key_file  written, replaced when they are there
/// @param password  encrypts the key; empty: not
void make_certificate(const std::string& certificate_file, const std::string& key_file,
                      const std::string& password = "");

}  // namespace welkin::test
