// The study as one page that needs nothing else: the data, the plots and the library that draws
// them.
#pragma once

#include <string>

#include "measured.hpp"

namespace study {

std::string page(const measured& m);

// The page that a template (study.html, cosched.html) makes of data in JSON. What both pages look
// like and do is in page.css and page.js.
std::string page(std::string text, std::string data);

}  // namespace study
