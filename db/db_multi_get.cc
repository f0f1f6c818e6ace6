// Reads of many keys as of one moment.
#include <algorithm>
#include <utility>

#include "db/db_impl.h"
#include "util/hooks.h"

namespace pmlsm {

std::vector<Status> DBImpl::MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                                     std::vector<std::string>* values) {
  return MultiGetFrom(options, std::vector<ColumnFamily*>(keys.size(), default_family_), keys,
                      std::vector<Status>(keys.size()), values);
}

std::vector<Status> DBImpl::MultiGet(const ReadOptions& options,
                                     const std::vector<ColumnFamilyHandle*>& handles,
                                     const std::vector<Slice>& keys, std::vector<std::string>* values) {
  if (handles.size() != keys.size()) {
    values->assign(keys.size(), std::string());
    const Status wrong = Status::InvalidArgument("families = " + std::to_string(handles.size()),
                                                 "must be as many as keys: " + std::to_string(keys.size()));
    return std::vector<Status>(keys.size(), wrong);
  }
  std::vector<ColumnFamily*> family_of(keys.size(), nullptr);
  std::vector<Status> statuses(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) statuses[i] = FamilyOf(handles[i], &family_of[i]);
  return MultiGetFrom(options, family_of, keys, std::move(statuses), values);
}

// Of the keys whose status is OK so far.
std::vector<Status> DBImpl::MultiGetFrom(const ReadOptions& options,
                                         const std::vector<ColumnFamily*>& family_of,
                                         const std::vector<Slice>& keys, std::vector<Status> statuses,
                                         std::vector<std::string>* values) {
  values->assign(keys.size(), std::string());
  std::vector<ColumnFamily*> families;  // each once
  std::vector<size_t> place_of(keys.size(), 0);
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!statuses[i].ok()) continue;
    place_of[i] = std::find(families.begin(), families.end(), family_of[i]) - families.begin();
    if (place_of[i] == families.size()) families.push_back(family_of[i]);
  }
  std::vector<ViewPin> pins;
  SequenceNumber sequence = 0;
  const Status pinned = PinTogether(families, options, &pins, &sequence);
  if (pinned.ok()) hooks.Reached(HookPoint::kViewTaken);
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!statuses[i].ok()) continue;
    if (!pinned.ok()) {
      statuses[i] = pinned;
      continue;
    }
    Entry entry;
    bool found = false;
    statuses[i] =
        FindNewest(*pins[place_of[i]].view, keys[i], sequence, options.verify_checksums, &entry, &found);
    if (!statuses[i].ok()) continue;
    if (found && TagType(entry.tag) == ValueType::kValue) {
      (*values)[i].assign(entry.value.data(), entry.value.size());
    } else {
      statuses[i] = Status::NotFound();
    }
  }
  for (const ViewPin& pin : pins) Storage::Unpin(pin);
  return statuses;
}

}  // namespace pmlsm
