#include "primitives/pmwcas.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <thread>

#include "util/check.h"

namespace pmlsm::primitives {
namespace {

uint64_t Load(const uint64_t* word) { return __atomic_load_n(word, __ATOMIC_SEQ_CST); }

}  // namespace

Pmwcas::Pmwcas(char* memory, uint64_t memory_bytes, uint64_t area_offset)
    : memory_(memory),
      memory_bytes_(memory_bytes),
      descriptors_(reinterpret_cast<PmwcasDescriptor*>(memory + area_offset)) {
  CHECK(reinterpret_cast<uintptr_t>(descriptors_) % sizeof(PmwcasDescriptor) == 0);
  CHECK(area_offset <= memory_bytes && kAreaBytes <= memory_bytes - area_offset);
}

bool Pmwcas::IsWord(uint64_t offset) const {
  return offset != 0 && offset % sizeof(uint64_t) == 0 && offset <= memory_bytes_ - sizeof(uint64_t);
}

Status Pmwcas::Recover(Store* store) {
  for (uint32_t i = 0; i < kPmwcasDescriptors; ++i) {
    Status status = RecoverDescriptor(i, store);
    if (!status.ok()) return status;
  }
  return store->Fence();
}

// A descriptor that was being written may be a mixture of two uses. Then no word refers to either.
Status Pmwcas::RecoverDescriptor(uint32_t index, Store* store) {
  const PmwcasDescriptor* const descriptor = DescriptorAt(index);
  const uint64_t version = VersionOfStatus(descriptor->status);
  const bool succeeded = StateOf(descriptor->status) == PmwcasState::kSucceeded;
  for (const PmwcasDescriptor::Word& entry : descriptor->words) {
    if (entry.offset == 0) continue;  // never used
    if (!IsWord(entry.offset)) {
      return Status::Corruption("PMwCAS descriptor " + std::to_string(index),
                                "names a word at offset " + std::to_string(entry.offset) +
                                    "; the memory has " + std::to_string(memory_bytes_) + " bytes");
    }
    uint64_t* const word = WordAt(entry.offset);
    const bool refers =
        (*word & kPmwcasFlags) != 0 && DescriptorOf(*word) == index && VersionOf(*word) == version;
    if (!refers) continue;
    const bool installed = (*word & kPmwcasReference) != 0;
    store->Store8(word, installed && succeeded ? entry.new_value : entry.old_value);
    store->FlushLines(word, sizeof(*word));
  }
  return Status::OK();
}

// While one exists, no descriptor that its thread may have met is used again.
class PmwcasThread::Entered {
 public:
  explicit Entered(PmwcasThread* thread) : entered_(&thread->pmwcas_->entered_[thread->index_]) {
    // Sequentially consistent, so that this store comes before the loads of words that follow.
    entered_->store(thread->pmwcas_->epoch_.load());
  }
  ~Entered() { entered_->store(Pmwcas::kIdle, std::memory_order_release); }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;

 private:
  std::atomic<uint64_t>* const entered_;
};

PmwcasThread::PmwcasThread(Pmwcas* pmwcas, Medium medium, PersistCounters* counters)
    : pmwcas_(pmwcas), store_(medium, counters) {
  for (index_ = 0; index_ < Pmwcas::kThreadsMax; ++index_) {
    if (!pmwcas_->in_use_[index_].exchange(true)) break;
  }
  CHECK(index_ < Pmwcas::kThreadsMax);
  // When whoever had this place before retired its descriptors is not known: as if it were now.
  std::fill(std::begin(retired_in_), std::end(retired_in_), pmwcas_->epoch_.fetch_add(1));
}

PmwcasThread::~PmwcasThread() { pmwcas_->in_use_[index_].store(false); }

Status PmwcasThread::Execute(const Pmwcas::Change* changes, uint32_t count, bool* changed) {
  CHECK(count > 0 && count <= Pmwcas::kWordsMax);
  const uint32_t mine = Claim();
  const uint32_t descriptor = index_ * kPmwcasDescriptorsEach + mine;
  {
    const Entered entered(this);
    *changed = Run(Prepare(descriptor, changes, count));
  }
  retired_in_[mine] = pmwcas_->epoch_.fetch_add(1);
  return status_;
}

uint64_t PmwcasThread::Read(const uint64_t* word) {
  uint64_t seen = Load(word);
  if ((seen & kPmwcasFlags) == 0) return seen;
  const Entered entered(this);
  while (((seen = Load(word)) & kPmwcasFlags) != 0) Help(seen);
  return seen;
}

// One of this thread's descriptors that nobody looks at any more. Others are in the midst of an operation only.
uint32_t PmwcasThread::Claim() {
  for (;;) {
    next_ = (next_ + 1) % kPmwcasDescriptorsEach;
    const bool seen_by_somebody =
        std::any_of(std::begin(pmwcas_->entered_), std::end(pmwcas_->entered_),
                    [retired_in = retired_in_[next_]](const std::atomic<uint64_t>& entered) {
                      const uint64_t epoch = entered.load();
                      return epoch != Pmwcas::kIdle && epoch <= retired_in;
                    });
    if (!seen_by_somebody) return next_;
    if (next_ == 0) std::this_thread::yield();
  }
}

// Step 1.
uint64_t PmwcasThread::Prepare(uint32_t index, const Pmwcas::Change* changes, uint32_t count) {
  PmwcasDescriptor* const descriptor = pmwcas_->DescriptorAt(index);
  const uint64_t version = (VersionOfStatus(descriptor->status) + 1) % kPmwcasVersions;
  PmwcasDescriptor filled = {};
  filled.status = PmwcasStatus(version, PmwcasState::kUndecided);
  filled.count = count;
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t offset = reinterpret_cast<char*>(changes[i].word) - pmwcas_->memory_;
    CHECK(pmwcas_->IsWord(offset) && ((changes[i].expected | changes[i].desired) & kPmwcasFlags) == 0);
    filled.words[i] = {offset, changes[i].expected, changes[i].desired};
  }
  std::sort(filled.words, filled.words + count,
            [](const auto& a, const auto& b) { return a.offset < b.offset; });
  for (uint32_t i = 1; i < count; ++i) CHECK(filled.words[i - 1].offset != filled.words[i].offset);
  store_.Copy(descriptor, &filled, sizeof(filled));
  store_.FlushLines(descriptor, sizeof(filled));
  Fence();
  return PmwcasReferenceTo(index, version);
}

bool PmwcasThread::Run(uint64_t reference) {
  PmwcasDescriptor* const descriptor = pmwcas_->DescriptorAt(DescriptorOf(reference));
  const uint64_t undecided = PmwcasStatus(VersionOf(reference), PmwcasState::kUndecided);
  if (Load(&descriptor->status) == undecided) {
    const bool installed = InstallAll(reference);
    const PmwcasState outcome = installed ? PmwcasState::kSucceeded : PmwcasState::kFailed;
    store_.Cas8(&descriptor->status, undecided, PmwcasStatus(VersionOf(reference), outcome));  // step 3
  }
  return Finish(reference);
}

// Step 2. True once all words hold the reference, durably, or when it does not matter since all is decided.
bool PmwcasThread::InstallAll(uint64_t reference) {
  const PmwcasDescriptor* const descriptor = pmwcas_->DescriptorAt(DescriptorOf(reference));
  for (uint32_t i = 0; i < descriptor->count; ++i) {
    if (!InstallOne(reference, i)) return false;
  }
  for (uint32_t i = 0; i < descriptor->count; ++i) {
    store_.FlushLines(pmwcas_->WordAt(descriptor->words[i].offset), sizeof(uint64_t));
  }
  Fence();
  return true;
}

bool PmwcasThread::InstallOne(uint64_t reference, uint32_t i) {
  const PmwcasDescriptor* const descriptor = pmwcas_->DescriptorAt(DescriptorOf(reference));
  const uint64_t undecided = PmwcasStatus(VersionOf(reference), PmwcasState::kUndecided);
  const PmwcasDescriptor::Word& entry = descriptor->words[i];
  uint64_t* const word = pmwcas_->WordAt(entry.offset);
  while (Load(&descriptor->status) == undecided) {
    const uint64_t seen = Load(word);
    if (seen == reference) return true;
    if ((seen & kPmwcasFlags) != 0) {
      Help(seen);
      continue;
    }
    if (seen != entry.old_value) return false;
    attempt_ = (attempt_ + 1) % kPmwcasAttempts;
    const uint64_t install = (reference & ~kPmwcasReference) | kPmwcasInstall |
                             uint64_t{i} << kPmwcasWordShift | uint64_t{index_} << kPmwcasThreadShift |
                             attempt_ << kPmwcasAttemptShift;
    if (store_.Cas8(word, seen, install)) ResolveInstall(install);
  }
  return true;
}

void PmwcasThread::ResolveInstall(uint64_t install) {
  PmwcasDescriptor* const descriptor = pmwcas_->DescriptorAt(DescriptorOf(install));
  const PmwcasDescriptor::Word& entry = descriptor->words[WordIndexOf(install)];
  uint64_t* const word = pmwcas_->WordAt(entry.offset);
  if (Load(&descriptor->status) == PmwcasStatus(VersionOf(install), PmwcasState::kUndecided)) {
    store_.Cas8(word, install, PmwcasReferenceTo(DescriptorOf(install), VersionOf(install)));
    return;
  }
  // The mark may have reached the medium: it must have left it before the descriptor is used again.
  store_.Cas8(word, install, entry.old_value);
  store_.FlushLines(word, sizeof(*word));
  Fence();
}

// Step 4, and the fence of 3. All flush all words, whoever replaced the references: who only sees that a word is done
// does not know that it is durable.
bool PmwcasThread::Finish(uint64_t reference) {
  PmwcasDescriptor* const descriptor = pmwcas_->DescriptorAt(DescriptorOf(reference));
  const bool succeeded = StateOf(Load(&descriptor->status)) == PmwcasState::kSucceeded;
  if (succeeded) {  // an undecided descriptor fails by itself
    store_.FlushLines(&descriptor->status, sizeof(descriptor->status));
    Fence();
  }
  for (uint32_t i = 0; i < descriptor->count; ++i) {
    const PmwcasDescriptor::Word& entry = descriptor->words[i];
    uint64_t* const word = pmwcas_->WordAt(entry.offset);
    store_.Cas8(word, reference, succeeded ? entry.new_value : entry.old_value);
    store_.FlushLines(word, sizeof(*word));
  }
  Fence();
  return succeeded;
}

void PmwcasThread::Help(uint64_t seen) {
  if ((seen & kPmwcasReference) != 0) {
    Run(seen);
  } else {
    ResolveInstall(seen);
  }
}

// Goes on after an error, so that no reference stays: what the words hold is then right, but for the medium.
void PmwcasThread::Fence() {
  Status status = store_.Fence();
  if (!status.ok() && status_.ok()) status_ = status;
}

}  // namespace pmlsm::primitives
