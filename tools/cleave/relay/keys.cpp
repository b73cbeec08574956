#include "relay/keys.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cstdint>
#include <memory>
#include <stdexcept>

#include "nats/access.hpp"

namespace relay {
namespace {

template <auto free>
struct freed_by {
  void operator()(auto* p) const { free(p); }
};
using bio = std::unique_ptr<BIO, freed_by<BIO_free_all>>;
using private_key = std::unique_ptr<EVP_PKEY, freed_by<EVP_PKEY_free>>;
using certificate = std::unique_ptr<X509, freed_by<X509_free>>;
using extension = std::unique_ptr<X509_EXTENSION, freed_by<X509_EXTENSION_free>>;

void check(bool done, const char* what) {
  if (done) return;
  char why[256];
  ERR_error_string_n(ERR_get_error(), why, sizeof why);
  throw std::runtime_error(fmt::format("OpenSSL: {}: {}", what, why));
}

// NATS's spelling of a key: base32 without padding of prefix, key and their CRC-16 (XMODEM).
std::string spelled(std::vector<unsigned char> bytes) {
  const std::uint16_t crc = cleave::net::nats::checksum_of_key(bytes);
  bytes.push_back(static_cast<unsigned char>(crc & 0xff));
  bytes.push_back(static_cast<unsigned char>(crc >> 8));
  std::string text;
  unsigned pending = 0;
  int bits = 0;
  for (const unsigned char b : bytes) {
    pending = pending << 8 | b;
    for (bits += 8; bits >= 5; bits -= 5)
      text += "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[pending >> (bits - 5) & 31];
  }
  if (bits > 0) text += "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[pending << (5 - bits) & 31];
  OPENSSL_cleanse(bytes.data(), bytes.size());
  return text;
}

constexpr std::size_t longest_name = 64;  // X.509: of a CN

// Their first letters are S and U.
constexpr unsigned char seed_kind = 18 << 3, user_kind = 20 << 3;

std::string text_of(const bio& from) {
  const char* begin = nullptr;
  const auto size = BIO_ctrl(from.get(), BIO_CTRL_INFO, 0, static_cast<void*>(&begin));
  return {begin, static_cast<std::size_t>(size)};
}

std::string pem_of(const certificate& c) {
  const bio to(BIO_new(BIO_s_mem()));
  check(PEM_write_bio_X509(to.get(), c.get()) == 1, "writing a certificate");
  return text_of(to);
}

std::string pem_of(const private_key& k) {
  const bio to(BIO_new(BIO_s_secmem()));
  check(
      PEM_write_bio_PKCS8PrivateKey(to.get(), k.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1,
      "writing a key");
  return text_of(to);
}

bio reading(const std::string& text) {
  return bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

void add(const certificate& to, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context{};
  X509V3_set_ctx(&context, issuer, to.get(), nullptr, nullptr, 0);
  const extension e(X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  check(e != nullptr && X509_add_ext(to.get(), e.get(), -1) == 1, value.c_str());
}

// Makes a certificate without extensions and signature.
certificate make_certificate(const private_key& key, const std::string& name, long years) {
  certificate c(X509_new());
  constexpr long day = 24L * 60 * 60;
  std::uint64_t serial = 0;
  check(RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) == 1,
        "random numbers");
  X509_set_version(c.get(), X509_VERSION_3);
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(c.get()), serial >> 1 | 1);
  X509_gmtime_adj(X509_getm_notBefore(c.get()), -day);  // clocks may differ
  X509_gmtime_adj(X509_getm_notAfter(c.get()), years * 365 * day);
  X509_set_pubkey(c.get(), key.get());
  const auto* const bytes = reinterpret_cast<const unsigned char*>(name.c_str());
  check(X509_NAME_add_entry_by_txt(X509_get_subject_name(c.get()), "CN", MBSTRING_UTF8, bytes, -1,
                                   -1, 0) == 1,
        "a certificate's name");
  return c;
}

identity signed_by(X509* issuer, EVP_PKEY* signer, const certificate& c, const private_key& key) {
  X509_set_issuer_name(c.get(), X509_get_subject_name(issuer));
  check(X509_sign(c.get(), signer, EVP_sha256()) > 0, "signing a certificate");
  return {pem_of(c), pem_of(key)};
}

private_key p256() {
  private_key key(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
  check(key != nullptr, "a new key");
  return key;
}

}  // namespace

bool is_address(const std::string& host) {
  in6_addr any;
  return inet_pton(AF_INET, host.c_str(), &any) == 1 ||
         inet_pton(AF_INET6, host.c_str(), &any) == 1;
}

nkey make_nkey() {
  const private_key key(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  check(key != nullptr, "a new key");
  std::vector<unsigned char> public_bytes{user_kind},
      seed{seed_kind | user_kind >> 5, (user_kind & 31) << 3};
  constexpr std::size_t length = 32;
  public_bytes.resize(1 + length), seed.resize(2 + length);
  std::size_t size = length;
  check(EVP_PKEY_get_raw_public_key(key.get(), public_bytes.data() + 1, &size) == 1, "a new key");
  check(EVP_PKEY_get_raw_private_key(key.get(), seed.data() + 2, &size) == 1, "a new key");
  nkey made{spelled(public_bytes), spelled(seed)};
  OPENSSL_cleanse(seed.data(), seed.size());
  return made;
}

identity make_authority(const std::string& site) {
  const private_key key = p256();
  const certificate c =
      make_certificate(key, ("Cleave site " + site).substr(0, longest_name), authority_years);
  add(c, c.get(), NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
  add(c, c.get(), NID_key_usage, "critical,keyCertSign,cRLSign");
  add(c, c.get(), NID_subject_key_identifier, "hash");
  return signed_by(c.get(), key.get(), c, key);
}

identity make_server(const identity& authority, const std::vector<std::string>& hosts) {
  const bio certificate_text = reading(authority.certificate), key_text = reading(authority.key);
  const certificate issuer(PEM_read_bio_X509(certificate_text.get(), nullptr, nullptr, nullptr));
  const private_key signer(PEM_read_bio_PrivateKey(key_text.get(), nullptr, nullptr, nullptr));
  check(issuer != nullptr && signer != nullptr, "reading the authority's files");
  const private_key key = p256();
  const certificate c = make_certificate(key, "Cleave relay", relay_years);
  add(c, issuer.get(), NID_basic_constraints, "critical,CA:FALSE");
  add(c, issuer.get(), NID_key_usage, "critical,digitalSignature");
  add(c, issuer.get(), NID_ext_key_usage, "serverAuth");
  add(c, issuer.get(), NID_authority_key_identifier, "keyid");
  std::string names;
  for (const auto& host : hosts)
    names +=
        fmt::format("{}{}:{}", names.empty() ? "" : ",", is_address(host) ? "IP" : "DNS", host);
  add(c, issuer.get(), NID_subject_alt_name, names);
  return signed_by(issuer.get(), signer.get(), c, key);
}

}  // namespace relay
