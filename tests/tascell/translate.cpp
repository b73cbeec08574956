// labels: once
// What `cleave tascell` makes of the language's constructs, and what it says of mistakes. That the
// programs compute what they should is tested by programs.sh.
#include "tascell/translate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "support/input_error.hpp"

namespace {

// A task, and a worker function with this body.
std::string program(const std::string& body, const std::string& parameters = "int n") {
  return "task t { in: int n; int a[4]; out: long s; inout: int k; };\n"
         "task_exec t { this.s = f(this.n); }\n"
         "worker long f(" +
         parameters + ") {\n" + body + "\n}\n";
}

std::string translated(const std::string& text) { return tascell::translate("p.tc", text); }

// What is wrong with the program, without the name of the file.
std::string mistake(const std::string& text) {
  try {
    translated(text);
  } catch (const apps::input_error& e) {
    const std::string line = e.what();
    EXPECT_EQ(line.substr(0, 5), "p.tc:");
    return line.substr(5);
  }
  return "none";
}
std::string mistake_in(const std::string& body) { return mistake(program(body)); }

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const std::string handlers = " handles t (int i1, int i2) { this.n = i1; } { s += this.s; }";

TEST(tascell_translate, keeps_the_lines_of_the_program) {
  const std::string text = program("long s = 0;\n// a comment\nfor (int p : 0, n)\n  s += p;\n" +
                                   handlers + "\nreturn s;");
  const std::string made = translated(text);
  const auto begin = made.find("#line 1 \"p.tc\"\n");
  ASSERT_NE(begin, std::string::npos);
  const std::string rest = made.substr(begin + 15);
  const auto lines = [](const std::string& s) { return std::count(s.begin(), s.end(), '\n'); };
  const auto main = rest.find("\nint main(");
  ASSERT_NE(main, std::string::npos);
  EXPECT_EQ(lines(rest.substr(0, main + 1)), lines(text) + 1);
  EXPECT_TRUE(has(made, "// a comment\n"));
}

TEST(tascell_translate, names_the_file_as_a_string_of_c) {
  const std::string made = tascell::translate("a\"b\\c.tc", "int x;\n");
  EXPECT_TRUE(has(made, "#line 1 \"a\\\"b\\\\c.tc\"\n"));
}

TEST(tascell_translate, leaves_c_alone) {
  const std::string c =
      "#define task_of(x) \\\n  (x)\n#include <stdio.h>\n"
      "static const char *text = \"task t { do_two\"; // dynamic_wind\n"
      "/* for (int p : 0, 1) */ int f(int x) { return x ? 'a' : '\\''; }\n"
      "struct s { int in, out; } one = {1, 2};\n";
  EXPECT_TRUE(has(translated(c), c));
}

TEST(tascell_translate, makes_main_of_the_first_task_only_where_there_is_none) {
  EXPECT_TRUE(has(translated(program("return 0;")), "run_program<tascell_task_t>"));
  EXPECT_FALSE(has(translated(program("return 0;") + "int main() { return 0; }\n"), "run_program"));
  EXPECT_FALSE(has(translated("int main;\nint x;\n"), "run_program"));
}

TEST(tascell_translate, tasks_travel_by_their_in_fields) {
  const std::string made = translated(program("return 0;"));
  EXPECT_TRUE(has(made, "input() { return std::tie(t::n, t::a, t::k); }"));
  EXPECT_TRUE(has(made, "struct tascell_result_t { decltype(t::s) s; decltype(t::k) k; "));
}

TEST(tascell_translate, tasks_with_other_fields_stay) {
  const std::string made =
      translated("task m { int *data; in: int n; out: long s; };\ntask_exec m { this.s = 0; }\n");
  EXPECT_FALSE(has(made, "input()"));
}

TEST(tascell_translate, captures_by_value_what_a_construct_does_not_change) {
  const std::string made = translated(
      program("long s = 0; int *p = b, q = 1; q++;\nfor (int i : 0, n) { s += p[i] + q + c; }" +
                  handlers + "\nreturn s;",
              "int n, int *b, char c"));
  EXPECT_TRUE(has(made, "[&, p, q, c](int i, auto& tascell_carried_4)")) << made;
}

TEST(tascell_translate, captures_by_reference_what_may_change_elsewhere) {
  const std::string made = translated(
      program("long s = 0; int *p = &n, q[3];\nfor (int i : 0, n) { s += p[i] + q[i]; n = 3; }" +
              handlers + "\nreturn s;"));
  EXPECT_TRUE(has(made, "[&, p](int i, auto& tascell_carried_4)")) << made;
  EXPECT_FALSE(has(made, "of_n"));
}

TEST(tascell_translate, captures_no_constants_and_no_static_variables) {
  const std::string made =
      translated(program("static int calls, *where; const int two = 2; long s = 0;\n"
                         "for (int i : 0, n) { calls++; s += two + *where + i; }" +
                         handlers + "\nreturn s;"));
  EXPECT_TRUE(has(made, "[&](int i, auto& tascell_carried_4)")) << made;
  EXPECT_FALSE(has(made, "of_calls"));
}

TEST(tascell_translate, a_loop_carries_what_it_changes_and_put_does_not_use) {
  const auto made = [](const std::string& put) {
    return translated(
        program("long s = 0, z = 0;\nfor (int i : 0, n) { s += i; z = i; }\nhandles t "
                "(int i1, int i2) {" +
                put + "} { s += this.s; }\nreturn s;"));
  };
  EXPECT_TRUE(has(made("this.n = 0;"), "of_s; std::remove_cvref_t<decltype(z)> of_z; "));
  EXPECT_FALSE(has(made("this.n = z;"), "of_z"));
}

TEST(tascell_translate, a_loop_winds_by_its_own_step_and_other_constructs_by_one_on_the_list) {
  const std::string wind = "dynamic_wind { a[0] = 1; } { s++; } { a[0] = 0; }";
  const std::string in_loop = translated(
      program("long s = 0; int a[4];\nfor (int i : 0, n) " + wind + handlers + "\nreturn s;"));
  EXPECT_TRUE(has(in_loop, "auto tascell_wind_1"));
  EXPECT_FALSE(has(in_loop, "cleave::tascell::dynamic_wind"));
  const std::string outside = translated(program("long s = 0; int a[4];\n" + wind + "\nreturn s;"));
  EXPECT_TRUE(has(outside, "cleave::tascell::dynamic_wind("));
}

TEST(tascell_translate, continue_in_a_parallel_for_ends_the_iteration) {
  const std::string made = translated(
      program("long s = 0;\nfor (int i : 0, n) { for (;;) { if (i) continue; break; } if (i) "
              "continue; s++; }" +
              handlers + "\nreturn s;"));
  EXPECT_TRUE(has(made, "{ if (i) continue; break; } if (i) return; s++; }"));
}

TEST(tascell_translate, leaves_loops_of_c_and_of_cpp_alone) {
  const std::string body =
      "for (int i = 0, j = 1; i < n; i++) j++;\n  for (int x : values) n += x;\n  return n;";
  EXPECT_TRUE(has(translated(program(body)), body));
}

TEST(tascell_translate, both_branches_return_what_they_assign) {
  const std::string made =
      translated(program("long x, y;\ndo_two x = f(n - 1); { y = f(n - 2); y++; }\nhandles t { "
                         "this.n = n - 2; } { y = this.s; }\nreturn x + y;"));
  EXPECT_TRUE(has(made, "decltype(x)> of_x; enum : bool { begins_anew = true }; }"));
  EXPECT_TRUE(has(made, "decltype(y)> of_y; enum : bool { begins_anew = true }; }"));
}

TEST(tascell_translate, branches_begin_with_what_they_add_to) {
  const std::string made =
      translated(program("long x = 1, y = 2;\ndo_two x += f(n - 1); y = f(n - 2);\nhandles t { "
                         "this.n = n - 2; } { y = this.s; }\nreturn x + y;"));
  EXPECT_TRUE(has(made, "of_x; enum : bool { begins_anew = false }; } tascell_carried_3{x};"))
      << made;
  EXPECT_TRUE(has(made, "of_y; enum : bool { begins_anew = true }; } tascell_carried_4{{}};"));
}

TEST(tascell_translate, says_where_what_was_expected) {
  EXPECT_EQ(mistake("task t {\n  in: int n\n};\n"),
            "3:1: error: expected ';' after the declaration of a field, got '}'");
  EXPECT_EQ(mistake("task t {\n  in: int n;\n}\nint x;"),
            "4:1: error: expected ';' after the task, got 'int'");
  EXPECT_EQ(mistake("task t { at: int n; };"),
            "1:10: error: expected 'in:', 'out:' or 'inout:', got 'at'");
  EXPECT_EQ(mistake("task t { in: int n; int n; };"),
            "1:25: error: expected a name that no other field has, got 'n'");
  EXPECT_EQ(mistake("task t { in: int *p; };"),
            "1:18: error: expected no pointer in a field that travels (fields before 'in:' stay), "
            "got '*'");
  EXPECT_EQ(mistake("task t { in: int a[]; };"),
            "1:20: error: expected the number of elements of the array, got ']'");
  EXPECT_EQ(mistake("task t { in: n; };"),
            "1:14: error: expected a declaration, such as 'int n;', got 'n'");
  EXPECT_EQ(mistake("task t { in: int n; };\n\ntask t { in: int n; };"),
            "3:6: error: expected a name that no other task has, got 't', a task since line 1");
  EXPECT_EQ(mistake("task t { in: int n; };"),
            "1:6: error: expected 'task_exec t' in this file, got none");
  EXPECT_EQ(mistake("task t { in: int n; };\ntask_exec u { }"),
            "2:11: error: expected the name of a task that is defined above, got 'u'");
  EXPECT_EQ(mistake("task t { in: int n; };\ntask_exec t { }\ntask_exec t { }"),
            "3:11: error: expected one task_exec for each task, got a second one; the first is in "
            "line 2");
  EXPECT_EQ(mistake("worker f { }"),
            "1:10: error: expected '(' after the name of the worker function, got '{'");
}

TEST(tascell_translate, says_what_a_construct_lacks) {
  EXPECT_EQ(mistake_in("for (int i : 0, n) n++;\nreturn 0;"),
            "5:1: error: expected 'handles' after the statement of the parallel for, got 'return'");
  EXPECT_EQ(mistake_in("for (int i : 0, n, 2) n++;"),
            "4:18: error: expected ')' after the number before which the loop ends, got ','");
  EXPECT_EQ(mistake_in("for (i : 0, n) n++;"),
            "4:6: error: expected the declaration of a whole number, such as 'int i', got 'i'");
  EXPECT_EQ(mistake_in("for (int i : , n) n++;"),
            "4:14: error: expected the first number, got ','");
  EXPECT_EQ(mistake_in("for (int i : 0, n) n++; handles u (int a, int b) {} {}"),
            "4:33: error: expected the name of a task that is defined above, got 'u'");
  EXPECT_EQ(mistake_in("for (int i : 0, n) n++; handles t {} {}"),
            "4:35: error: expected two numbers after the task's name, as in '(int i1, int i2)', "
            "got '{'");
  EXPECT_EQ(mistake_in("for (int i : 0, n) n++; handles t (int a) {} {}"),
            "4:36: error: expected two numbers after the task's name, as in '(int i1, int i2)', "
            "got 'int'");
  EXPECT_EQ(mistake_in("for (int i : 0, n) n++; handles t (int a, int b) {} return 0;"),
            "4:53: error: expected '{' of the get part, got 'return'");
  EXPECT_EQ(mistake_in("do_two n++; n--; return 0;"),
            "4:18: error: expected 'handles' after the two statements of do_two, got 'return'");
  EXPECT_EQ(mistake_in("dynamic_wind { n = 1; } { n = 0; } return 0;"),
            "4:36: error: expected '{' of the undo part of dynamic_wind, got 'return'");
  EXPECT_EQ(mistake_in("n = do_two n++; n--;"),
            "4:5: error: expected ';' or a whole construct before 'do_two', got 'do_two'");
  EXPECT_EQ(mistake("int f(int n) { do_two n++; n--; }"),
            "1:16: error: expected to be in a worker function or a task_exec, got 'do_two'");
}

TEST(tascell_translate, refuses_to_leave_a_construct) {
  for (const std::string jump : {"return", "break", "goto"}) {
    const std::string rest = jump == "goto" ? " out;" : ";";
    EXPECT_EQ(mistake_in("for (int i : 0, n) { " + jump + rest + " }"),
              "4:22: error: expected no '" + jump + "' out of a parallel for, got '" + jump + "'");
    EXPECT_EQ(mistake_in("while (n) do_two { " + jump + rest + " } n++;"),
              "4:20: error: expected no '" + jump + "' out of a do_two, got '" + jump + "'");
    EXPECT_EQ(mistake_in("while (n) dynamic_wind { } { " + jump + rest + " } { }"),
              "4:30: error: expected no '" + jump + "' out of a dynamic_wind, got '" + jump + "'");
  }
  EXPECT_EQ(mistake_in("for (int i : 0, n) dynamic_wind { } { continue; } { }"),
            "4:39: error: expected no 'continue' out of a dynamic_wind, got 'continue'");
  EXPECT_EQ(mistake_in("break;"), "4:1: error: expected a loop around 'break', got 'break'");
  EXPECT_EQ(mistake_in("for (int i : 0, n) n++; handles t (int a, int b) { return; } { }"),
            "4:52: error: expected no 'return' out of a put part, got 'return'");
}

TEST(tascell_translate, refuses_constructs_where_a_worker_goes_back_in_time) {
  EXPECT_EQ(mistake_in("dynamic_wind { do_two n++; n--; } { } { }"),
            "4:16: error: expected no 'do_two' in the do or undo part of a dynamic_wind, got "
            "'do_two'");
  EXPECT_EQ(
      mistake_in("for (int i : 0, n) n++; handles t (int a, int b) { dynamic_wind {} {} {} }"),
      "4:52: error: expected no 'dynamic_wind' in a put part, got 'dynamic_wind'");
}

TEST(tascell_translate, knows_what_this_is) {
  EXPECT_EQ(mistake_in("return this.n;"),
            "4:8: error: expected 'this' only in a task_exec, a put and a get part, got 'this'");
  EXPECT_EQ(mistake("task t { in: int n; out: int s; };\ntask_exec t { this.m = 0; }"),
            "2:20: error: expected a field of task t, got 'm'");
  EXPECT_EQ(
      mistake_in("for (int i : 0, n) n++; handles t (int a, int b) { } { n = this.n; }"),
      "4:65: error: expected a field that comes back ('out:' or 'inout:' of task t), got 'n'");
  EXPECT_EQ(mistake_in("for (int i : 0, n) n++; handles t (int a, int b) { } { n = this.k; }"),
            "none");
}

TEST(tascell_translate, refuses_what_is_not_closed) {
  EXPECT_EQ(mistake("int f() { g(1;\n}\n"), "2:1: error: expected ) for the ( in line 1, got '}'");
  EXPECT_EQ(mistake("int f() {\n"),
            "2:1: error: expected } for the { in line 1, got the end of "
            "the file");
  EXPECT_EQ(mistake("}"), "1:1: error: expected no }: nothing is open here, got '}'");
  EXPECT_EQ(mistake("/* a"),
            "1:1: error: expected '*/' at the end of the comment, got the end of "
            "the line or file");
  EXPECT_EQ(mistake("char c = 'a;\n"),
            "1:10: error: expected ' at the end of the literal, got the end of the line or file");
}

TEST(tascell_translate, refuses_statements_too_deep_within_each_other) {
  std::string body;
  for (int i = 0; i < 300; i++) body += "if (n) ";
  EXPECT_EQ(mistake_in(body + ";"),
            "4:1793: error: expected at most 256 statements within each other, got 'if'");
  EXPECT_EQ(mistake_in(std::string(100'000, '{') + std::string(100'000, '}')).substr(0, 8),
            "4:257: e");
}

}  // namespace
