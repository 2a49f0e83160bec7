#pragma once
#include <cstdint>

/// Type numbers of PostgreSQL's catalogue (pg_type.dat); they never change.
namespace welkin::db::oid {

constexpr std::uint32_t kBool = 16, kBytea = 17, kChar = 18, kName = 19, kInt8 = 20, kInt2 = 21, kInt4 = 23,
                        kText = 25, kOid = 26, kJson = 114, kFloat4 = 700, kFloat8 = 701, kUnknown = 705,
                        kBpchar = 1042, kVarchar = 1043, kTimestamptz = 1184, kUuid = 2950, kJsonb = 3802,
                        kXid8 = 5069;
constexpr std::uint32_t kByteaArray = 1001, kNameArray = 1003, kInt2Array = 1005, kInt4Array = 1007,
                        kTextArray = 1009, kVarcharArray = 1015, kInt8Array = 1016, kUuidArray = 2951;

}  // namespace welkin::db::oid
