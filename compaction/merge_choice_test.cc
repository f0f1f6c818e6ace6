#include "compaction/merge_choice.h"

#include <gtest/gtest.h>

namespace pmlsm {
namespace {

constexpr auto k2Way = MergeOrder::k2Way;
constexpr auto kKWay = MergeOrder::kKWay;
constexpr int kLevel = 1;
constexpr size_t kInputs = 8;

MergeChooser On(Medium medium, FailureAtomicity atomicity = FailureAtomicity::kIndividual) {
  MergeChooser::Setting setting;
  setting.medium = medium;
  setting.atomicity = atomicity;
  return MergeChooser(setting);
}

// The order of the next merge, after one that dropped `percent` of its entries.
MergeOrder OrderAfter(MergeChooser* chooser, uint64_t percent) {
  for (int i = 0; i < 10; ++i) chooser->NoteMerge(kLevel, 100000, 1000 * percent);
  return chooser->Choose(kLevel, kInputs).order;
}

TEST(MergeChooserTest, OnlyTransactionsAreWorthABuffer) {
  for (const auto medium : {Medium::kDax, Medium::kTmpfs, Medium::kFile}) {
    EXPECT_EQ(On(medium, FailureAtomicity::kTransaction).destination(), MergeDestination::kBuffered);
    EXPECT_EQ(On(medium, FailureAtomicity::kIndividual).destination(), MergeDestination::kDirect);
    EXPECT_EQ(On(medium, FailureAtomicity::kAtomic).destination(), MergeDestination::kDirect);
  }
}

TEST(MergeChooserTest, TwoInputsNeedNoTreeAnywhere) {
  for (const auto medium : {Medium::kDax, Medium::kTmpfs, Medium::kFile}) {
    MergeChooser chooser = On(medium);
    EXPECT_EQ(chooser.Choose(kLevel, 2).order, k2Way);
    chooser.NoteMerge(kLevel, 1000, 1000);
    EXPECT_EQ(chooser.Choose(kLevel, 2).order, k2Way);
    EXPECT_EQ(chooser.Choose(kLevel, 1).order, k2Way);
  }
}

TEST(MergeChooserTest, ManyInputsAreMergedKWayButOnDaxWithFewDuplicates) {
  for (const auto medium : {Medium::kTmpfs, Medium::kFile}) {
    MergeChooser chooser = On(medium);
    EXPECT_EQ(OrderAfter(&chooser, 0), kKWay);
    EXPECT_EQ(OrderAfter(&chooser, 50), kKWay);
  }
  MergeChooser dax = On(Medium::kDax);
  EXPECT_EQ(dax.Choose(kLevel, kInputs).order, k2Way) << "nothing measured counts as unique";
  EXPECT_EQ(OrderAfter(&dax, 0), k2Way);
  EXPECT_EQ(dax.Choose(kLevel, kInputs + 1).order, kKWay) << "a deep tree costs too much";
  EXPECT_EQ(OrderAfter(&dax, 50), kKWay);
  EXPECT_EQ(OrderAfter(&dax, 0), k2Way);
}

TEST(MergeChooserTest, AShareBetweenTheThresholdsChangesNothing) {
  MergeChooser chooser = On(Medium::kDax);
  EXPECT_EQ(OrderAfter(&chooser, 20), k2Way);
  EXPECT_EQ(OrderAfter(&chooser, 24), k2Way);
  EXPECT_EQ(OrderAfter(&chooser, 26), kKWay);
  EXPECT_EQ(OrderAfter(&chooser, 24), kKWay);
  EXPECT_EQ(OrderAfter(&chooser, 16), kKWay);
  EXPECT_EQ(OrderAfter(&chooser, 14), k2Way);
  EXPECT_EQ(OrderAfter(&chooser, 24), k2Way);
}

TEST(MergeChooserTest, LargeMergesWeighMoreAndOldOnesFade) {
  MergeChooser chooser = On(Medium::kDax);
  chooser.NoteMerge(kLevel, 1000000, 500000);
  chooser.NoteMerge(kLevel, 10, 0);
  EXPECT_EQ(chooser.Choose(kLevel, kInputs).order, kKWay) << "ten entries do not outweigh a million";
  for (int i = 0; i < 3; ++i) chooser.NoteMerge(kLevel, 1000000, 0);
  EXPECT_EQ(chooser.Choose(kLevel, kInputs).order, k2Way);
  chooser.NoteMerge(kLevel, 0, 0);  // tables were only moved
  EXPECT_EQ(chooser.Choose(kLevel, kInputs).order, k2Way);
}

TEST(MergeChooserTest, EachLevelHasItsShareAndANewOneThatOfAll) {
  MergeChooser chooser = On(Medium::kDax);
  chooser.NoteMerge(1, 1000, 0);
  chooser.NoteMerge(2, 9000, 8000);
  EXPECT_EQ(chooser.Choose(1, kInputs).order, k2Way);
  EXPECT_EQ(chooser.Choose(2, kInputs).order, kKWay);
  EXPECT_EQ(chooser.Choose(3, kInputs).order, kKWay);
}

TEST(MergeChooserTest, WhatTheOptionsSetStaysAndTheOtherIsChosen) {
  MergeChooser::Setting setting;
  setting.medium = Medium::kTmpfs;
  setting.atomicity = FailureAtomicity::kTransaction;
  setting.order = k2Way;
  const MergeChoice fixed_order = MergeChooser(setting).Choose(kLevel, kInputs);
  EXPECT_EQ(fixed_order.order, k2Way);
  EXPECT_EQ(fixed_order.destination, MergeDestination::kBuffered);
  EXPECT_NE(fixed_order.reason.find("2way (set by merge_order)"), std::string::npos) << fixed_order.reason;

  setting.order = MergeOrder::kAuto;
  setting.destination = MergeDestination::kDirect;
  const MergeChoice fixed_destination = MergeChooser(setting).Choose(kLevel, kInputs);
  EXPECT_EQ(fixed_destination.order, kKWay);
  EXPECT_EQ(fixed_destination.destination, MergeDestination::kDirect);
  EXPECT_NE(fixed_destination.reason.find("direct (set by merge_destination)"), std::string::npos);
}

TEST(MergeChooserTest, ToStringShowsInputsCountsAndTheLastChoices) {
  MergeChooser chooser = On(Medium::kDax);
  EXPECT_NE(chooser.ToString().find("Duplicates measured: none yet\n"), std::string::npos);
  for (int i = 0; i < 20; ++i) (void)chooser.Choose(kLevel, 3);
  chooser.NoteMerge(kLevel, 100, 50);
  (void)chooser.Choose(kLevel, 3);
  const std::string text = chooser.ToString();
  EXPECT_NE(text.find("Medium: DAX, failure atomicity: individual, merge_order: auto"), std::string::npos);
  EXPECT_NE(text.find("Duplicates measured: 50 %, into level 1: 50 %\n"), std::string::npos) << text;
  EXPECT_NE(text.find("Chosen 2way direct: 20\n"), std::string::npos) << text;
  EXPECT_NE(text.find("Chosen kway direct: 1\n"), std::string::npos) << text;
  EXPECT_NE(
      text.find("Choice 21: 3 runs into level 1: kway (50 % duplicates in merges into this level), direct"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("Choice 6: "), std::string::npos) << text;
  EXPECT_EQ(text.find("Choice 5: "), std::string::npos) << "the last 16 are kept";
  EXPECT_LT(text.find("Choice 21: "), text.find("Choice 20: ")) << "newest first";
}

}  // namespace
}  // namespace pmlsm
