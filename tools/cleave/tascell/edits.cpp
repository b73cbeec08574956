#include "edits.hpp"

namespace tascell {

std::string edits::apply(const token_list& tokens) const {
  std::string result;
  std::size_t done = 0;
  for (const auto& [i, c] : at_) {
    const token& t = tokens[i];
    result += tokens.text().substr(done, t.begin - done);
    result += c.before;
    result += c.replaced ? c.instead : std::string(t.text);
    result += c.after;
    done = t.begin + t.text.size();
  }
  return result.append(tokens.text().substr(done));
}

}  // namespace tascell
