// An undirected graph, and the DIMACS text format for it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <istream>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "support/line_reader.hpp"

namespace apps::clique {

constexpr int max_vertices = 4096;

struct graph {
  int vertices = 0;
  std::vector<std::pair<int, int>> edges;  // vertices are numbered from 0
};

// The text about graph files in --help.
inline constexpr const char* graph_format =
    R"(A graph file is in the ASCII format of the DIMACS challenge (.clq, .col):

    c 3 vertices, a path              a comment
    p edge 3 2                        vertices and edges ('p col' is the same)
    e 1 2                             an edge; vertices are numbered from 1
    e 2 3

An edge may be there several times and in both directions. The number of edges is that of the
lines, or that of the edges that differ.
)";

// Reads a graph. Throws input_error. Each edge is there once, however often the file has it.
inline graph parse_dimacs(std::istream& in, const std::string& name) {
  line_reader reader(in, name);
  graph g;
  bool announced = false;
  std::size_t edges = 0, lines = 0;
  std::vector<bool> known;  // which edges are known, by the lower vertex and then by the higher one
  const auto announced_edges = [&] { return std::to_string(edges) + " edges, as announced"; };
  while (reader.next()) {
    auto words = split(reader.text());
    if (words.empty() || words[0][0] == 'c') continue;
    if (words[0] == "p") {
      if (announced) reader.fail("one 'p' line", "a second one");
      if (words.size() != 4 || (words[1] != "edge" && words[1] != "col"))
        reader.fail("'p edge VERTICES EDGES'", in_quotes(reader.text()));
      g.vertices = reader.number(words[2], 1, max_vertices, "a number of vertices");
      const int possible = g.vertices * (g.vertices - 1);  // an edge counts in both directions
      edges = reader.number(words[3], 0, possible, "a number of edges");
      const auto side = static_cast<std::size_t>(g.vertices);
      known.resize(side * side);
      announced = true;
    } else if (words[0] == "e") {
      if (!announced) reader.fail("'p edge VERTICES EDGES' before the first edge", "an edge");
      if (words.size() != 3) reader.fail("'e VERTEX VERTEX'", in_quotes(reader.text()));
      int u = reader.number(words[1], 1, g.vertices, "a vertex") - 1;
      int v = reader.number(words[2], 1, g.vertices, "a vertex") - 1;
      if (u == v) reader.fail("two different vertices", in_quotes(reader.text()));
      lines++;
      auto is_known = known[std::min(u, v) * g.vertices + std::max(u, v)];
      if (is_known) continue;
      if (g.edges.size() == edges) reader.fail(announced_edges(), "one more");
      is_known = true;
      g.edges.emplace_back(u, v);
    } else {
      reader.fail("a line that starts with 'c', 'p' or 'e'", in_quotes(reader.text()));
    }
  }
  if (!announced) throw input_error(name, reader.line(), "'p edge VERTICES EDGES'", "no such line");
  if (lines != edges && g.edges.size() != edges)
    throw input_error(
        name, reader.line(), announced_edges(),
        std::to_string(lines) + " at the end of the file" +
            (lines == g.edges.size() ? ""
                                     : ", of which " + std::to_string(g.edges.size()) + " differ"));
  return g;
}

// Reads the graph in a file. Throws input_error.
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
