# The toolchain of the preset aarch64: Debian's cross compiler, and libraries of that architecture beside the system's own
# (cmake/install-packages.sh aarch64). What is built runs here under QEMU, tests and what builds run too.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
# Otherwise pkg-config tells where this machine's OpenSSL is.
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)
