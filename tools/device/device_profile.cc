#include "tools/device/device_profile.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

namespace pmlsm::device {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kFurtherLine = 0.25;
constexpr double kNanosMax = 1e9;

DeviceProfile Preset(const char* name, double read_ns, double write_ns) {
  return {name, read_ns, read_ns * kFurtherLine, write_ns, write_ns * kFurtherLine, 0};
}

struct Member {
  const char* name;
  double DeviceProfile::*value;
};
constexpr Member kMembers[] = {{"read_block_ns", &DeviceProfile::read_block_ns},
                               {"read_line_ns", &DeviceProfile::read_line_ns},
                               {"write_block_ns", &DeviceProfile::write_block_ns},
                               {"write_line_ns", &DeviceProfile::write_line_ns},
                               {"fence_ns", &DeviceProfile::fence_ns}};

}  // namespace

double ModelledNanos(const AccessCounts& counts, const DeviceProfile& profile) {
  const auto further = [](double lines, double blocks) { return std::max(0.0, lines - blocks); };
  return counts.blocks_read * profile.read_block_ns +
         further(counts.lines_read, counts.blocks_read) * profile.read_line_ns +
         counts.blocks_written * profile.write_block_ns +
         further(counts.lines_written, counts.blocks_written) * profile.write_line_ns +
         counts.fences * profile.fence_ns;
}

const std::vector<DeviceProfile>& PresetProfiles() {
  static const std::vector<DeviceProfile> profiles = {Preset("dram", 80, 80), Preset("optane_idle", 175, 100),
                                                      Preset("optane_loaded", 400, 2000),
                                                      Preset("cxl", 250, 250)};
  return profiles;
}

Status ReadProfile(const std::string& file, DeviceProfile* profile) {
  std::ifstream in(file);
  if (!in) return Status::InvalidArgument(file, "cannot be read");
  const Json json = Json::parse(in, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Status::InvalidArgument(file, "is not a JSON object");
  const auto name = json.find("name");
  if (name == json.end() || !name->is_string())
    return Status::InvalidArgument(file, "name: must be a string");
  DeviceProfile read;
  read.name = *name;
  for (const Member& member : kMembers) {
    const auto value = json.find(member.name);
    if (value == json.end() || !value->is_number() || *value < 0 || *value > kNanosMax) {
      return Status::InvalidArgument(file, std::string(member.name) + ": must be a number from 0 to 1e9");
    }
    read.*member.value = *value;
  }
  *profile = read;
  return Status::OK();
}

std::string ToJson(const DeviceProfile& profile) {
  Json json = {{"name", profile.name}};
  for (const Member& member : kMembers) json[member.name] = profile.*member.value;
  return json.dump(2);
}

}  // namespace pmlsm::device
