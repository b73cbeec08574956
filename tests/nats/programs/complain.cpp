// complain BYTES SECONDS: a program for jobs that writes so much to standard error, waits, and
// prints what all are to see.
#include <cleave/cleave.hpp>

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

int main(int argc, char** argv) {
  cleave::runtime runtime(argc, argv);
  if (argc != 3) return 2;
  std::fputs(std::string(std::stoul(argv[1]), 'x').c_str(), stderr);
  std::this_thread::sleep_for(std::chrono::seconds(std::stoi(argv[2])));
  std::puts("said");
}
