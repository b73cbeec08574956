// The study as one page that needs nothing else: the data, the plots and the library that draws
// them.
#pragma once

#include <string>

#include "measured.hpp"

namespace study {

std::string page(const measured& m);

// The page that a template (study.html) makes of data in JSON.
std::string page(std::string text, std::string data);

}  // namespace study
