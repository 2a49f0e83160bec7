#include "welkin/core/metrics.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "http/http_metrics.hpp"

namespace welkin::metrics {
namespace {

TEST(Metrics, RendersFamiliesTogetherWithTheirLabels) {
  Counter a("test_things_total", "Things counted", "kind=\"a\"");
  Gauge level("test_level", "A level");
  Counter b("test_things_total", "Things counted", "kind=\"b\"");
  Counter seconds("test_seconds_total", "Time", "", 1e-6);
  a.add(3);
  b.add();
  level.set(-2);
  seconds.add(1'500'000);
  const auto out = render();
  EXPECT_NE(out.find("# HELP test_things_total Things counted\n# TYPE test_things_total counter\n"
                     "test_things_total{kind=\"a\"} 3\ntest_things_total{kind=\"b\"} 1\n"),
            out.npos)
      << out;
  EXPECT_NE(out.find("# TYPE test_level gauge\ntest_level -2\n"), out.npos);
  EXPECT_NE(out.find("\ntest_seconds_total 1.5\n"), out.npos);
}

TEST(Metrics, WhatIsGoneIsNotRendered) {
  {
    Counter gone("test_gone_total", "x");
  }
  EXPECT_EQ(render().find("test_gone_total"), std::string::npos);
}

TEST(Metrics, CountsFromManyThreads) {
  Counter c("test_threads_total", "x");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&c] {
      for (int n = 0; n < 10'000; ++n) c.add();
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(c.value(), 40'000u);
}

TEST(Metrics, LabelValuesAreEscaped) {
  EXPECT_EQ(label("a\"b\\c\nd"), "a\\\"b\\\\c\\nd");
  http::route_metrics("test.\"route\"").requests.add();
  EXPECT_NE(render().find("welkin_http_route_requests_total{route=\"test.\\\"route\\\"\"} 1\n"),
            std::string::npos);
  EXPECT_EQ(&http::route_metrics("test.same"), &http::route_metrics("test.same"));
}

}  // namespace
}  // namespace welkin::metrics
