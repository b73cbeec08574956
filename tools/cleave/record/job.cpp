#include "record/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "support/input_error.hpp"

namespace record {
namespace {

using kind = entry::kind;
using cleave::record::shape;

// Sends of fewer bytes do not wait for their receiver, unless they say so.
constexpr std::uint64_t eager_bytes = 4000;

struct place {
  std::uint32_t rank = 0, call = 0;
};

// Finds what belongs together in the calls of all ranks: messages by their communicator, ranks, tag
// and order, collective calls by their communicator and order.
class matching {
public:
  explicit matching(const std::vector<rank_calls>& all) : all_(all), found_(all.size()) {
    for (std::size_t r = 0; r < all.size(); ++r) found_[r].resize(all[r].calls.size());
  }

  void match(job& of) {
    for (std::uint32_t r = 0; r < all_.size(); ++r) note_completions(r);
    for_each_entry([&](place at, const entry& e) {
      if (e.what == kind::send)
        channels_[channel_of(at.rank, e, at.rank, static_cast<std::uint32_t>(e.peer))]
            .sends.push_back({at, &e});
      else if (e.what == kind::collective) take_collective(at, e);
    });
    for_each_entry([&](place at, const entry& e) {
      if (e.what == kind::receive || e.what == kind::looked) receive(at, e, of);
    });
    for (const auto& [ends, c] : channels_) of.without_partner += c.sends.size() - c.received;
    for (const auto& c : collectives_) join(c.second);
    of.collectives += collectives_.size();
  }
  // What each call of a rank waits for.
  const std::vector<std::vector<dependence>>& of_rank(std::size_t r) const { return found_[r]; }

private:
  struct message_end {
    place at;
    const entry* is;
  };
  struct channel {
    std::vector<message_end> sends;
    std::size_t received = 0;
  };
  // Communicator (which is known by two numbers), source, destination, tag.
  using channel_key =
      std::tuple<std::uint64_t, std::uint64_t, std::uint32_t, std::uint32_t, std::int32_t>;

  template <class F>
  void for_each_entry(const F& f) const {
    for (std::uint32_t r = 0; r < all_.size(); ++r)
      for (std::uint32_t i = 0; i < all_[r].calls.size(); ++i)
        for (const entry& e : all_[r].entries_of(i)) f(place{r, i}, e);
  }
  const rank_calls::communicator& communicator_of(std::uint32_t rank, const entry& e) const {
    return all_[rank].communicators[e.number];
  }
  channel_key channel_of(std::uint32_t rank, const entry& e, std::uint32_t from,
                         std::uint32_t to) const {
    const auto& c = communicator_of(rank, e);
    return {c.hash, c.before, from, to, e.tag};
  }
  const call& at(place p) const { return all_[p.rank].calls[p.call]; }

  void note_completions(std::uint32_t r) {
    auto& of = completions_.emplace_back();
    for (std::uint32_t i = 0; i < all_[r].calls.size(); ++i)
      for (const entry& e : all_[r].entries_of(i))
        if (e.what == kind::completed) of[e.second] = {{r, i}, &e};
  }
  // The call in which a message or a collective call ends for this rank, if it is known.
  std::optional<message_end> completion(place begun, const entry& e) const {
    if (e.second == 0) return message_end{begun, &e};
    const auto found = completions_[begun.rank].find(e.second);
    return found == completions_[begun.rank].end() ? std::nullopt : std::optional(found->second);
  }
  void receive(place posted, const entry& e, job& of) {
    const auto done = completion(posted, e);
    if (!done || (done->is != &e && done->is->detail != 0)) return;  // it was cancelled
    entry resolved = e;
    resolved.tag = done->is->tag;
    channel& c = channels_[channel_of(posted.rank, resolved,
                                      static_cast<std::uint32_t>(done->is->peer), posted.rank)];
    if (c.received >= c.sends.size()) {
      of.without_partner += e.what == kind::receive ? 1 : 0;
      return;
    }
    const message_end& sent = c.sends[c.received];
    const auto bytes = static_cast<double>(sent.is->first);
    depends(done->at, {sent.at.rank, sent.at.call, bytes, dependence::kind::message});
    if (e.what == kind::looked) return;  // it is still to be received
    ++c.received, ++of.messages;
    of.bytes += bytes;
    if (sent.is->detail == 0 && sent.is->first < eager_bytes) return;
    // The end of the send has waited for the receiver if that came later.
    const auto left = completion(sent.at, *sent.is);
    if (left && at(posted).begin > at(left->at).begin)
      depends(left->at, {posted.rank, posted.call, 0, dependence::kind::receiver});
  }
  void depends(place later, const dependence& earlier) {
    if (at({earlier.rank, earlier.call}).begin < at(later).end)
      found_[later.rank][later.call].push_back(earlier);
  }

  void take_collective(place at, const entry& e) {
    const auto& c = communicator_of(at.rank, e);
    const auto number = calls_before_[{at.rank, e.number}]++;
    collectives_[{c.hash, c.before, number}].push_back({at, &e});
  }
  void join(const std::vector<message_end>& members) {
    for (const message_end& later : members) {
      const auto done = completion(later.at, *later.is);
      if (!done) continue;
      for (const message_end& earlier : members)
        if (earlier.at.rank != later.at.rank && waits_for(later, earlier))
          depends(done->at, {earlier.at.rank, earlier.at.call,
                             static_cast<double>(earlier.is->first), dependence::kind::collective});
    }
  }
  bool waits_for(const message_end& later, const message_end& earlier) const {
    const auto root = static_cast<std::uint32_t>(later.is->peer);
    switch (static_cast<shape>(later.is->detail)) {
      case shape::all: return true;
      case shape::from_root: return earlier.at.rank == root;
      case shape::to_root: return later.at.rank == root;
      case shape::upward:
        return communicator_of(earlier.at.rank, *earlier.is).place <
               communicator_of(later.at.rank, *later.is).place;
    }
    return false;
  }

  const std::vector<rank_calls>& all_;
  std::vector<std::vector<std::vector<dependence>>> found_;                  // by rank and call
  std::vector<std::unordered_map<std::uint64_t, message_end>> completions_;  // by request
  std::map<channel_key, channel> channels_;
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::size_t>, std::vector<message_end>>
      collectives_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> calls_before_;
};

std::vector<rank_calls> read_ranks(const std::filesystem::path& folder) {
  std::vector<rank_calls> all;
  do {
    const auto file = folder / fmt::format("rank-{}", all.size());
    all.push_back(read_rank_file(file));
    if (all.back().rank != all.size() - 1 || all.back().ranks != all.front().ranks)
      throw apps::input_error(file.string(), 0, fmt::format("rank {} of the job", all.size() - 1),
                              "another");
    if (all.back().host != all.front().host)
      throw apps::input_error(file.string(), 0, "all ranks on one machine, with one clock",
                              fmt::format("'{}' and '{}'", all.front().host, all.back().host));
  } while (all.size() < all.front().ranks);
  return all;
}

// Numbers the places that call MPI across the ranks.
class all_sites {
public:
  std::uint32_t number_of(const site& s, std::vector<site>& sites) {
    const auto [at, is_new] = numbers_.try_emplace({s.function, s.file, s.offset},
                                                   static_cast<std::uint32_t>(sites.size()));
    if (is_new) sites.push_back(s);
    return at->second;
  }

private:
  std::map<std::tuple<std::string, std::string, std::uint64_t>, std::uint32_t> numbers_;
};

}  // namespace

job read_job(const std::filesystem::path& folder) {
  const auto all = read_ranks(folder);
  job result;
  matching matched(all);
  matched.match(result);
  const auto first = std::ranges::min(all, {}, &rank_calls::begin).begin;
  const auto since = [first](std::uint64_t t) { return 1e-3 * static_cast<double>(t - first); };
  all_sites known;
  for (std::size_t r = 0; r < all.size(); ++r) {
    rank_steps& of = result.ranks.emplace_back();
    of.begin = since(all[r].begin), of.end = since(all[r].end);
    std::vector<std::uint32_t> sites;
    for (const site& s : all[r].sites) sites.push_back(known.number_of(s, result.sites));
    for (std::size_t i = 0; i < all[r].calls.size(); ++i) {
      const call& c = all[r].calls[i];
      const auto& waits = matched.of_rank(r)[i];
      of.dependences.insert(of.dependences.end(), waits.begin(), waits.end());
      of.steps.push_back({sites[c.site], static_cast<std::uint32_t>(of.dependences.size()),
                          since(c.begin), since(c.end)});
    }
    result.calls += all[r].calls.size();
    result.calls_of_other_threads += all[r].calls_of_other_threads;
    result.end = std::max(result.end, of.end);
  }
  return result;
}

}  // namespace record
