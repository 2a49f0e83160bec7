#include "welkin/blobs/check.hpp"
#include "welkin/core/error.hpp"

namespace welkin::blobs {
namespace {

using db::Stmt;

constexpr Stmt kNow{"check.now", "select clock_timestamp()"};
constexpr Stmt kKnown{"check.known", "select 1 from known_damage where kind = $1 and subject = $2"};
constexpr Stmt kRemember{"check.remember", R"(
    insert into known_damage (kind, subject, detail, seen_at) values ($1, $2, $3, clock_timestamp())
        on conflict (kind, subject) do update set detail = excluded.detail, seen_at = excluded.seen_at)"};
// What a look without --deep cannot meet is not forgotten by it.
constexpr Stmt kForget{"check.forget", R"(
    delete from known_damage where seen_at < to_timestamp($1::bigint / 1e6) and ($2 or kind <> all ($3)))"};

}  // namespace

Inspection::Inspection(db::Db& db, Options options, Tell tell)
    : db_(db), options_(std::move(options)), tell_(std::move(tell)) {
  started_ = db_.read_now([](db::Tx& tx) { return tx.one(kNow)[0].timestamp(0); });
}

void Inspection::tell(Finding finding) {
  ++counts_[finding.outcome];
  tell_(finding);
}

bool Inspection::touch_known(const Finding& finding) {
  const bool known =
      db_.read_now([&](db::Tx& tx) { return !tx.exec(kKnown, finding.kind, finding.subject).empty(); });
  if (known && options_.repair) remember(finding);
  return known;
}

void Inspection::remember(const Finding& finding) {
  db_.write_now([&](db::Tx& tx) { tx.exec(kRemember, finding.kind, finding.subject, finding.detail); });
}

void Inspection::report(Finding::Weight weight, const std::string& kind, const std::string& subject,
                        const std::string& detail, const Mend& mend) {
  Finding finding{.weight = weight,
                  .outcome = Finding::Outcome::found,
                  .kind = kind,
                  .subject = subject,
                  .detail = detail,
                  .action = ""};
  bool tried_in_vain = false;  // may well succeed the next time, so it is not remembered
  if (options_.repair && mend) {
    tried_in_vain = true;
    try {
      const Mended mended = mend();
      finding.outcome = mended.whole ? Finding::Outcome::repaired : Finding::Outcome::left;
      finding.action = mended.what;
      tried_in_vain = false;
      if (mended.whole) return tell(std::move(finding));
    } catch (const Error& e) {
      if (e.code() == Errc::unavailable) throw;  // the database is away: this run has to end
      finding.action = std::string("could not be repaired: ") + e.what();
    } catch (const std::exception& e) {
      finding.action = std::string("could not be repaired: ") + e.what();
    }
    finding.outcome = Finding::Outcome::left;
  }
  if (touch_known(finding)) {
    finding.outcome = Finding::Outcome::known;
  } else if (options_.repair) {
    finding.outcome = Finding::Outcome::left;
    if (finding.action.empty()) finding.action = "cannot be repaired";
    if (!tried_in_vain) remember(finding);
  }
  tell(std::move(finding));
}

void Inspection::mention(Finding::Weight weight, const std::string& kind, const std::string& subject,
                         const std::string& detail) {
  tell({.weight = weight,
        .outcome = Finding::Outcome::known,
        .kind = kind,
        .subject = subject,
        .detail = detail,
        .action = ""});
}

void Inspection::finish() {
  if (!options_.repair) return;
  const std::vector<std::string> deep_only{"chunk.damaged", "content.body_damaged"};
  db_.write_now([&](db::Tx& tx) { tx.exec(kForget, started_, options_.deep, deep_only); });
}

std::uint64_t Inspection::count(Finding::Outcome outcome) const {
  const auto found = counts_.find(outcome);
  return found == counts_.end() ? 0 : found->second;
}

}  // namespace welkin::blobs
