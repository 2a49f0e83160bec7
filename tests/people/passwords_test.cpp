#include "people/passwords.hpp"

#include <gtest/gtest.h>

#include <set>

#include "welkin/core/error.hpp"
#include "welkin/people/people.hpp"

namespace welkin::people {
namespace {

bool accepted(std::string_view password, std::string_view user = "alice") {
  try {
    require_password(password, user);
    return true;
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Errc::invalid);
    EXPECT_STREQ(e.slug(), "weak_password");
    if (!password.empty() && password != "password")
      EXPECT_EQ(std::string(e.what()).find(password), std::string::npos)
          << "a message must not repeat the password";
    return false;
  }
}

TEST(Passwords, HaveABoundedLength) {
  EXPECT_FALSE(accepted(""));
  EXPECT_FALSE(accepted("Xk3!fq7"));
  EXPECT_TRUE(accepted("Xk3!fq7z"));
  std::string longest;
  for (int i = 0; longest.size() < 1024; ++i) longest += "w" + std::to_string(i * 7919);
  longest.resize(1024);
  EXPECT_TRUE(accepted(longest));
  EXPECT_FALSE(accepted(longest + "x"));
  EXPECT_FALSE(accepted(std::string_view("abc\0defgh", 9)));
  EXPECT_TRUE(accepted("pässwörter im wald"));
  EXPECT_TRUE(accepted("    spaces count    "));
}

TEST(Passwords, RefuseTheCommonOnesInAnyCase) {
  for (const char* word :
       {"password", "PASSWORD", "Passw0rd", "qwertyuiop", "1q2w3e4r", "iloveyou1", "letmein1", "trustno1",
        "admin123", "changeme", "welcome1", "qwerty123", "football"})
    EXPECT_FALSE(accepted(word)) << word;
}

TEST(Passwords, RefuseRunsAndTheUsersName) {
  for (const char* word :
       {"aaaaaaaa", "........", "12345678", "1234567890", "87654321", "abcdefgh", "ABCDEFGHIJ"})
    EXPECT_FALSE(accepted(word)) << word;
  EXPECT_FALSE(accepted("Alexandria", "alexandria"));
  EXPECT_TRUE(accepted("alexandria-9", "alexandria"));
  EXPECT_TRUE(accepted("12345679-x"));
}

TEST(Passwords, OrdinaryGoodOnesPass) {
  for (const char* word :
       {"correct horse battery staple", "TestPassword123!", "s3cure-Enough", "Tr0ub4dor&3"})
    EXPECT_TRUE(accepted(word)) << word;
}

TEST(AppPasswords, AreRandomAndRecognisable) {
  std::set<std::string> seen;
  std::set<char> letters;
  for (int i = 0; i < 200; ++i) {
    const auto secret = make_app_password();
    ASSERT_EQ(secret.size(), 41u);
    ASSERT_EQ(secret.size() % 4, 1u) << "no base64 has this length";
    EXPECT_TRUE(looks_like_app_password(secret));
    EXPECT_FALSE(accepted(secret)) << "an account password of this form would never be looked at";
    EXPECT_EQ(app_password_prefix(secret), secret.substr(0, 11));
    letters.insert(secret.begin() + 7, secret.end());
    EXPECT_TRUE(seen.insert(secret).second);
  }
  EXPECT_EQ(letters.size(), 32u);
}

TEST(AppPasswords, OtherFormsAreNone) {
  const auto secret = make_app_password();
  EXPECT_FALSE(looks_like_app_password(""));
  EXPECT_FALSE(looks_like_app_password("welkin-"));
  EXPECT_FALSE(looks_like_app_password(secret + "a"));
  EXPECT_FALSE(looks_like_app_password(secret.substr(1)));
  EXPECT_TRUE(looks_like_app_password(secret.substr(0, 39))) << "the form of before";
  auto other = secret;
  other.back() = 'L';
  EXPECT_FALSE(looks_like_app_password(other));
}

}  // namespace
}  // namespace welkin::people
