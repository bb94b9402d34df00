// GoogleTest matchers for Result. Include from *_test.cpp only.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "base/result.h"

namespace headrace {

inline std::ostream& operator<<(std::ostream& os, const Error& e) { return os << slug(e.code) << ": " << e.text(); }

namespace testing {

MATCHER(IsOk, negation ? "is an error" : "is ok") {
  if (arg.has_value()) return true;
  *result_listener << "error " << slug(arg.error().code) << ": " << arg.error().text();
  return false;
}

MATCHER_P2(IsError, code, message, "") {
  if (arg.has_value()) {
    *result_listener << "which is ok";
    return false;
  }
  *result_listener << "error " << slug(arg.error().code) << ": " << arg.error().text();
  return arg.error().code == code && ::testing::ExplainMatchResult(message, arg.error().text(), result_listener);
}

}  // namespace testing
}  // namespace headrace

#define ASSERT_OK(expr) ASSERT_THAT(expr, ::headrace::testing::IsOk())
#define EXPECT_OK(expr) EXPECT_THAT(expr, ::headrace::testing::IsOk())
// ASSERT_OK_AND_ASSIGN(auto v, f());
#define ASSERT_OK_AND_ASSIGN(decl, expr) ASSERT_OK_AND_ASSIGN_(decl, expr, HR_CONCAT(hr_assign_, __COUNTER__))
#define ASSERT_OK_AND_ASSIGN_(decl, expr, tmp)        \
  auto tmp = (expr);                                  \
  ASSERT_TRUE(tmp.has_value()) << tmp.error().text(); \
  decl = *std::move(tmp)
