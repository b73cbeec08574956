#pragma once

/// The begin and the end of a job, as MPI_Init and MPI_Finalize tell them.
namespace cleave::cosched {

/// Called after MPI is initialized: the ranks of each node make their shared memory, and this one
/// becomes active.
void begin_job(int thread_level) noexcept;
/// Called before MPI is finalized: the ranks' counts are added up and reported.
void report_job() noexcept;
/// Makes this rank sleep no more, and says why, once.
void stand_aside(const char* why) noexcept;

}  // namespace cleave::cosched
