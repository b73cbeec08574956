#include "save_file.hpp"

#include <cstdio>
#include <streambuf>

#include "machine/saved_file.hpp"

namespace apps {
namespace {

// A stream of C as one of C++, which is not buffered twice.
class to_stdio : public std::streambuf {
public:
  explicit to_stdio(std::FILE* to) : to_(to) {}

protected:
  int_type overflow(int_type c) override {
    return traits_type::eq_int_type(c, traits_type::eof()) ? 0 : std::putc(c, to_);
  }
  std::streamsize xsputn(const char* text, std::streamsize n) override {
    return static_cast<std::streamsize>(std::fwrite(text, 1, static_cast<std::size_t>(n), to_));
  }

private:
  std::FILE* const to_;
};

}  // namespace

void require_writable(const std::string& file) { cleave::machine::require_writable(file); }

void save_file(const std::string& file, const std::function<void(std::ostream&)>& write) {
  require_writable(file);
  cleave::machine::saved_file out(file);
  to_stdio buffer(out.stream());
  std::ostream stream(&buffer);
  write(stream);
  out.keep();
}

void save_file(const std::string& file, const std::string& text) {
  save_file(file, [&](std::ostream& out) { out << text; });
}

}  // namespace apps
