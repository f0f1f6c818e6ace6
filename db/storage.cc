#include "db/storage.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "util/mutex.h"

namespace pmlsm {
namespace {

// Never destroyed: pins may be dropped by destructors that run at exit.
struct Adrift {
  std::atomic<size_t> count{0};
  Mutex mutex;
  std::vector<std::unique_ptr<Storage>> storages GUARDED_BY(mutex);
};

Adrift& TheAdrift() {
  static Adrift* const adrift = new Adrift;
  return *adrift;
}

void Sweep() {
  Adrift& adrift = TheAdrift();
  std::vector<std::unique_ptr<Storage>> done;
  {
    MutexLock lock(&adrift.mutex);
    auto& storages = adrift.storages;
    const auto free_begin =
        std::partition(storages.begin(), storages.end(), [](const auto& s) { return s->AnyPinned(); });
    std::move(free_begin, storages.end(), std::back_inserter(done));
    storages.erase(free_begin, storages.end());
    adrift.count.store(storages.size(), std::memory_order_seq_cst);
  }
}

}  // namespace

size_t Storage::Reclaim() {
  size_t left = 0;
  const auto done = [&left](const std::unique_ptr<FamilyReads>& family) {
    const size_t views = family->views.Reclaim();
    left += views;
    return family->closed && views == 0;
  };
  reads.erase(std::remove_if(reads.begin(), reads.end(), done), reads.end());
  return left;
}

bool Storage::AnyPinned() const {
  return std::any_of(reads.begin(), reads.end(),
                     [](const auto& family) { return family->views.AnyPinned(); });
}

void Storage::Unpin(ViewPin pin) {
  ViewPool::Unpin(pin);
  // From here on the storage may be gone; only the list may be looked at. Either this sees the storage in the
  // list, or SetAdrift, which puts it there before it sweeps, sees the pin dropped.
  if (TheAdrift().count.load(std::memory_order_seq_cst) != 0) Sweep();
}

void Storage::SetAdrift(std::unique_ptr<Storage> storage) {
  Adrift& adrift = TheAdrift();
  {
    MutexLock lock(&adrift.mutex);
    adrift.storages.push_back(std::move(storage));
    adrift.count.store(adrift.storages.size(), std::memory_order_seq_cst);
  }
  Sweep();
}

}  // namespace pmlsm
