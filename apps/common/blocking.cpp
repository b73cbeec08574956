#include "blocking.hpp"

#include "planned.hpp"
#include "tiled_matrix.hpp"

namespace apps {

void add_blocking_options(driver& app, blocking& how) {
  app.option_number("--block", how.rows, tile_size, 32'000,
                    "Rows and columns of a block, a multiple of 32 (default: a tenth of N, but "
                    "64 to 256)");
  add_plan_option(app, how.plan);
}

void require_good(const blocking& how) {
  if (how.rows % tile_size != 0)
    throw usage_error("--block: expected a multiple of " + std::to_string(tile_size) + ", got '" +
                      std::to_string(how.rows) + "'");
}

}  // namespace apps
