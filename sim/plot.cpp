#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/scale.hpp"

namespace sim {
namespace {

constexpr double left = 60, right = 560, top = 30, bottom = 330;
constexpr const char* colours[] = {"#1b6ca8", "#d1495b", "#7a7a7a", "#2a9d4a",
                                   "#e0a100", "#7b4bb7", "#8c564b"};

struct axes {
  double low = 1, high = 2;  ///< workers
  double floor = 0.5;        ///< the least efficiency

  double x(double workers) const {
    const double span = std::max(std::log2(high / low), 1.0);
    return left + (right - left) * std::log2(workers / low) / span;
  }
  double y(double efficiency) const {
    return bottom - (bottom - top) * (efficiency - floor) / (1 - floor);
  }
};

std::string grid(const axes& a) {
  std::string s;
  for (double e = a.floor; e < 1.001; e += 0.1) {
    s += fmt::format("<path d=\"M{} {:.1f}H{}\" stroke=\"#ddd\"/>\n", left, a.y(e), right);
    s += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{:.0f} %</text>\n", left - 8,
                     a.y(e) + 4, 100 * e);
  }
  for (double w = a.low; w <= a.high * 1.001; w *= 2)
    s += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:.0f}</text>\n", a.x(w),
                     bottom + 18, w);
  return s + fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">workers</text>\n",
                         (left + right) / 2, bottom + 38);
}

}  // namespace

std::string plot(const std::vector<scale_result>& results) {
  axes a;
  std::map<std::string, std::vector<const scale_result*>> lines;
  a.low = 1e9;
  for (const scale_result& r : results) {
    lines[to_string(r.run.whom)].push_back(&r);
    a.low = std::min(a.low, static_cast<double>(r.run.where.workers));
    a.high = std::max(a.high, static_cast<double>(r.run.where.workers));
    a.floor = std::min(a.floor, std::floor(r.efficiency * 10) / 10);
  }
  std::string s =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"700\" height=\"380\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"700\" height=\"380\" "
      "fill=\"white\"/>\n";
  s += grid(a);
  int row = 0;
  for (auto& [whom, points] : lines) {
    std::sort(points.begin(), points.end(), [](const auto* p, const auto* q) {
      return p->run.where.workers < q->run.where.workers;
    });
    const char* const colour = colours[static_cast<std::size_t>(row) % std::size(colours)];
    std::string path;
    for (const scale_result* r : points) {
      const double x = a.x(r->run.where.workers), y = a.y(r->efficiency);
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x, y);
      s += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n", x, y, colour);
    }
    s += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", path,
                     colour);
    s += fmt::format("<text x=\"{}\" y=\"{}\" fill=\"{}\">{}</text>\n", right + 20,
                     top + 20 * ++row, colour, whom);
  }
  return s + "</svg>\n";
}

}  // namespace sim
