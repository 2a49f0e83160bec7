#include "support/certificate.hpp"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <cstdint>
#include <cstdio>
#include <stdexcept>

namespace welkin::test {

void make_certificate(const std::string& certificate_file, const std::string& key_file,
                      const std::string& password) {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = X509_new();
  X509_set_version(certificate, X509_VERSION_3);
  std::uint64_t serial = 0;
  RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial);
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -60);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 86'400);
  X509_set_pubkey(certificate, key);
  auto* name = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("localhost"),
                             -1, -1, 0);
  X509_set_issuer_name(certificate, name);
  auto* names = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1");
  X509_add_ext(certificate, names, -1);
  X509_EXTENSION_free(names);
  X509_sign(certificate, key, EVP_sha256());

  std::FILE* out = std::fopen(certificate_file.c_str(), "w");
  bool written = out && PEM_write_X509(out, certificate) == 1;
  if (out) std::fclose(out);
  out = std::fopen(key_file.c_str(), "w");
  const auto* cipher = password.empty() ? nullptr : EVP_aes_256_cbc();
  written = out && written &&
            PEM_write_PrivateKey(out, key, cipher, reinterpret_cast<const unsigned char*>(password.data()),
                                 static_cast<int>(password.size()), nullptr, nullptr) == 1;
  if (out) std::fclose(out);
  X509_free(certificate);
  EVP_PKEY_free(key);
  if (!written) throw std::runtime_error("cannot write a certificate to " + certificate_file);
}

}  // namespace welkin::test
