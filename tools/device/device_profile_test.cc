// The model's arithmetic, and what is refused of a profile in a file.
#include "tools/device/device_profile.h"

#include <gtest/gtest.h>

#include <fstream>

#include "pmem/test_dir.h"

namespace pmlsm::device {
namespace {

TEST(DeviceProfileTest, TimeIsTheSumOfItsParts) {
  const DeviceProfile profile = {"any", 100, 10, 1000, 200, 7};
  EXPECT_EQ(ModelledNanos({}, profile), 0);
  EXPECT_EQ(ModelledNanos({5, 2, 0, 0, 0}, profile), 2 * 100 + 3 * 10);
  EXPECT_EQ(ModelledNanos({0, 0, 4, 1, 2}, profile), 1000 + 3 * 200 + 2 * 7);
}

// A line that is flushed twice is in one block twice: there are never fewer lines than blocks, but averages are rounded.
TEST(DeviceProfileTest, FewerLinesThanBlocksCostNoLess) {
  EXPECT_EQ(ModelledNanos({0.5, 1, 0, 0, 0}, {"any", 100, 10, 0, 0, 0}), 100);
}

TEST(DeviceProfileTest, OptaneReadsSlowerThanDramAndItsWritesDependOnItsLoad) {
  const AccessCounts reads = {4, 2, 0, 0, 0};
  const AccessCounts writes = {0, 0, 4, 2, 1};
  const auto nanos = [](const AccessCounts& counts, const std::string& name) {
    for (const DeviceProfile& profile : PresetProfiles()) {
      if (profile.name == name) return ModelledNanos(counts, profile);
    }
    return -1.0;
  };
  EXPECT_EQ(nanos(reads, "dram"), 2 * 80 + 2 * 20);
  EXPECT_EQ(nanos(reads, "optane_idle"), 2 * 175 + 2 * 43.75);
  EXPECT_EQ(nanos(writes, "optane_loaded"), 2 * 2000 + 2 * 500);
  EXPECT_LT(nanos(writes, "optane_idle"), nanos(reads, "optane_idle"));
}

class ProfileFileTest : public testing::Test {
 protected:
  std::string Write(const std::string& text) {
    const std::string file = dir_.Sub("profile.json");
    std::ofstream(file) << text;
    return file;
  }
  std::string ErrorOf(const std::string& text) {
    DeviceProfile profile;
    return ReadProfile(Write(text), &profile).ToString();
  }
  const TestDir dir_;
};

TEST_F(ProfileFileTest, WhatIsWrittenIsRead) {
  const DeviceProfile profile = {"mine", 1, 2, 3, 4.5, 5};
  DeviceProfile read;
  ASSERT_TRUE(ReadProfile(Write(ToJson(profile)), &read).ok());
  EXPECT_EQ(ToJson(read), ToJson(profile));
  EXPECT_EQ(read.name, "mine");
  EXPECT_EQ(read.write_line_ns, 4.5);
}

TEST_F(ProfileFileTest, WhatIsWrongIsNamed) {
  EXPECT_NE(ErrorOf("").find("is not a JSON object"), std::string::npos);
  EXPECT_NE(ErrorOf("[1]").find("is not a JSON object"), std::string::npos);
  EXPECT_NE(ErrorOf("{}").find("name: must be a string"), std::string::npos);
  EXPECT_NE(
      ErrorOf(R"({"name": "a", "read_block_ns": 1})").find("read_line_ns: must be a number from 0 to 1e9"),
      std::string::npos);
  EXPECT_NE(ErrorOf(R"({"name": "a", "read_block_ns": -1})").find("read_block_ns: must be"),
            std::string::npos);
  DeviceProfile profile;
  EXPECT_NE(ReadProfile(dir_.Sub("none"), &profile).ToString().find("cannot be read"), std::string::npos);
}

}  // namespace
}  // namespace pmlsm::device
