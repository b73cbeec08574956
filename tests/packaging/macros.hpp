#pragma once

// Macros that headers of C libraries define under common names, for the test that Cleave's own
// headers stand after them (cmake/test_headers.cmake). Standard headers come first: some do not
// compile after `min` and `max`.

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cassert>
#include <chrono>
#include <compare>
#include <concepts>
#include <condition_variable>
#include <deque>
#include <functional>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <ranges>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <typeinfo>
#include <unordered_map>
#include <variant>
#include <vector>

// The real ones: I, complex, imaginary; major, minor, makedev.
#include <complex.h>
#include <sys/sysmacros.h>
#ifndef I
#error "<complex.h> has defined no I: this is to be compiled with GNU extensions"
#endif

// Qt.
#define Q_SIGNALS public
#define Q_SLOTS
#define Q_EMIT
#define signals public
#define slots
#define emit
#define forever for (;;)
#define foreach(variable, container) for (variable : container)

// X11.
#define None 0L
#define Bool int
#define Status int
#define True 1
#define False 0
#define Success 0
#define Always 2
#define WhenMapped 1
#define NotUseful 0
#define Unsorted 0
#define YSorted 1
#define KeyPress 2
#define KeyRelease 3
#define ButtonPress 4
#define FocusIn 9
#define FocusOut 10
#define Expose 12
#define Above 0
#define Below 1
#define Complex 0
#define Convex 2
#define CursorShape 0
#define FontChange 255
#define GrayScale 1
#define TrueColor 4
#define ZPixmap 2
#define AllocNone 0
#define BadRequest 1
#define BadValue 2
#define ControlMask 4
#define Mod1Mask 8
#define Opposite 4
#define Nonconvex 1
#define PropModePrepend 1
#define CurrentTime 0L
#define InputOnly 2
#define DestroyAll 0
#define RetainPermanent 1
#define LASTEvent 36

// Windows, and Objective-C.
#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))
#define near
#define far
#define NEAR
#define FAR
#define small char
#define hyper __int64
#define interface struct
#define pascal
#define cdecl
#define CALLBACK
#define ERROR 0
#define NO_ERROR 0L
#define IN
#define OUT
#define OPTIONAL
#define CONST const
#define VOID void
#define DELETE 0x10000L
#define TRUE 1
#define FALSE 0
#define STRICT 1
#define THIS
#define THIS_ void
#define PURE = 0
#define IGNORE 0
#define INFINITE 0xFFFFFFFF
#define NO 0
#define YES 1
#define nil 0
#define Nil 0
#define DOMAIN 1
#define OVERFLOW 3
#define UNDERFLOW 4
#define SING 2
#define ABSOLUTE 1
#define RELATIVE 2
#define TRANSPARENT 1
#define GetObject GetObjectA
#define GetMessage GetMessageA
#define SendMessage SendMessageA
#define CreateFile CreateFileA
#define DrawText DrawTextA
#define rad1 0x5

// curses. In C++ it takes back what the standard library has too: box, clear, erase, move, refresh.
#define timeout(delay) wtimeout(stdscr, (delay))
#define border(l, r, t, b, tl, tr, bl, br) wborder(stdscr, l, r, t, b, tl, tr, bl, br)
#define scroll(n) wscrl(stdscr, n)
#define getch() wgetch(stdscr)
#define addch(c) waddch(stdscr, c)
#define instr(s) winstr(stdscr, s)
#define attron(a) wattron(stdscr, a)
#define delch() wdelch(stdscr)
#define insch(c) winsch(stdscr, c)
#define standout() wstandout(stdscr)
#define setscrreg(t, b) wsetscrreg(stdscr, t, b)
#define getyx(w, y, x) (y = getcury(w), x = getcurx(w))
#define inch() winch(stdscr)
#define ERR (-1)
#define OK (0)
#define echo() wecho()
