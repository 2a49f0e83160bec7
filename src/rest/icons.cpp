#include "rest/icons.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace welkin::rest {
namespace {

#define WELKIN_ICON(cls, special, category) \
  Icon{cls, special, category,              \
       "\"icon_class\":\"" cls "\",\"icon_special_class\":\"" special "\",\"category\":\"" category "\""}

constexpr Icon kFolder = WELKIN_ICON("fas fa-folder", "folder-icon", "Folder");
constexpr Icon kOther = WELKIN_ICON("fas fa-file", "", "Document");
constexpr Icon kPdf = WELKIN_ICON("fas fa-file-pdf", "pdf-icon", "PDF");
constexpr Icon kWord = WELKIN_ICON("fas fa-file-word", "doc-icon", "Document");
constexpr Icon kSheet = WELKIN_ICON("fas fa-file-excel", "spreadsheet-icon", "Spreadsheet");
constexpr Icon kSlides = WELKIN_ICON("fas fa-file-powerpoint", "presentation-icon", "Presentation");
constexpr Icon kArchive = WELKIN_ICON("fas fa-file-archive", "archive-icon", "Archive");
constexpr Icon kInstaller = WELKIN_ICON("fas fa-hdd", "installer-icon", "Installer");
constexpr Icon kImage = WELKIN_ICON("fas fa-file-image", "image-icon", "Image");
constexpr Icon kVideo = WELKIN_ICON("fas fa-file-video", "video-icon", "Video");
constexpr Icon kAudio = WELKIN_ICON("fas fa-file-audio", "audio-icon", "Audio");
constexpr Icon kShellType = WELKIN_ICON("fas fa-file-code", "script-icon", "Code");
constexpr Icon kShellName = WELKIN_ICON("fas fa-terminal", "script-icon", "Code");
constexpr Icon kMarkdown = WELKIN_ICON("fas fa-file-alt", "code-icon md-icon", "Markdown");
constexpr Icon kHtmlText = WELKIN_ICON("fas fa-file-alt", "code-icon html-icon", "Code");
constexpr Icon kCssText = WELKIN_ICON("fas fa-file-alt", "code-icon css-icon", "Code");
constexpr Icon kText = WELKIN_ICON("fas fa-file-alt", "doc-icon", "Text");
constexpr Icon kTextName = WELKIN_ICON("fas fa-file-alt", "doc-icon", "Document");
constexpr Icon kCode = WELKIN_ICON("fas fa-file-code", "code-icon", "Code");
constexpr Icon kJson = WELKIN_ICON("fas fa-file-code", "code-icon json-icon", "Code");
constexpr Icon kJs = WELKIN_ICON("fas fa-file-code", "code-icon js-icon", "Code");
constexpr Icon kTs = WELKIN_ICON("fas fa-file-code", "code-icon ts-icon", "Code");
constexpr Icon kHtml = WELKIN_ICON("fas fa-file-code", "code-icon html-icon", "Code");
constexpr Icon kSql = WELKIN_ICON("fas fa-file-code", "code-icon sql-icon", "Code");
constexpr Icon kConfig = WELKIN_ICON("fas fa-file-code", "code-icon config-icon", "Code");
constexpr Icon kPhp = WELKIN_ICON("fas fa-file-code", "code-icon php-icon", "Code");
constexpr Icon kPy = WELKIN_ICON("fas fa-file-code", "code-icon py-icon", "Code");
constexpr Icon kRust = WELKIN_ICON("fas fa-file-code", "code-icon rust-icon", "Code");
constexpr Icon kGo = WELKIN_ICON("fas fa-file-code", "code-icon go-icon", "Code");
constexpr Icon kJava = WELKIN_ICON("fas fa-file-code", "code-icon java-icon", "Code");
constexpr Icon kC = WELKIN_ICON("fas fa-file-code", "code-icon c-icon", "Code");
constexpr Icon kCs = WELKIN_ICON("fas fa-file-code", "code-icon cs-icon", "Code");
constexpr Icon kRuby = WELKIN_ICON("fas fa-file-code", "code-icon rb-icon", "Code");
constexpr Icon kSwift = WELKIN_ICON("fas fa-file-code", "code-icon swift-icon", "Code");
constexpr Icon kCss = WELKIN_ICON("fas fa-file-code", "code-icon css-icon", "Code");
#undef WELKIN_ICON

struct Entry {
  std::string_view key;
  const Icon* icon;
};

/// Length and last eight bytes: enough to tell the keys apart, and one multiplication.
constexpr std::uint32_t hash(std::string_view key) {
  std::uint64_t tail = key.size();
  if (!std::is_constant_evaluated() && key.size() >= 8 && std::endian::native == std::endian::little) {
    std::uint64_t bytes;
    std::memcpy(&bytes, key.data() + key.size() - 8, 8);
    tail += bytes;
  } else {
    const std::size_t n = key.size() < 8 ? key.size() : 8;
    for (std::size_t i = 0; i < n; ++i) {
      const auto byte = static_cast<unsigned char>(key[key.size() - n + i]);
      tail += static_cast<std::uint64_t>(byte) << (8 * i);
    }
  }
  return static_cast<std::uint32_t>((tail * 0x9E37'79B9'7F4A'7C15u) >> 40);
}

/// A closed set of keys, hashed when compiled. At most half full, so a look-up is one or two comparisons.
template <std::size_t N>
class ClosedSet {
 public:
  static constexpr std::size_t kSlots = [] {
    std::size_t slots = 1;
    while (slots < 2 * N) slots *= 2;
    return slots;
  }();

  consteval explicit ClosedSet(const std::array<Entry, N>& entries) {
    for (const auto& entry : entries) {
      auto at = hash(entry.key) & (kSlots - 1);
      while (slots_[at].icon != nullptr) {
        if (slots_[at].key == entry.key) throw "a key stands twice";  // does not compile
        at = (at + 1) & (kSlots - 1);
      }
      slots_[at] = entry;
      if (entry.key.size() > longest_) longest_ = entry.key.size();
    }
  }
  const Icon* find(std::string_view key) const {
    if (key.size() > longest_) return nullptr;
    for (auto at = hash(key) & (kSlots - 1); slots_[at].icon != nullptr; at = (at + 1) & (kSlots - 1)) {
      if (slots_[at].key == key) return slots_[at].icon;
    }
    return nullptr;
  }

 private:
  std::array<Entry, kSlots> slots_{};
  std::size_t longest_ = 0;
};
template <std::size_t N>
ClosedSet(const std::array<Entry, N>&) -> ClosedSet<N>;

constexpr auto kTypes = ClosedSet(std::to_array<Entry>({
    {"application/pdf", &kPdf},
    {"application/msword", &kWord},
    {"application/vnd.openxmlformats-officedocument.wordprocessingml.document", &kWord},
    {"application/vnd.oasis.opendocument.text", &kWord},
    {"application/vnd.ms-excel", &kSheet},
    {"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", &kSheet},
    {"application/vnd.oasis.opendocument.spreadsheet", &kSheet},
    {"text/csv", &kSheet},
    {"application/vnd.ms-powerpoint", &kSlides},
    {"application/vnd.openxmlformats-officedocument.presentationml.presentation", &kSlides},
    {"application/vnd.oasis.opendocument.presentation", &kSlides},
    {"application/zip", &kArchive},
    {"application/x-rar-compressed", &kArchive},
    {"application/vnd.rar", &kArchive},
    {"application/x-7z-compressed", &kArchive},
    {"application/gzip", &kArchive},
    {"application/x-gzip", &kArchive},
    {"application/x-tar", &kArchive},
    {"application/x-bzip2", &kArchive},
    {"application/x-xz", &kArchive},
    {"application/x-compress", &kArchive},
    {"application/zstd", &kArchive},
    {"application/json", &kJson},
    {"application/ld+json", &kJson},
    {"application/javascript", &kJs},
    {"application/typescript", &kTs},
    {"application/x-httpd-php", &kPhp},
    {"application/xml", &kHtml},
    {"application/xhtml+xml", &kHtml},
    {"application/sql", &kSql},
    {"application/x-yaml", &kConfig},
    {"application/yaml", &kConfig},
    {"application/toml", &kConfig},
    {"application/x-sh", &kShellType},
    {"application/x-shellscript", &kShellType},
    {"application/x-csh", &kShellType},
    {"application/x-apple-diskimage", &kInstaller},
    {"application/x-ms-dos-executable", &kInstaller},
    {"application/x-msdownload", &kInstaller},
    {"application/x-msi", &kInstaller},
    {"application/vnd.debian.binary-package", &kInstaller},
    {"application/x-debian-package", &kInstaller},
    {"application/x-rpm", &kInstaller},
    {"application/vnd.appimage", &kInstaller},
    {"application/x-appimage", &kInstaller},
    // The families' most frequent members, which would be found below but later.
    {"image/jpeg", &kImage},
    {"image/png", &kImage},
    {"video/mp4", &kVideo},
    {"audio/mpeg", &kAudio},
    {"text/plain", &kText},
    {"text/markdown", &kMarkdown},
    {"text/html", &kHtmlText},
    {"text/css", &kCssText},
    {"text/javascript", &kJs},
    {"text/typescript", &kTs},
    {"text/x-python", &kPy},
    {"text/x-script.python", &kPy},
    {"text/x-rust", &kRust},
    {"text/rust", &kRust},
    {"text/x-go", &kGo},
    {"text/x-java", &kJava},
    {"text/x-java-source", &kJava},
    {"text/x-kotlin", &kJava},
    {"text/x-scala", &kJava},
    {"text/x-c", &kC},
    {"text/x-csrc", &kC},
    {"text/x-chdr", &kC},
    {"text/x-c++", &kC},
    {"text/x-c++src", &kC},
    {"text/x-c++hdr", &kC},
    {"text/x-csharp", &kCs},
    {"text/x-php", &kPhp},
    {"text/x-ruby", &kRuby},
    {"text/x-swift", &kSwift},
    {"text/x-sql", &kSql},
    {"text/x-yaml", &kConfig},
    {"text/x-toml", &kConfig},
    {"text/x-sh", &kShellType},
    {"text/x-shellscript", &kShellType},
    {"text/x-lua", &kCode},
    {"text/x-perl", &kCode},
    {"text/x-r", &kCode},
}));

constexpr auto kExtensions = ClosedSet(std::to_array<Entry>({
    {"pdf", &kPdf},
    {"doc", &kWord},
    {"docx", &kWord},
    {"odt", &kWord},
    {"rtf", &kWord},
    {"xls", &kSheet},
    {"xlsx", &kSheet},
    {"ods", &kSheet},
    {"csv", &kSheet},
    {"ppt", &kSlides},
    {"pptx", &kSlides},
    {"odp", &kSlides},
    {"key", &kSlides},
    {"zip", &kArchive},
    {"rar", &kArchive},
    {"7z", &kArchive},
    {"tar", &kArchive},
    {"gz", &kArchive},
    {"bz2", &kArchive},
    {"xz", &kArchive},
    {"zst", &kArchive},
    {"lz4", &kArchive},
    {"js", &kJs},
    {"jsx", &kJs},
    {"mjs", &kJs},
    {"cjs", &kJs},
    {"vue", &kJs},
    {"svelte", &kJs},
    {"ts", &kTs},
    {"tsx", &kTs},
    {"py", &kPy},
    {"pyw", &kPy},
    {"rs", &kRust},
    {"go", &kGo},
    {"java", &kJava},
    {"kt", &kJava},
    {"kts", &kJava},
    {"scala", &kJava},
    {"c", &kC},
    {"h", &kC},
    {"cpp", &kC},
    {"hpp", &kC},
    {"cc", &kC},
    {"cxx", &kC},
    {"cs", &kCs},
    {"rb", &kRuby},
    {"php", &kPhp},
    {"swift", &kSwift},
    {"r", &kCode},
    {"lua", &kCode},
    {"pl", &kCode},
    {"pm", &kCode},
    {"html", &kHtml},
    {"htm", &kHtml},
    {"xml", &kHtml},
    {"css", &kCss},
    {"scss", &kCss},
    {"sass", &kCss},
    {"less", &kCss},
    {"json", &kJson},
    {"yaml", &kConfig},
    {"yml", &kConfig},
    {"toml", &kConfig},
    {"ini", &kConfig},
    {"cfg", &kConfig},
    {"conf", &kConfig},
    {"proto", &kConfig},
    {"graphql", &kConfig},
    {"sql", &kSql},
    {"sh", &kShellName},
    {"bash", &kShellName},
    {"zsh", &kShellName},
    {"fish", &kShellName},
    {"ps1", &kShellName},
    {"bat", &kShellName},
    {"cmd", &kShellName},
    {"exe", &kInstaller},
    {"msi", &kInstaller},
    {"dmg", &kInstaller},
    {"deb", &kInstaller},
    {"rpm", &kInstaller},
    {"appimage", &kInstaller},
    {"pkg", &kInstaller},
    {"snap", &kInstaller},
    {"flatpak", &kInstaller},
    {"jpg", &kImage},
    {"jpeg", &kImage},
    {"png", &kImage},
    {"gif", &kImage},
    {"bmp", &kImage},
    {"svg", &kImage},
    {"webp", &kImage},
    {"ico", &kImage},
    {"tiff", &kImage},
    {"tif", &kImage},
    {"heic", &kImage},
    {"heif", &kImage},
    {"avif", &kImage},
    {"mp4", &kVideo},
    {"avi", &kVideo},
    {"mkv", &kVideo},
    {"mov", &kVideo},
    {"wmv", &kVideo},
    {"flv", &kVideo},
    {"webm", &kVideo},
    {"m4v", &kVideo},
    {"mp3", &kAudio},
    {"wav", &kAudio},
    {"ogg", &kAudio},
    {"flac", &kAudio},
    {"aac", &kAudio},
    {"wma", &kAudio},
    {"m4a", &kAudio},
    {"opus", &kAudio},
    {"md", &kMarkdown},
    {"markdown", &kMarkdown},
    {"rst", &kMarkdown},
    {"txt", &kTextName},
}));

const Icon* by_family(std::string_view type) {
  if (type.starts_with("image/")) return &kImage;
  if (type.starts_with("video/")) return &kVideo;
  if (type.starts_with("audio/")) return &kAudio;
  if (type.find("javascript") != std::string_view::npos) return &kJs;
  if (type.find("typescript") != std::string_view::npos) return &kTs;
  if (type.starts_with("text/x-")) return &kCode;
  if (type.starts_with("text/")) return &kText;
  return nullptr;
}

const Icon* by_extension(std::string_view name) {
  const auto dot = name.rfind('.');
  if (dot == std::string_view::npos) return nullptr;
  const auto extension = name.substr(dot + 1);
  char lower[16];
  if (extension.size() > sizeof lower) return nullptr;
  for (std::size_t i = 0; i < extension.size(); ++i) {
    const char c = extension[i];
    lower[i] = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return kExtensions.find({lower, extension.size()});
}

}  // namespace

const Icon& icon_of(std::string_view mime_type, std::string_view name) {
  if (mime_type != "application/octet-stream") {
    if (const auto* icon = kTypes.find(mime_type)) return *icon;
    if (const auto* icon = by_family(mime_type)) return *icon;
  }
  if (const auto* icon = by_extension(name)) return *icon;
  return kOther;
}

const Icon& folder_icon() { return kFolder; }

std::string_view format_size(unsigned long long bytes, char (&buffer)[kSizeTextMax]) {
  static constexpr std::string_view kUnits[] = {" Bytes", " KB", " MB", " GB", " TB"};
  std::size_t unit = 0;
  while (unit + 1 < std::size(kUnits) && bytes >> (10 * (unit + 1)) != 0) ++unit;
  const unsigned shift = static_cast<unsigned>(10 * unit);
  unsigned long long whole = bytes >> shift;
  unsigned hundredths = 0;
  if (shift != 0) {
    const unsigned long long rest = bytes - (whole << shift);  // < 2^40, so a hundredfold fits
    hundredths = static_cast<unsigned>((rest * 100 + (1ull << (shift - 1))) >> shift);
    if (hundredths == 100) {
      ++whole;
      hundredths = 0;
    }
  }
  char* at = std::to_chars(buffer, buffer + kSizeTextMax, whole).ptr;
  if (hundredths != 0) {
    *at++ = '.';
    *at++ = static_cast<char>('0' + hundredths / 10);
    if (hundredths % 10 != 0) *at++ = static_cast<char>('0' + hundredths % 10);
  }
  std::memcpy(at, kUnits[unit].data(), kUnits[unit].size());
  at += kUnits[unit].size();
  return {buffer, static_cast<std::size_t>(at - buffer)};
}

}  // namespace welkin::rest
