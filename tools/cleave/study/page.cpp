#include "page.hpp"

#include <filesystem>
#include <stdexcept>

#include "support/command_line.hpp"
#include "support/save_file.hpp"

// embedded.cpp makes these of study.html, page.css, page.js and Chart.js.
extern const char study_template[];
extern const char page_style[];
extern const char page_script[];
extern const char chart_library[];

namespace study {
namespace {

void replace(std::string& text, const std::string& mark, const std::string& by) {
  if (const auto at = text.find(mark); at != std::string::npos) text.replace(at, mark.size(), by);
}

}  // namespace

std::string page(const measured& m) { return page(study_template, to_json(m)); }

std::string page(std::string text, std::string data) {
  // "</script>" in a string would end the element that holds the data.
  for (std::size_t at = 0; (at = data.find("</", at)) != std::string::npos; at += 3)
    data.replace(at, 2, "<\\/");
  replace(text, "/*STYLE*/\n", page_style);
  replace(text, "/*SHARED*/\n", page_script);
  replace(text, "/*DATA*/null", data);
  replace(text, "/*CHARTS*/", chart_library);
  return text;
}

void check_folder(const std::string& folder, const std::vector<std::string>& files) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  try {
    for (const auto& file : files)
      apps::require_writable((std::filesystem::path(folder) / file).string());
  } catch (const std::invalid_argument&) {
    throw apps::usage_error("-o: expected a folder that can be written, got '" + folder + "'");
  }
}

}  // namespace study
