#pragma once

/// The begin and the end of a job, as MPI_Init and MPI_Finalize tell them.
namespace cleave::cosched {

/// After MPI is initialized: the ranks of each node make their shared memory, and this one becomes
/// active.
void begin_job(int thread_level) noexcept;
/// Before MPI is finalized: the ranks' counts are added up and reported.
void report_job() noexcept;
/// This rank sleeps no more: says why, once.
void stand_aside(const char* why) noexcept;

}  // namespace cleave::cosched
