#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "commands.hpp"
#include "support/command_line.hpp"
#include "support/input_error.hpp"
#include "support/line_reader.hpp"
#include "support/save_file.hpp"
#include "translate.hpp"

namespace tascell {
namespace {

class group final : public apps::command_group {
public:
  explicit group(apps::command_line& program)
      : line_(program, "tascell", "Make C++ on Cleave of a Tascell program (docs/tascell.md)") {
    line_.text("FILE", file_, "the Tascell program");
    line_.option("--output,-o", "FILE", output_, "Where the C++ goes (default: to the terminal)");
  }
  bool given() const override { return line_.parsed(); }

  int run() override {
    auto in = apps::open_input(file_);
    const std::string program(std::istreambuf_iterator<char>(in), {});
    if (in.bad()) throw apps::input_error(file_, 0, "a file that can be read", "a read error");
    const std::string text = translate(file_, program);
    if (output_.empty()) fmt::print("{}", text);
    else apps::save_file(output_, text);
    return 0;
  }

private:
  apps::command_line line_;
  std::string file_, output_;
};

}  // namespace

std::unique_ptr<apps::command_group> commands(apps::command_line& program) {
  return std::make_unique<group>(program);
}

}  // namespace tascell
