#include "record/mpi.hpp"

#include "preload/mpi_behind.hpp"

namespace cleave::record {
namespace {

#ifdef OPEN_MPI
constexpr const char* libraries[] = {"libmpi.so.40", nullptr};
#else
constexpr const char* libraries[] = {"libmpich.so.12", "libmpi.so.12", nullptr};
#endif

constexpr preload::mpi_behind mpi_of_program{"record", libraries};

}  // namespace

void* next_function(const char* name) noexcept { return mpi_of_program.find(RTLD_NEXT, name); }
void* object(const char* name) noexcept { return mpi_of_program.find(RTLD_DEFAULT, name); }
void check_mpi() noexcept { mpi_of_program.check(); }

}  // namespace cleave::record
