#include "pmem/raw_pool.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <sstream>

#include "pmem/pool_create.h"
#include "pmem/pool_set_file.h"
#include "util/check.h"

namespace pmlsm {
namespace {

constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kMapAlignment = uint64_t{2} << 20;
// Of one pool; sizes beyond it are damage.
constexpr uint64_t kPoolBytesMax = uint64_t{64} << 40;
// A number in a part's name that leaves a larger gap is not believed.
constexpr size_t kPartsMissingMax = 1 << 16;

// What the signal handler needs. It may run in any thread that reads.
constexpr size_t kBadPagesMax = 1 << 16;
std::atomic<const char*> handler_base{nullptr};
std::atomic<uint64_t> handler_bytes{0};
std::atomic<size_t> bad_pages{0};
std::atomic<uint64_t> bad_page_offsets[kBadPagesMax];

std::string Bytes(uint64_t bytes) { return std::to_string(bytes) + " bytes"; }

uint64_t RoundDown(uint64_t value, uint64_t unit) { return value / unit * unit; }

// The second word of pool.set's third line: the size that it reserves; 0 if it cannot be read.
uint64_t ReservedBytes(const std::string& set) {
  std::string content;
  if (!ReadSmallFile(set, &content).ok()) return 0;
  std::istringstream lines(content);
  std::string line;
  uint64_t bytes = 0;
  while (std::getline(lines, line)) {
    if (std::istringstream(line) >> bytes) return bytes;
  }
  return 0;
}

// What the pool's first bytes say of its size; 0 if they are no descriptor.
uint64_t RecordedBytes(const std::string& path) {
  PmdkDescriptor descriptor;
  if (!ReadPmdkDescriptor(path, &descriptor).ok()) return 0;
  const bool plausible = descriptor.heap_offset < kPoolBytesMax && descriptor.heap_bytes < kPoolBytesMax;
  return plausible ? descriptor.pool_bytes() : 0;
}

}  // namespace

Status RawPool::Open(const std::string& set_dir, const std::string& pool_file,
                     std::unique_ptr<RawPool>* pool) {
  std::unique_ptr<RawPool> opened(new RawPool);
  Status status = opened->lock_.Lock(pool_file.empty() ? set_dir : pool_file);
  if (status.ok()) status = pool_file.empty() ? opened->FindParts(set_dir) : opened->FindFile(pool_file);
  if (status.ok()) status = opened->Map();
  if (status.ok()) *pool = std::move(opened);
  return status;
}

Status RawPool::FindParts(const std::string& set_dir) {
  const PoolSetPaths paths(set_dir);
  directory_ = paths.parts + "/";
  std::vector<PoolPart> parts;
  Status status = ListPoolParts(paths.parts, &parts);
  if (!status.ok()) return status;
  if (parts.empty()) return Status::PathNotFound(paths.parts + ": holds no part of a pool");
  const uint64_t pool_bytes = parts[0].number == 0 ? RecordedBytes(directory_ + parts[0].name) : 0;
  uint64_t total = 0;
  for (const PoolPart& part : parts) total += part.bytes;
  // A gap in the numbers is a lost part only if bytes are missing: a growth that failed leaves one, too.
  const bool gaps = pool_bytes == 0 || total < pool_bytes;
  uint64_t number = 0;
  for (const PoolPart& part : parts) {
    for (; gaps && number < part.number && files_.size() < parts.size() + kPartsMissingMax; ++number) {
      files_.push_back({PoolPartName(number), 0, 0, 0});
    }
    files_.push_back({part.name, 0, part.bytes, part.bytes});
    number = part.number + 1;
  }
  SettleSizes(pool_bytes, ReservedBytes(paths.set));
  return Status::OK();
}

// Gives every file the size and so the offset that it had. 1. A part that is missing, or is no multiple of what
// all parts are multiples of, gets the size that the pool grew by there. 2. If it is the only one, it gets
// exactly what is missing. 3. Whatever is then missing was at the pool's end.
void RawPool::SettleSizes(uint64_t pool_bytes, uint64_t max_pmem_bytes) {
  std::vector<size_t> damaged;
  uint64_t total = 0;
  for (size_t i = 0; i < files_.size(); ++i) {
    File& file = files_[i];
    if (file.mapped % kPartBytesMin != 0 || file.mapped == 0) {
      damaged.push_back(i);
      if (max_pmem_bytes != 0) file.bytes = std::max(file.mapped, GrowthStepBytes(total, max_pmem_bytes));
    }
    total += file.bytes;
  }
  const auto grown_by = [&](size_t i) {
    uint64_t before = 0;
    for (size_t k = 0; k < i; ++k) before += files_[k].bytes;
    return GrowthStepBytes(before, max_pmem_bytes);
  };
  for (size_t i = 0; damaged.empty() && max_pmem_bytes != 0 && total < pool_bytes && i < files_.size(); ++i) {
    if (grown_by(i) == files_[i].bytes + (pool_bytes - total)) damaged.push_back(i);
  }
  if (damaged.size() == 1 && pool_bytes != 0) {
    File& file = files_[damaged[0]];
    const uint64_t others = total - file.bytes;
    if (pool_bytes > others) file.bytes = std::max(file.mapped, pool_bytes - others);
  }
  bytes_ = 0;
  for (File& file : files_) {
    file.offset = bytes_;
    bytes_ += file.bytes;
  }
  if (bytes_ < pool_bytes) {
    files_.push_back({"the parts that follow", bytes_, pool_bytes - bytes_, 0});
    bytes_ = pool_bytes;
  }
}

Status RawPool::FindFile(const std::string& pool_file) {
  const int fd = open(pool_file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return ErrnoStatus(pool_file + ": open", errno);
  struct stat info;
  const bool known = fstat(fd, &info) == 0;
  close(fd);
  if (!known) return ErrnoStatus(pool_file + ": stat", errno);
  const uint64_t pool_bytes = RecordedBytes(pool_file);
  // A device has no size to ask for here; its descriptor tells it.
  const uint64_t there = S_ISREG(info.st_mode) ? RoundDown(info.st_size, kPageBytes) : pool_bytes;
  bytes_ = std::max(there, pool_bytes);
  files_.push_back({pool_file, 0, bytes_, there});
  return Status::OK();
}

Status RawPool::Map() {
  if (bytes_ == 0 || bytes_ > kPoolBytesMax) return Status::IOError("pool of " + Bytes(bytes_));
  // Zeros, wherever no file is put over them. Devices are mapped at multiples of their page size only.
  void* const reserved =
      mmap(nullptr, bytes_ + kMapAlignment, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return ErrnoStatus("mmap of " + Bytes(bytes_), errno);
  reserved_ = reserved;
  const uintptr_t address = reinterpret_cast<uintptr_t>(reserved);
  char* const base = static_cast<char*>(reserved) + (kMapAlignment - address % kMapAlignment) % kMapAlignment;
  base_ = base;
  CHECK(handler_base.load() == nullptr);
  bad_pages.store(0);
  handler_bytes.store(bytes_);
  handler_base.store(base_);
  struct sigaction action = {};
  action.sa_sigaction = OnBusError;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, &action_before_);
  for (File& file : files_) {
    if (file.mapped == 0) continue;
    const std::string path = directory_ + file.name;
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    void* const to = base + file.offset;
    const bool mapped = fd >= 0 && mmap(to, file.mapped, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) == to;
    if (!mapped) file.mapped = 0;
    if (fd >= 0) close(fd);
  }
  return Status::OK();
}

RawPool::~RawPool() {
  if (base_ == nullptr) return;
  sigaction(SIGBUS, &action_before_, nullptr);
  handler_base.store(nullptr);
  munmap(reserved_, bytes_ + kMapAlignment);
}

// Calls nothing but mmap and sigaction, which are system calls. Returning repeats the load.
void RawPool::OnBusError(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  const char* const base = handler_base.load();
  const char* const address = static_cast<const char*>(info->si_addr);
  if (base != nullptr && address >= base && address < base + handler_bytes.load()) {
    const uint64_t page = static_cast<uint64_t>(address - base) / kPageBytes * kPageBytes;
    const size_t i = bad_pages.fetch_add(1);
    if (i < kBadPagesMax) bad_page_offsets[i].store(page);
    const void* const zeros = mmap(const_cast<char*>(base) + page, kPageBytes, PROT_READ,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    if (zeros != MAP_FAILED) {
      errno = error;
      return;
    }
  }
  // Not ours: the same fault comes again and ends the process.
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigaction(SIGBUS, &action, nullptr);
}

std::vector<RawPool::Lost> RawPool::lost() const {
  std::vector<Lost> all;
  for (const File& file : files_) {
    if (file.mapped == file.bytes) continue;
    const std::string why =
        file.mapped == 0 ? ": part is missing or cannot be opened"
                         : ": cut short, has " + std::to_string(file.mapped) + " of " + Bytes(file.bytes);
    all.push_back({{file.offset + file.mapped, file.bytes - file.mapped}, file.name + why});
  }
  std::vector<uint64_t> pages;
  for (size_t i = 0; i < std::min(bad_pages.load(), kBadPagesMax); ++i) pages.push_back(bad_page_offsets[i]);
  std::sort(pages.begin(), pages.end());
  pages.erase(std::unique(pages.begin(), pages.end()), pages.end());
  for (size_t i = 0; i < pages.size();) {
    size_t end = i + 1;
    while (end < pages.size() && pages[end] == pages[i] + (end - i) * kPageBytes) ++end;
    all.push_back({{pages[i], (end - i) * kPageBytes}, FilePlace(pages[i]) + ": cannot be read (SIGBUS)"});
    i = end;
  }
  std::sort(all.begin(), all.end(),
            [](const Lost& a, const Lost& b) { return a.span.offset < b.span.offset; });
  return all;
}

std::string RawPool::FilePlace(uint64_t offset) const {
  for (const File& file : files_) {
    if (offset >= file.offset && offset - file.offset < file.bytes) {
      return file.name + ", byte " + std::to_string(offset - file.offset);
    }
  }
  return "outside the pool";
}

}  // namespace pmlsm
