#include "bodies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace tascell {
namespace {

// How a message calls what a jump would leave, or what must not be within a part.
const char* name_of(part p) {
  switch (p) {
    case part::function: return "the function";
    case part::loop: return "a parallel for";
    case part::branch: return "a do_two";
    case part::wound: return "a dynamic_wind";
    case part::put: return "a put part";
    case part::get: return "a get part";
    case part::change: return "the do or undo part of a dynamic_wind";
  }
  return "";
}

std::string quoted(const token& t) { return "'" + std::string(t.text) + "'"; }

constexpr int deepest = 256;

}  // namespace

std::size_t body_reader::read_worker(std::size_t parameters, std::size_t open) {
  locals_.open_scope();
  locals_.declare_parameters({parameters + 1, t_.closing(parameters)});
  const std::size_t next = body({.of = part::function}, open);
  locals_.close_scope();
  return next;
}

std::size_t body_reader::read_exec(const task_definition& task, std::size_t open) {
  return body({.of = part::function, .self = "tascell_this", .task = &task}, open);
}

std::size_t body_reader::body(closure of, std::size_t open) {
  locals_.begin_function({open + 1, t_.closing(open)});
  closures_.assign(1, std::move(of));
  return compound(open);
}

std::size_t body_reader::compound(std::size_t open) {
  const std::size_t close = t_.closing(open);
  locals_.open_scope();
  for (std::size_t at = open + 1; at < close;)
    at = t_[at].what == kind::directive ? at + 1 : statement(at);
  locals_.close_scope();
  return close + 1;
}

std::size_t body_reader::statement(std::size_t at) {
  while (t_[at].what == kind::directive) at++;
  if (depth_ == deepest)
    t_.fail(at, fmt::format("at most {} statements within each other", deepest));
  depth_++;
  const token& t = t_[at];
  std::size_t next = 0;
  if (t.is("{")) next = compound(at);
  else if (t.is("if") || t.is("while") || t.is("switch")) next = conditional(at);
  else if (t.is("do")) next = do_while(at);
  else if (t.is("for")) next = c_for(at);
  else if (t.is("do_two")) next = do_two(at);
  else if (t.is("dynamic_wind")) next = dynamic_wind(at);
  else if (t.is("return") || t.is("break") || t.is("continue") || t.is("goto")) next = jump(at);
  else if (t.is("case") || t.is("default") || (t.is_word() && t_[at + 1].is(":"))) next = label(at);
  else next = simple(at);
  depth_--;
  return next;
}

std::size_t body_reader::simple(std::size_t at) {
  if (t_[at].is("else")) t_.fail(at, "an 'if' before it");
  const std::size_t end = statement_end(at);
  expressions({at, end});
  if (t_[at].is("typedef")) locals_.add_typedef({at, end});
  else if (locals_.declares(at)) locals_.declare({at, end});
  return end + 1;
}

std::size_t body_reader::statement_end(std::size_t at) const {
  for (;;) {
    const token& t = t_[at];
    if (t.is(";")) return at;
    if (t.is("}") || t.what == kind::end) t_.fail(at, "';' at the end of the statement");
    at = t.is("(") || t.is("[") || t.is("{") ? t_.closing(at) + 1 : at + 1;
  }
}

std::size_t body_reader::find_outside_brackets(range text, std::string_view wanted) const {
  for (std::size_t at = text.first; at < text.last;) {
    const token& t = t_[at];
    if (t.is(wanted)) return at;
    at = t.is("(") || t.is("[") || t.is("{") ? t_.closing(at) + 1 : at + 1;
  }
  return text.last;
}

// Reads an expression in parentheses.
std::size_t body_reader::parenthesis(std::size_t at, const std::string& of) {
  t_.expect(at, "(", "after '" + of + "'");
  const std::size_t close = t_.closing(at);
  expressions({at + 1, close});
  if (locals_.declares(at + 1)) locals_.declare({at + 1, find_outside_brackets({at, close}, ";")});
  return close + 1;
}

// Reads the statement of a loop, or of a switch.
std::size_t body_reader::repeated(std::size_t at, bool is_loop) {
  closures_.back().loops += is_loop;
  closures_.back().breakable++;
  const std::size_t next = statement(at);
  closures_.back().loops -= is_loop;
  closures_.back().breakable--;
  return next;
}

std::size_t body_reader::conditional(std::size_t at) {
  const token& what = t_[at];
  if (what.is("if") && t_[at + 1].is("constexpr")) at++;
  locals_.open_scope();
  std::size_t next = parenthesis(at + 1, std::string(what.text));
  next = what.is("if") ? statement(next) : repeated(next, what.is("while"));
  if (what.is("if") && t_[next].is("else")) next = statement(next + 1);
  locals_.close_scope();
  return next;
}

std::size_t body_reader::do_while(std::size_t at) {
  const std::size_t after = repeated(at + 1, true);
  t_.expect(after, "while", "after the statement of the 'do'");
  return t_.expect(parenthesis(after + 1, "while"), ";", "after the condition");
}

std::size_t body_reader::c_for(std::size_t at) {
  const std::size_t open = at + 1;
  t_.expect(open, "(", "after 'for'");
  const std::size_t close = t_.closing(open);
  const std::size_t colon = find_outside_brackets({open + 1, close}, ":");
  const bool is_range = colon < find_outside_brackets({open + 1, close}, ";") && colon < close;
  if (is_range && find_outside_brackets({colon, close}, ",") < close) return parallel_for(at);
  locals_.open_scope();
  const std::size_t first = find_outside_brackets({open + 1, close}, is_range ? ":" : ";");
  if (first == close) t_.fail(close, "';' or ':' between the parts of the 'for'");
  if (locals_.declares(open + 1)) locals_.declare({open + 1, first});
  expressions({open + 1, close});
  const std::size_t next = repeated(close + 1, true);
  locals_.close_scope();
  return next;
}

// Reads what stands before a statement.
std::size_t body_reader::label(std::size_t at) {
  std::size_t colon = at;
  for (int questions = 0; !t_[colon].is(":") || questions > 0; colon++) {
    if (t_[colon].is(";") || t_[colon].is("}") || t_[colon].what == kind::end)
      t_.fail(colon, "':' after " + quoted(t_[at]));
    questions += t_[colon].is("?") ? 1 : t_[colon].is(":") ? -1 : 0;
  }
  return colon + 1;
}

std::size_t body_reader::jump(std::size_t at) {
  const token& t = t_[at];
  const closure& in = closures_.back();
  const bool stays = (t.is("break") && in.breakable > 0) || (t.is("continue") && in.loops > 0);
  if (in.of == part::loop && t.is("continue") && !stays) {
    e_.replace(at, "return");  // from this iteration's closure
  } else if (!stays && in.of != part::function) {
    t_.fail(at, fmt::format("no {} out of {}", quoted(t), name_of(in.of)));
  } else if (!stays && (t.is("break") || t.is("continue"))) {
    t_.fail(at, fmt::format("a loop around {}", quoted(t)));
  }
  const std::size_t end = statement_end(at);
  expressions({at + 1, end});
  return end + 1;
}

// Constructs are in no part that runs while the worker goes back in time.
void body_reader::refuse_here(std::size_t at) const {
  const part p = closures_.back().of;
  if (p == part::put || p == part::get || p == part::change)
    t_.fail(at, fmt::format("no {} in {}", quoted(t_[at]), name_of(p)));
}

body_reader::piece body_reader::read_piece(closure c, std::size_t at) {
  piece p{{at, at}, t_[at].is("{"), {}, {}};
  closures_.push_back(std::move(c));
  p.text.last = statement(at);
  p.read = std::move(closures_.back());
  closures_.pop_back();
  return p;
}

body_reader::piece body_reader::read_block(closure c, std::size_t at, const std::string& what) {
  t_.expect(at, "{", "of " + what);
  return read_piece(std::move(c), at);
}

std::size_t body_reader::parallel_for(std::size_t at) {
  refuse_here(at);
  const std::size_t open = at + 1, close = t_.closing(open);
  const std::size_t colon = find_outside_brackets({open + 1, close}, ":");
  const std::size_t comma = find_outside_brackets({colon, close}, ",");
  const std::size_t more = find_outside_brackets({comma + 1, close}, ",");
  const bool words = std::all_of(&t_[open + 1], &t_[colon],
                                 [](const token& t) { return t.is_word() || t.is("::"); });
  if (!words || colon < open + 3)
    t_.fail(open + 1, "the declaration of a whole number, such as 'int i'");
  if (comma == colon + 1) t_.fail(comma, "the first number");
  if (more != close) t_.fail(more, "')' after the number before which the loop ends");
  if (comma + 1 == close) t_.fail(close, "the number before which the loop ends");
  expressions({colon + 1, close});

  const std::size_t name = colon - 1;
  std::string type;
  for (std::size_t i = open + 1; i < name; i++)
    type.append(type.empty() ? "" : " ").append(t_[i].text);
  locals_.open_scope();
  locals_.declare({open + 1, colon});
  piece p = read_piece({.of = part::loop, .wind = unique("tascell_wind_")}, close + 1);
  locals_.close_scope();
  p.parameters = {t_[name].text};
  const handlers h = read_handlers(p.text.last, true);

  const range construct{at, h.get.text.last};
  const carriage c = carry(locals_.carried({p.text, h.get.text}, {h.put.text}, p.parameters));
  e_.erase(open + 1, colon + 1);
  e_.before(colon + 1, "static_cast<" + type + ">(");
  e_.after(comma - 1, ")");
  e_.before(comma + 1, "static_cast<" + type + ">(");
  e_.after(close - 1, ")");
  e_.replace(close, ",");
  const bool carries = !c.variables.empty();
  make_closure(p, construct,
               fmt::format("({} {}{}{})", type, t_[name].text, carries ? ", auto& " + c.name : "",
                           p.read.uses_wind ? ", auto " + p.read.wind : ""),
               referred(c, p.text));
  make_handlers(h, construct, carries ? std::vector{c} : std::vector<carriage>());
  if (carries) {
    e_.replace(at, "cleave::tascell::each");
    e_.before(at, fmt::format("{{ {}{} = ", declared(c, {at, at}), c.name));
    e_.after(open, c.name + ", ");
    e_.after(construct.last - 1, assigned(c) + " }");
  } else {
    e_.replace(at, "cleave::each");
  }
  return construct.last;
}

std::size_t body_reader::do_two(std::size_t at) {
  refuse_here(at);
  const piece one = read_piece({.of = part::branch}, at + 1);
  const piece two = read_piece({.of = part::branch}, one.text.last);
  const handlers h = read_handlers(two.text.last, false);
  const range construct{at, h.get.text.last};
  const carriage a = carry(locals_.carried({one.text}, {two.text, h.put.text}, {}));
  const carriage b = carry(locals_.carried({two.text}, {one.text, h.put.text}, {}));
  e_.before(at, "{ " + declared(a, one.text) + declared(b, two.text));
  e_.replace(at, fmt::format("cleave::tascell::do_two<tascell_result_{}>({}, {}, ", h.task->name,
                             a.name, b.name));
  make_closure(one, construct, "([[maybe_unused]] auto& " + a.name + ")", referred(a, one.text));
  e_.after(one.text.last - 1, ",");
  make_closure(two, construct, "([[maybe_unused]] auto& " + b.name + ")", referred(b, two.text));
  make_handlers(h, construct, {a, b});
  e_.after(construct.last - 1, assigned(a) + assigned(b) + " }");
  return construct.last;
}

std::size_t body_reader::dynamic_wind(std::size_t at) {
  refuse_here(at);
  closure& around = closures_.back();
  const std::string wind =
      around.of == part::loop ? around.wind : std::string("cleave::tascell::dynamic_wind");
  around.uses_wind |= around.of == part::loop;
  const piece make = read_block({.of = part::change}, at + 1, "the do part of dynamic_wind");
  const piece wound = read_block({.of = part::wound}, make.text.last, "the body of dynamic_wind");
  const piece undo =
      read_block({.of = part::change}, wound.text.last, "the undo part of dynamic_wind");
  const range construct{at, undo.text.last};
  e_.replace(at, wind + "(");
  make_closure(make, construct, "()");
  e_.after(make.text.last - 1, ",");
  make_closure(wound, construct, "()");
  e_.after(wound.text.last - 1, ",");
  make_closure(undo, construct, "()");
  e_.after(undo.text.last - 1, ");");
  return construct.last;
}

// Reads `handles N (int i1, int i2) { put } { get }`; a do_two's have no numbers.
body_reader::handlers body_reader::read_handlers(std::size_t at, bool of_loop) {
  t_.expect(
      at, "handles",
      of_loop ? "after the statement of the parallel for" : "after the two statements of do_two");
  handlers h{&tasks_.named_by(at + 1), at, {}, {}};
  std::size_t next = at + 2;
  locals_.open_scope();
  names limits;
  if (of_loop) {
    limits = read_limits(next);
    next = t_.closing(next) + 1;
  } else if (t_[next].is("(")) {
    next = t_.expect(next + 1, ")", "or '{' of the put part: do_two gives away no numbers");
  }
  const auto closure_of = [&](part p) {
    return closure{.of = p, .self = unique("tascell_this_"), .task = h.task};
  };
  h.put = read_block(closure_of(part::put), next, "the put part");
  h.put.parameters = std::move(limits);
  locals_.close_scope();
  h.get = read_block(closure_of(part::get), h.put.text.last, "the get part");
  return h;
}

// Reads `(int i1, int i2)`.
body_reader::names body_reader::read_limits(std::size_t at) {
  const std::string example = "two numbers after the task's name, as in '(int i1, int i2)'";
  if (!t_[at].is("(")) t_.fail(at, example);
  const std::size_t close = t_.closing(at);
  const std::size_t comma = find_outside_brackets({at + 1, close}, ",");
  const auto named = [&](std::size_t first, std::size_t last) {
    return last >= first + 2 && t_[last - 1].is_word();
  };
  if (comma == close || !named(at + 1, comma) || !named(comma + 1, close) ||
      find_outside_brackets({comma + 1, close}, ",") != close)
    t_.fail(at + 1, example);
  locals_.declare_parameters({at + 1, close});
  return {t_[comma - 1].text, t_[close - 1].text};
}

void body_reader::make_closure(const piece& p, range construct, const std::string& parameters,
                               const std::string& prologue) {
  e_.before(p.text.first, locals_.captures(p.text, construct, p.parameters) + parameters +
                              (p.braces ? " " : " { " + prologue));
  if (p.braces) e_.after(p.text.first, prologue);
  else e_.after(p.text.last - 1, " }");
}

void body_reader::make_handlers(const handlers& h, range construct,
                                const std::vector<carriage>& carried) {
  const std::string name(h.task->name);
  e_.replace(h.begin, "," + locals_.captures(h.put.text, construct, h.put.parameters));
  e_.replace(h.begin + 1, h.put.parameters.empty() && !t_[h.begin + 2].is("(") ? "()" : "");
  e_.after(h.put.text.first,
           fmt::format(" tascell_task_{0} tascell_new{{}}; [[maybe_unused]] struct {0}& {1} = "
                       "tascell_new;",
                       name, h.put.read.self));
  e_.before(h.put.text.last - 1, "return tascell_new; ");
  e_.after(h.put.text.last - 1, ",");
  std::string parameters = "(", prologue;
  for (const carriage& c : carried) {
    parameters += "[[maybe_unused]] auto& " + c.name + ", ";
    prologue += referred(c, h.get.text);
  }
  make_closure(
      h.get, construct, fmt::format("{}const tascell_result_{}& tascell_r)", parameters, name),
      fmt::format(" struct {0} {1}{{}}; tascell_r.to({1});", name, h.get.read.self) + prologue);
  e_.after(h.get.text.last - 1, ");");
}

body_reader::carriage body_reader::carry(names variables) {
  return {unique("tascell_carried_"), std::move(variables)};
}

// What declares the struct of what is carried, and its object. A variable that the statement
// assigns first may have no value yet.
std::string body_reader::declared(const carriage& c, range statement) const {
  std::string members, values;
  bool begins_anew = true;
  for (const std::string_view v : c.variables) {
    const bool assigned_first = locals_.assigns_first(statement, v);
    begins_anew &= assigned_first;
    members += fmt::format("std::remove_cvref_t<decltype({0})> of_{0}; ", v);
    values += fmt::format("{}{}", values.empty() ? "" : ", ", assigned_first ? "{}" : v);
  }
  return fmt::format("struct {{ {}enum : bool {{ begins_anew = {} }}; }} {}{{{}}}; ", members,
                     begins_anew, c.name, values);
}

// What gives those of the variables that a closure uses their names in it.
std::string body_reader::referred(const carriage& c, range text) const {
  std::string references;
  for (const std::string_view v : c.variables)
    if (locals_.uses(text, v)) references += fmt::format(" auto& {1} = {0}.of_{1};", c.name, v);
  return references;
}

std::string body_reader::assigned(const carriage& c) {
  std::string text;
  for (const std::string_view v : c.variables) text += fmt::format(" {1} = {0}.of_{1};", c.name, v);
  return text;
}

void body_reader::expressions(range text) {
  constexpr std::array<std::string_view, 5> reserved = {"handles", "do_two", "dynamic_wind",
                                                        "task_exec", "worker"};
  for (std::size_t at = text.first; at < text.last; at++) {
    const token& t = t_[at];
    if (!t.is_word()) continue;
    if (t.is("this")) self(at);
    else if (t.is("task") && t_[at + 1].is_word()) tasks_.name_type(at);
    else if (std::find(reserved.begin(), reserved.end(), t.text) != reserved.end())
      t_.fail(at, "';' or a whole construct before " + quoted(t));
  }
}

// Makes a name of `this`, and looks at the field that follows.
void body_reader::self(std::size_t at) {
  const auto in = std::find_if(closures_.rbegin(), closures_.rend(),
                               [](const closure& c) { return !c.self.empty(); });
  if (in == closures_.rend()) t_.fail(at, "'this' only in a task_exec, a put and a get part");
  e_.replace(at, in->self);
  if (!t_[at + 1].is(".")) return;
  const field* f = in->task->find(t_[at + 2].text);
  if (f == nullptr) t_.fail(at + 2, fmt::format("a field of task {}", in->task->name));
  if (in->of == part::get && f->where != direction::out && f->where != direction::inout)
    t_.fail(at + 2,
            fmt::format("a field that comes back ('out:' or 'inout:' of task {})", in->task->name));
}

}  // namespace tascell
