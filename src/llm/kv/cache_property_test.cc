// SPDX-License-Identifier: Apache-2.0
// What holds for every cache, whatever its options and whatever happens to it.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "llm/kv/test_machine.h"

namespace rc {

template <>
struct Arbitrary<nereid::kv::Event> {
  static Gen<nereid::kv::Event> arbitrary() {
    using nereid::kv::Event;
    return gen::build<Event>(gen::set(&Event::kind, gen::cast<Event::Kind>(gen::inRange<int>(0, Event::kKinds))),
                             gen::set(&Event::a, gen::inRange<uint32_t>(0, 1000)),
                             gen::set(&Event::b, gen::inRange<uint32_t>(0, 1000)),
                             gen::set(&Event::c, gen::inRange<uint32_t>(0, 1000)));
  }
};

}  // namespace rc

namespace nereid::kv {
namespace {

TEST(CacheProperty, its_books_agree_and_every_sequence_finds_what_it_computed) {
  EXPECT_TRUE(rc::check([] {
    const auto events = *rc::gen::resize(1000, rc::gen::arbitrary<std::vector<Event>>());
    CacheOptions o;
    o.page_tokens = *rc::gen::inRange(1, 20);
    o.pages = *rc::gen::inRange(1, 40);
    o.sequences = *rc::gen::inRange(1, 7);
    o.host_pages = *rc::gen::inRange(0, 20);
    const int32_t window = *rc::gen::inRange(0, 60);
    o.window = window < 2 * o.page_tokens ? 0 : window;
    o.sinks = *rc::gen::inRange(0, 30);
    o.rollback = *rc::gen::inRange(0, 10);
    TestMachine machine(o);
    for (const Event& e : events) {
      RC_ASSERT(machine.apply(e) == "");
      RC_ASSERT(machine.audit() == "");
    }
    RC_ASSERT(machine.finish() == "");
  }));
}

}  // namespace
}  // namespace nereid::kv
