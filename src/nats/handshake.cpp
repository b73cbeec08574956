#include "nats/handshake.hpp"

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace cleave::net::nats {
namespace {

using std::chrono::steady_clock;

struct freed {
  void operator()(X509_STORE* s) const { X509_STORE_free(s); }
  void operator()(X509* c) const { X509_free(c); }
  void operator()(BIO* b) const { BIO_free(b); }
};
using certificates = std::unique_ptr<X509_STORE, freed>;

certificates read_certificates(const std::string& pem) {
  certificates all(X509_STORE_new());
  const std::unique_ptr<BIO, freed> text(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  int count = 0;
  for (;; ++count) {
    const std::unique_ptr<X509, freed> one(
        PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr));
    if (one == nullptr) break;
    X509_STORE_add_cert(all.get(), one.get());
  }
  if (count == 0 && !pem.empty())
    throw std::invalid_argument("expected a certificate of who vouches for the relay");
  return all;
}

}  // namespace

struct handshake::watch {
  const certificates trusted;
  const std::chrono::milliseconds at_most;
  std::mutex mutex;  // guards what follows
  std::condition_variable changed;
  const SSL* of = nullptr;  // the handshake that is under way
  int socket = -1;
  steady_clock::time_point until;
  bool over = false, cut_off = false, seen = false;
  std::thread thread;

  watch(const std::string& authority, std::chrono::milliseconds limit)
      : trusted(read_certificates(authority)), at_most(limit) {}

  void begin(const SSL* ssl) {
    // The callback's type says const; the certificates of a connection are its to set.
    SSL_set1_verify_cert_store(const_cast<SSL*>(ssl), trusted.get());
    // The authority is the key file's own, made for this relay alone: a machine whose clock is
    // wrong may trust it, and must, as clocks are set while jobs run.
    X509_VERIFY_PARAM_set_flags(SSL_get0_param(const_cast<SSL*>(ssl)), X509_V_FLAG_NO_CHECK_TIME);
    {
      const std::lock_guard lock(mutex);
      of = ssl, socket = SSL_get_fd(ssl), until = steady_clock::now() + at_most, seen = true;
    }
    changed.notify_one();
  }
  void end(const SSL* ssl) {
    const std::lock_guard lock(mutex);
    if (of == ssl) of = nullptr, socket = -1;
  }
  void run() {
    std::unique_lock lock(mutex);
    while (!over) {
      if (of == nullptr) {
        changed.wait(lock);
      } else if (steady_clock::now() < until) {
        changed.wait_until(lock, until);
      } else {
        cut_off = true;
        shutdown(socket, SHUT_RDWR);  // nats.c closes it, when its read has ended
        of = nullptr, socket = -1;
      }
    }
  }
};

/// What OpenSSL calls in a thread that makes a connection.
struct callbacks {
  static inline thread_local handshake::watch* of_this_thread = nullptr;

  static void made(void* ssl, void*, CRYPTO_EX_DATA*, int, long, void*) {
    if (of_this_thread != nullptr) SSL_set_info_callback(static_cast<SSL*>(ssl), step);
  }
  static void freed(void* ssl, void*, CRYPTO_EX_DATA*, int, long, void*) {
    if (of_this_thread != nullptr) of_this_thread->end(static_cast<SSL*>(ssl));
  }
  static void step(const SSL* ssl, int what, int) {
    if (of_this_thread == nullptr) return;
    if ((what & SSL_CB_HANDSHAKE_START) != 0) of_this_thread->begin(ssl);
    if ((what & SSL_CB_HANDSHAKE_DONE) != 0) of_this_thread->end(ssl);
  }
};

handshake::handshake(const std::string& authority, std::chrono::milliseconds at_most)
    : watch_(std::make_unique<watch>(authority, at_most)) {
  static const int once =
      SSL_get_ex_new_index(0, nullptr, callbacks::made, nullptr, callbacks::freed);
  if (once < 0) throw std::runtime_error("OpenSSL takes no callback");
  watch_->thread = std::thread([w = watch_.get()] { w->run(); });
  callbacks::of_this_thread = watch_.get();
}

handshake::~handshake() {
  callbacks::of_this_thread = nullptr;
  {
    const std::lock_guard lock(watch_->mutex);
    watch_->over = true;
  }
  watch_->changed.notify_one();
  watch_->thread.join();
}

bool handshake::was_cut_off() const {
  const std::lock_guard lock(watch_->mutex);
  return watch_->cut_off;
}

bool handshake::was_seen() const {
  const std::lock_guard lock(watch_->mutex);
  return watch_->seen;
}

}  // namespace cleave::net::nats
