#include "welkin/calendars/mailer.hpp"

#include <algorithm>
#include <chrono>

#include "calendars/scheduling_store.hpp"
#include "welkin/calendars/stored.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/log.hpp"
#include "welkin/mail/smtp.hpp"

namespace welkin::calendars {
namespace {

using namespace std::chrono_literals;

constexpr auto kPause = 2s;         // between looks at an empty queue
constexpr int kLeaseSeconds = 900;  // longer than a relay may take over one mail
constexpr std::int32_t kPurge = 200;

mail::Relay relay_of(const Config& config) {
  mail::Relay out;
  out.host = config.mail_host;
  out.port = static_cast<std::uint16_t>(config.mail_port);
  out.tls = config.mail_tls == "tls"    ? mail::Tls::implicit
            : config.mail_tls == "none" ? mail::Tls::none
                                        : mail::Tls::starttls;
  out.ca_file = config.mail_tls_ca;
  out.user = config.mail_user;
  out.password = config.mail_password;
  out.from = config.mail_from;
  return out;
}

/// Seconds to the next try: a minute, two, four, up to four hours.
int pause_after(std::int32_t tries) { return std::min(60 << std::clamp(tries - 1, 0, 8), 14'400); }

/// Notes in the sender's object what became of it; clients show it (RFC 6638 §3.2.9).
void note_outcome(db::Tx& tx, const store::DueMail& mail, bool sent) {
  namespace members = collections::members;
  auto copies = store::copies(tx, {mail.user.value}, mail.uid);
  if (copies.empty()) return;
  members::lock(tx, {copies.front().calendar});
  copies = store::copies(tx, {mail.user.value}, mail.uid);
  if (copies.empty()) return;
  const auto& copy = copies.front();
  const auto before = wire::parse_ical(copy.object.data);
  auto object = before;
  const auto recipient = "mailto:" + mail.recipient;
  for (auto& component : object.components) {
    if (!itip::is_item(component)) continue;
    for (auto& property : component.properties)
      if ((property.name == "ATTENDEE" || property.name == "ORGANIZER") &&
          property.parameter_value("SCHEDULE-STATUS") == "1.0" &&
          itip::canonical_address(property.value) == recipient)
        property.set_parameter("SCHEDULE-STATUS", sent ? "1.1" : "5.1");
  }
  if (object == before) return;
  collections::Objects::NewObject put;
  put.name = copy.object.name;
  wire::append_ical(put.data, object);
  put.facts = facts_of(put.data, collections::component::kAll);
  members::put(tx, members::owner(mail.user), copy.calendar, put);
}

}  // namespace

Mailer::Mailer(db::Db& db, const Config& config) : db_(db), config_(config) {}
Mailer::~Mailer() { stop(); }

void Mailer::start() {
  if (config_.mail_host.empty() || thread_.joinable()) return;
  thread_ = std::thread([this] { run(); });
}

void Mailer::stop() {
  {
    const std::lock_guard hold(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool Mailer::send_one() {
  const auto mail = db_.write_now([](db::Tx& tx) { return store::take_mail(tx, kLeaseSeconds); });
  if (!mail) return false;
  using Kind = mail::Outcome::Kind;
  auto outcome = mail->is_expired ? mail::Outcome{Kind::refused, "nobody took it in time"}
                                  : mail::send(relay_of(config_), mail->recipient, mail->message);
  if (outcome.kind == Kind::later) {
    log::warn("an invitation waits: {}", outcome.reason);
    db_.write_now(
        [&](db::Tx& tx) { store::retry_mail(tx, mail->id, pause_after(mail->tries), outcome.reason); });
    return true;
  }
  const bool sent = outcome.kind == Kind::sent;
  if (!sent) log::warn("an invitation was not taken: {}", outcome.reason);
  db_.write_now([&](db::Tx& tx) { store::end_mail(tx, mail->id, sent, outcome.reason); });
  // Apart: whatever keeps the note from being written, the mail has gone.
  db_.write_now([&](db::Tx& tx) { note_outcome(tx, *mail, sent); });
  return true;
}

void Mailer::run() {
  auto forget_at = std::chrono::steady_clock::now();
  for (;;) {
    bool again = false;
    try {
      again = send_one();
      if (!again && std::chrono::steady_clock::now() >= forget_at) {
        db_.write_now([](db::Tx& tx) { store::forget_mails(tx); });
        forget_at += 1h;
      }
    } catch (const std::exception& e) {
      log::warn("sending invitations: {}", e.what());
    }
    std::unique_lock hold(mutex_);
    if (stopping_ || (!again && wake_.wait_for(hold, kPause, [this] { return stopping_; }))) return;
  }
}

bool purge_inboxes(db::Db& db) {
  return db.write_now([](db::Tx& tx) {
    const auto old = store::old_messages(tx, kPurge);
    for (const auto& message : old)
      collections::members::remove(tx, collections::members::owner(message.owner), message.inbox,
                                   message.name, {});
    return old.size() == static_cast<std::size_t>(kPurge);
  });
}

}  // namespace welkin::calendars
