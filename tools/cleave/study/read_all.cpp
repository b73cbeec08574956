#include "read_all.hpp"

#include <fmt/format.h>
#include <poll.h>

#include "interrupt.hpp"

namespace study {

using clock = std::chrono::steady_clock;

bool read_all(const processes& all, deadline last) {
  constexpr auto patience = std::chrono::minutes(5);
  auto end = clock::now() + patience;
  for (;;) {
    std::vector<pollfd> open;
    std::vector<process*> of;
    for (const auto& p : all)
      if (p->is_open()) open.push_back({p->output(), POLLIN, 0}), of.push_back(p.get());
    if (open.empty()) return true;
    if (is_interrupted()) throw std::runtime_error("interrupted");
    if (clock::now() > last) throw out_of_time();
    if (clock::now() > end) return false;
    poll(open.data(), open.size(), 200);
    for (std::size_t i = 0; i < open.size(); ++i)
      if (open[i].revents != 0) of[i]->read_some(), end = clock::now() + patience;
  }
}

std::string said_by(const std::vector<std::string>& command, const std::filesystem::path& errors,
                    deadline last) {
  processes one;
  one.push_back(std::make_unique<process>(command, errors));
  if (!read_all(one, last)) throw std::runtime_error(silent);
  if (const int status = one[0]->wait().first; status != 0)
    throw std::runtime_error(failure_of(status, errors));
  return one[0]->said();
}

std::string failure_of(int status, const std::filesystem::path& errors) {
  return fmt::format("status {}: {}", status, text_of(errors).substr(0, 300));
}

}  // namespace study
