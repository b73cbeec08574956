! The Fortran bindings: as many waits as the C program of the same shape would have. Some are long:
! quick nodes answer before who waits has looked often enough to sleep.
program fortran
  use mpi
  implicit none
  integer :: error, rank, ranks, i, status(MPI_STATUS_SIZE)
  double precision :: mine, total, until
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  total = 0
  do i = 1, 100
    mine = rank + 0.1d0 * i
    if (rank == 1 .and. mod(i, 10) == 0) then
      until = MPI_Wtime() + 1d-3
      do while (MPI_Wtime() < until)
      end do
    end if
    call MPI_Allreduce(mine, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
    if (rank == 0) call MPI_Send(total, 1, MPI_DOUBLE_PRECISION, 1, 0, MPI_COMM_WORLD, error)
    if (rank == 1) call MPI_Recv(total, 1, MPI_DOUBLE_PRECISION, 0, 0, MPI_COMM_WORLD, status, error)
    call MPI_Barrier(MPI_COMM_WORLD, error)
  end do
  if (rank == 0) print '(f0.6)', total
  call MPI_Finalize(error)
end program
