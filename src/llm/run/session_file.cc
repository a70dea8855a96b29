// SPDX-License-Identifier: Apache-2.0
#include "llm/run/session_file.h"

#include <array>
#include <cstring>

#include "base/atomic_file.h"
#include "base/checksum.h"
#include "base/mapped_file.h"

namespace nereid::llm {
namespace {

// 1: pages as kernels/cpu/attention.h lays them out.
constexpr uint32_t kVersion = 1;
constexpr std::array<char, 8> kMagic = {'N', 'E', 'R', 'E', 'I', 'D', 'K', 'V'};
constexpr int64_t kLongestNote = int64_t{64} << 20;
constexpr int64_t kLongestType = 64;

struct Header {
  std::array<char, 8> magic = kMagic;
  uint32_t version = kVersion;
  uint32_t type_bytes = 0;
  uint64_t model = 0;  // LanguageModel::fingerprint()
  int64_t note_bytes = 0;
  int64_t tokens = 0;
  int64_t page_tokens = 0;
  int64_t page_bytes = 0;
  uint64_t layout = 0;  // LanguageModel::cache_layout()
};
static_assert(sizeof(Header) == 64);

// Of this many tokens; the numbers have been checked to be small.
int64_t file_bytes(const Header& h) {
  const int64_t pages = (h.tokens + h.page_tokens - 1) / h.page_tokens;
  return static_cast<int64_t>(sizeof(Header)) + h.type_bytes + h.note_bytes + 4 * h.tokens + pages * h.page_bytes + 8;
}

// Writes, and hashes what it writes.
class Writer {
 public:
  explicit Writer(AtomicFile& file) : file_(file) {}
  Status write(std::span<const std::byte> bytes) {
    hash_.update(bytes);
    return file_.write(bytes);
  }
  Status write_hash() {
    const uint64_t hash = hash_.digest();
    return file_.write(std::as_bytes(std::span(&hash, 1)));
  }

 private:
  AtomicFile& file_;
  XxHash64 hash_;
};

Status check_header(const Header& h, const LanguageModel& model, const std::string& path) {
  if (h.magic != kMagic) return invalid_argument("'{}' is no session: it does not begin with NEREIDKV", path);
  if (h.version != kVersion)
    return invalid_argument("the session '{}' has format version {}, this Nereid reads version {}; save it anew", path,
                            h.version, kVersion);
  if (h.model != model.fingerprint())
    return invalid_argument("the session '{}' was saved with another model; it is of use to that one alone", path);
  if (h.type_bytes > kLongestType || h.note_bytes < 0 || h.note_bytes > kLongestNote || h.tokens < 0 ||
      h.page_tokens < 1)
    return invalid_argument("the session '{}' is corrupt: its header holds lengths that make no sense", path);
  if (h.tokens > model.context_tokens())
    return invalid_argument("the session '{}' has {} tokens, more than the context of {}; ask for a longer one", path,
                            h.tokens, model.context_tokens());
  return Status::ok();
}

}  // namespace

Status save_session(const std::string& path, const LanguageModel& model, int32_t sequence,
                    std::span<const int32_t> tokens, std::string_view note) {
  if (static_cast<int64_t>(note.size()) > kLongestNote)
    return exhausted("a conversation of {} bytes is too long to be saved; the most are {}", note.size(), kLongestNote);
  const std::string type = model.cache_type();
  const Header header{.type_bytes = static_cast<uint32_t>(type.size()),
                      .model = model.fingerprint(),
                      .note_bytes = static_cast<int64_t>(note.size()),
                      .tokens = static_cast<int64_t>(tokens.size()),
                      .page_tokens = model.page_tokens(),
                      .page_bytes = model.page_bytes(),
                      .layout = model.cache_layout()};
  NEREID_TRY(AtomicFile file, AtomicFile::create(path));
  Writer writer(file);
  NEREID_RETURN_IF_ERROR(writer.write(std::as_bytes(std::span(&header, 1))));
  NEREID_RETURN_IF_ERROR(writer.write(std::as_bytes(std::span(type))));
  NEREID_RETURN_IF_ERROR(writer.write(std::as_bytes(std::span(note))));
  NEREID_RETURN_IF_ERROR(writer.write(std::as_bytes(tokens)));
  std::vector<std::byte> page(static_cast<size_t>(model.page_bytes()));
  const std::span<const int32_t> pages = model.pages_of(sequence);
  for (int64_t i = 0; i * model.page_tokens() < header.tokens; ++i) {
    model.read_page(pages[static_cast<size_t>(i)], page);
    NEREID_RETURN_IF_ERROR(writer.write(page));
  }
  NEREID_RETURN_IF_ERROR(writer.write_hash());
  return file.commit();
}

Result<Session> load_session(const std::string& path, LanguageModel& model, int32_t sequence) {
  NEREID_TRY(const MappedFile file, MappedFile::open(path).with("reading the session"));
  const std::span<const std::byte> bytes = file.bytes();
  Header h;
  if (bytes.size() < sizeof(h) + 8)
    return invalid_argument("'{}' is no session: it has {} bytes, fewer than any", path, bytes.size());
  std::memcpy(&h, bytes.data(), sizeof(h));
  NEREID_RETURN_IF_ERROR(check_header(h, model, path));
  const bool fits =
      h.layout == model.cache_layout() && h.page_tokens == model.page_tokens() && h.page_bytes == model.page_bytes();
  if (fits && file_bytes(h) != static_cast<int64_t>(bytes.size()))
    return invalid_argument("the session '{}' is cut off or corrupt: it has {} bytes, its header says {}", path,
                            bytes.size(), file_bytes(h));
  uint64_t hash = 0;
  std::memcpy(&hash, bytes.data() + bytes.size() - 8, 8);
  if (xxhash64(bytes.first(bytes.size() - 8)) != hash)
    return invalid_argument("the session '{}' is corrupt: it does not match its checksum", path);

  const auto* at = reinterpret_cast<const char*>(bytes.data()) + sizeof(h);
  const std::string type(at, std::min<size_t>(h.type_bytes, bytes.size() - sizeof(h) - 8));
  if (!fits)
    return invalid_argument(
        "the session '{}' keeps its keys and values as {}, but the model was loaded to keep them as {}; load it with "
        "--kv-cache-dtype as the session was saved",
        path, type, model.cache_type());
  at += h.type_bytes;
  Session session;
  session.note.assign(at, static_cast<size_t>(h.note_bytes));
  at += h.note_bytes;
  session.tokens.resize(static_cast<size_t>(h.tokens));
  if (h.tokens > 0) std::memcpy(session.tokens.data(), at, session.tokens.size() * sizeof(int32_t));
  at += session.tokens.size() * sizeof(int32_t);
  for (int32_t token : session.tokens)
    if (token < 0 || token >= model.vocab())
      return invalid_argument("the session '{}' holds the token {}, which the model does not have", path, token);
  const std::span<const int32_t> pages = model.pages_of(sequence);
  if (static_cast<int64_t>(pages.size()) * model.page_tokens() < h.tokens)
    return exhausted("the session '{}' has {} tokens, more than the sequence's {} pages hold", path, h.tokens,
                     pages.size());
  const auto page_bytes = static_cast<size_t>(h.page_bytes);
  for (size_t i = 0; i * static_cast<size_t>(h.page_tokens) < session.tokens.size(); ++i, at += page_bytes)
    model.write_page(pages[i], std::as_bytes(std::span(at, page_bytes)));
  return session;
}

}  // namespace nereid::llm
