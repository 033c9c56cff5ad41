# SPDX-License-Identifier: BSD-3-Clause
cmake_minimum_required(VERSION 3.25)
project(consumer C)
set(CMAKE_C_STANDARD 11)
find_package(hocket 0.1 REQUIRED)
find_package(Threads REQUIRED)
add_executable(consumer ${SOURCE})
target_link_libraries(consumer PRIVATE hocket::hocket Threads::Threads)
