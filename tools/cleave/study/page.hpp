// The study as one page that needs nothing else: the data, the plots and the library that draws
// them.
#pragma once

#include <string>
#include <vector>

#include "measured.hpp"

namespace study {

std::string page(const measured& m);

// The page that a template (study.html, cosched.html and others) makes of data in JSON.
// What pages look like and do is in page.css and page.js.
std::string page(std::string text, std::string data);

// Called before what takes long: these files will be written there. Makes the folder. Throws
// apps::usage_error.
void check_folder(const std::string& folder, const std::vector<std::string>& files);

}  // namespace study
