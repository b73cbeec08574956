// An undirected graph, and the DIMACS text format for it.
#pragma once

#include <cstddef>
#include <istream>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "../common/line_reader.hpp"

namespace apps::clique {

constexpr int max_vertices = 4096;

struct graph {
  int vertices = 0;
  std::vector<std::pair<int, int>> edges;  // vertices are numbered from 0
};

// For --help.
inline constexpr const char* graph_format =
    R"(A graph file is in the ASCII format of the DIMACS challenge (.clq, .col):

    c 3 vertices, a path              a comment
    p edge 3 2                        vertices and edges ('p col' is the same)
    e 1 2                             an edge; vertices are numbered from 1
    e 2 3
)";

// Throws input_error.
inline graph parse_dimacs(std::istream& in, const std::string& name) {
  line_reader reader(in, name);
  graph g;
  bool announced = false;
  std::size_t edges = 0;
  while (reader.next()) {
    auto words = split(reader.text());
    if (words.empty() || words[0][0] == 'c') continue;
    if (words[0] == "p") {
      if (announced) reader.fail("one 'p' line", "a second one");
      if (words.size() != 4 || (words[1] != "edge" && words[1] != "col"))
        reader.fail("'p edge VERTICES EDGES'", in_quotes(reader.text()));
      g.vertices = reader.number(words[2], 1, max_vertices, "a number of vertices");
      int possible = g.vertices * (g.vertices - 1) / 2;
      edges = reader.number(words[3], 0, possible, "a number of edges");
      announced = true;
    } else if (words[0] == "e") {
      if (!announced) reader.fail("'p edge VERTICES EDGES' before the first edge", "an edge");
      if (words.size() != 3) reader.fail("'e VERTEX VERTEX'", in_quotes(reader.text()));
      int u = reader.number(words[1], 1, g.vertices, "a vertex");
      int v = reader.number(words[2], 1, g.vertices, "a vertex");
      if (u == v) reader.fail("two different vertices", in_quotes(reader.text()));
      if (g.edges.size() == edges)
        reader.fail(std::to_string(edges) + " edges, as announced", "one more");
      g.edges.emplace_back(u - 1, v - 1);
    } else {
      reader.fail("a line that starts with 'c', 'p' or 'e'", in_quotes(reader.text()));
    }
  }
  if (!announced) throw input_error(name, reader.line(), "'p edge VERTICES EDGES'", "no such line");
  if (g.edges.size() < edges)
    throw input_error(name, reader.line(), std::to_string(edges) + " edges, as announced",
                      std::to_string(g.edges.size()) + " at the end of the file");
  return g;
}

// Throws input_error.
inline graph load(const std::string& file) {
  auto in = open_input(file);
  return parse_dimacs(in, file);
}

inline void write_dimacs(const graph& g, std::ostream& out, const std::string& comment) {
  out << "c " << comment << '\n';
  out << "p edge " << g.vertices << ' ' << g.edges.size() << '\n';
  for (auto [u, v] : g.edges) out << "e " << u + 1 << ' ' << v + 1 << '\n';
}

}  // namespace apps::clique
