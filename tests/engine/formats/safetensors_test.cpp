// What a header may say, and what becomes of it.
#include "ballast/engine/formats/safetensors.hpp"

#include <gtest/gtest.h>

#include "tests/support/safetensors_writer.hpp"

namespace ballast::formats {
namespace {

using ballast::testing::header_member;

Result<TensorDirectory> interpret(std::string_view header, std::uint64_t data_bytes,
                                  const OpenOptions& options = {}) {
    return interpret_safetensors("model.safetensors", header, Bytes{8 + header.size() + data_bytes},
                                 options);
}

Error refusal(std::string_view header, std::uint64_t data_bytes, const OpenOptions& options = {}) {
    const auto opened = interpret(header, data_bytes, options);
    if (opened) {
        ADD_FAILURE() << "accepted: " << header;
        return {};
    }
    EXPECT_EQ(opened.error().code, Code::corrupt_file);
    EXPECT_EQ(opened.error().place.file, "model.safetensors");
    EXPECT_FALSE(opened.error().hint.empty()) << opened.error().why;
    return opened.error();
}

std::string why(std::string_view header, std::uint64_t data_bytes = 16) {
    return refusal(header, data_bytes).why;
}

std::string one(std::string_view members) { return "{\"t\":{" + std::string(members) + "}}"; }

TEST(Safetensors, GivesNameTypeShapeAndPlaceOfEachTensor) {
    const std::string header = "{" + header_member("b", "F16", {2, 3}, 16, 28) + "," +
                               header_member("a", "F32", {4}, 0, 16) + "," +
                               header_member("scalar", "I64", {}, 28, 36) + "}";
    const auto opened = interpret(header, 36);
    ASSERT_TRUE(opened.has_value()) << to_string(opened.error());
    ASSERT_EQ(opened->entries().size(), 3U);
    const auto data = 8 + header.size();
    const auto& a = opened->entries()[0];
    EXPECT_EQ(a.name, "a");
    EXPECT_EQ(a.type, ElementType::f32);
    EXPECT_EQ(a.shape, (std::vector<std::int64_t>{4}));
    EXPECT_EQ(a.offset, data);
    EXPECT_EQ(a.bytes, Bytes{16});
    EXPECT_EQ(opened->entries()[1].name, "b") << "entries are in the order of their bytes";
    EXPECT_EQ(opened->entries()[1].offset, data + 16);
    EXPECT_EQ(opened->entries()[1].elements(), 6);
    EXPECT_TRUE(opened->entries()[2].shape.empty());
    EXPECT_EQ(opened->entries()[2].elements(), 1);
    EXPECT_EQ(opened->tensor_bytes(), Bytes{36});
    EXPECT_TRUE(opened->warnings().empty());
}

TEST(Safetensors, KnowsEveryElementTypeOfTheFormat) {
    struct Known {
        const char* name;
        std::uint64_t bytes_of_eight;
    };
    for (const auto& [name, bytes] :
         {Known{"BOOL", 8}, {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"U8", 8},
          {"I8", 8},        {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"I16", 16},
          {"U16", 16},      {"F16", 16},    {"BF16", 16},   {"I32", 32},    {"U32", 32},
          {"F32", 32},      {"C64", 64},    {"F64", 64},    {"I64", 64},    {"U64", 64}}) {
        const auto opened =
            interpret("{" + header_member("t", name, {2, 4}, 0, bytes) + "}", bytes);
        ASSERT_TRUE(opened.has_value()) << name << ": " << to_string(opened.error());
        EXPECT_EQ(to_string(opened->entries()[0].type), name);
    }
}

TEST(Safetensors, AFileMayHoldNothing) {
    const auto opened = interpret("{}", 0);
    ASSERT_TRUE(opened.has_value());
    EXPECT_TRUE(opened->entries().empty());
}

TEST(Safetensors, MembersComeInAnyOrderAndWithWhiteSpace) {
    const auto opened = interpret(
        "{ \"t\" :\n{\"data_offsets\" : [ 0 , 8 ] ,\t\"shape\":[ 2 ,\r1 ],"
        " \"dtype\" : \"F32\" } } \n  ",
        8);
    ASSERT_TRUE(opened.has_value()) << to_string(opened.error());
    EXPECT_EQ(opened->entries()[0].shape, (std::vector<std::int64_t>{2, 1}));
}

TEST(Safetensors, KeepsMetadata) {
    const auto opened =
        interpret(R"({"__metadata__":{"format":"pt","note":"line 1\nline \u0032","":"x"}})", 0);
    ASSERT_TRUE(opened.has_value()) << to_string(opened.error());
    EXPECT_EQ(opened->metadata(), (std::map<std::string, std::string>{
                                      {"format", "pt"}, {"note", "line 1\nline 2"}, {"", "x"}}));
}

TEST(Safetensors, NamesMayUseAllOfUnicode) {
    const auto opened = interpret(
        "{" + header_member("s\xc3\xa4ule.\xe6\xbc\xa2 \"q\"\\", "U8", {1}, 0, 1) + "}", 1);
    ASSERT_TRUE(opened.has_value()) << to_string(opened.error());
    EXPECT_EQ(opened->entries()[0].name, "s\xc3\xa4ule.\xe6\xbc\xa2 \"q\"\\");
}

TEST(Safetensors, RefusesWhatIsNotAnObjectOfTensors) {
    EXPECT_EQ(why("[]"), "it does not begin with '{'");
    EXPECT_EQ(why(" {}"), "it does not begin with '{'");
    EXPECT_EQ(why("{"), "it ends where '\"' should be");
    EXPECT_EQ(why("{}{}"), "something follows the header's end");
    EXPECT_EQ(why("{} x"), "something follows the header's end");
    EXPECT_EQ(why("{\"t\"}"), "':' is expected");
    EXPECT_EQ(why("{\"t\":7}"), "'{' is expected");
    EXPECT_EQ(why("{\"t\":[[[["), "'{' is expected");
    EXPECT_EQ(why("{" + header_member("t", "U8", {1}, 0, 1) + ",}", 1), "'\"' is expected");
    EXPECT_EQ(why("{" + header_member("t", "U8", {1}, 0, 1), 1), "it ends where '}' should be");
}

TEST(Safetensors, SaysWhereTheHeaderIsWrong) {
    const auto error = refusal(one(R"("dtype":"F32","shape":[2,x],"data_offsets":[0,8])"), 8);
    EXPECT_EQ(error.place.key, "t");
    // 8 bytes of length, then the text up to the x
    EXPECT_EQ(error.place.offset, 8 + std::string(R"({"t":{"dtype":"F32","shape":[2,)").size());
}

TEST(Safetensors, RefusesIncompleteAndRepeatedMembers) {
    EXPECT_EQ(why(one("")), "the tensor has no dtype");
    EXPECT_EQ(why(one(R"("dtype":"U8","data_offsets":[0,1])")), "the tensor has no shape");
    EXPECT_EQ(why(one(R"("dtype":"U8","shape":[1])")), "the tensor has no data_offsets");
    EXPECT_EQ(why(one(R"("dtype":"U8","dtype":"I8","shape":[1],"data_offsets":[0,1])")),
              "the tensor has 'dtype' twice");
    EXPECT_EQ(why(one(R"("shape":[1],"shape":[1])")), "the tensor has 'shape' twice");
    EXPECT_EQ(why(one(R"("data_offsets":[0,1],"data_offsets":[0,1])")),
              "the tensor has 'data_offsets' twice");
    EXPECT_EQ(why(one(R"("stride":[1])")), "a tensor has no member 'stride'");
}

TEST(Safetensors, RefusesMembersOfTheWrongKind) {
    EXPECT_EQ(why(one(R"("dtype":8)")), "'\"' is expected");
    EXPECT_EQ(why(one(R"("shape":4)")), "'[' is expected");
    EXPECT_EQ(why(one(R"("shape":[-4])")), "a number is negative");
    EXPECT_EQ(why(one(R"("shape":[4.0])")), "a number is not whole");
    EXPECT_EQ(why(one(R"("shape":[[4]])")), "a whole number is expected");
    EXPECT_EQ(why(one(R"("data_offsets":[0])")), "',' is expected");
    EXPECT_EQ(why(one(R"("data_offsets":[0,1,2])")), "']' is expected");
    EXPECT_EQ(why(one(R"("data_offsets":[-8,0])")), "a number is negative");
}

TEST(Safetensors, RefusesTensorsOfOneName) {
    const auto twice = "{" + header_member("same", "U8", {1}, 0, 1) + "," +
                       header_member("other", "U8", {1}, 1, 2) + "," +
                       header_member("same", "U8", {1}, 2, 3) + "}";
    EXPECT_EQ(why(twice, 3), "two tensors are called 'same'");
    const auto spelled_differently =
        "{" + header_member("a", "U8", {1}, 0, 1) +
        R"(,"\u0061":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})";
    EXPECT_EQ(why(spelled_differently, 2), "two tensors are called 'a'");
    const auto at_one_place =
        "{" + header_member("a", "U8", {0}, 0, 0) + "," + header_member("a", "U8", {0}, 0, 0) + "}";
    EXPECT_EQ(why(at_one_place, 0), "two tensors are called 'a'");
    const auto overlapping =
        "{" + header_member("a", "U8", {1}, 0, 1) + "," + header_member("a", "U8", {1}, 0, 1) + "}";
    EXPECT_EQ(why(overlapping, 1), "two tensors are called 'a'");
}

TEST(Safetensors, RefusesControlCharactersInNames) {
    for (const auto name : {R"(a\u0000b)", R"(\n)", R"(\u001b[31m)", R"(\u007f)", R"(\u0085)"}) {
        const auto error = refusal("{\"" + std::string(name) + "\":{}}", 0);
        EXPECT_EQ(error.why, "the tensor's name contains control characters");
        const auto line = to_string(error);
        EXPECT_EQ(line.find_first_of("\n\x1b\x7f"), std::string::npos) << line;
        EXPECT_EQ(line.find("\xc2\x85"), std::string::npos) << line;
    }
}

TEST(Safetensors, RefusesMetadataOtherThanTexts) {
    EXPECT_EQ(why(R"({"__metadata__":[]})"), "'{' is expected");
    EXPECT_EQ(why(R"({"__metadata__":null})"), "'{' is expected");
    EXPECT_EQ(why(R"({"__metadata__":{"steps":12}})"), "'\"' is expected");
    EXPECT_EQ(why(R"({"__metadata__":{"a":{"b":"c"}}})"), "'\"' is expected");
    EXPECT_EQ(why(R"({"__metadata__":{"a":"1","a":"2"}})"), "the metadata have 'a' twice");
    EXPECT_EQ(why(R"({"__metadata__":{},"__metadata__":{}})"),
              "the metadata stand in the header twice");
}

TEST(Safetensors, BoundsTheNumberOfMetadataAndAxes) {
    std::string metadata = "{\"__metadata__\":{";
    for (int i = 0; i <= 100'000; ++i)
        metadata += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":\"\"";
    EXPECT_EQ(why(metadata + "}}", 0), "more than 100000 metadata");

    const auto axes = [](std::size_t count) {
        return "{" + header_member("t", "U8", std::vector<std::int64_t>(count, 1), 0, 1) + "}";
    };
    EXPECT_TRUE(interpret(axes(64), 1).has_value());
    EXPECT_EQ(why(axes(65), 1), "the shape has more than 64 axes");
}

TEST(Safetensors, ATensorsBytesAreShapeTimesType) {
    EXPECT_EQ(why("{" + header_member("t", "F32", {1000, 1000}, 0, 4) + "}", 4),
              "shape [1000,1000] of F32 needs 4000000 bytes, but the file has 4 for it");
    EXPECT_EQ(why("{" + header_member("t", "F32", {}, 0, 0) + "}", 0),
              "shape [] of F32 needs 4 bytes, but the file has 0 for it");
    EXPECT_EQ(why("{" + header_member("t", "F32", {3, 0}, 0, 4) + "}", 4),
              "shape [3,0] of F32 needs 0 bytes, but the file has 4 for it");
    EXPECT_EQ(why("{" + header_member("t", "F4", {3}, 0, 2) + "}", 2),
              "3 elements of F4 fill no whole bytes");
    EXPECT_EQ(why("{" + header_member("t", "F6_E2M3", {5}, 0, 4) + "}", 4),
              "5 elements of F6_E2M3 fill no whole bytes");
    EXPECT_EQ(why("{" + header_member("t", "F16", {4}, 16, 0) + "}"),
              "its bytes end at 0, before they begin at 16");
}

TEST(Safetensors, NoProductOverflows) {
    const auto shaped = [](std::string_view sizes) {
        return one(R"("dtype":"F64","data_offsets":[0,0],"shape":[)" + std::string(sizes) + "]");
    };
    const std::string beyond = "the shape has more elements than 63 bits can count";
    EXPECT_EQ(why(shaped("4294967296,4294967296")), beyond) << "wraps to 0 in 64 bits";
    EXPECT_EQ(why(shaped("9223372036854775808")), beyond);
    EXPECT_EQ(why(shaped("0,4294967296,4294967296")), beyond) << "strides would overflow";
    EXPECT_EQ(why(shaped("18446744073709551616")), "a number is beyond 64 bits");
    EXPECT_EQ(why(shaped("4611686018427387904")),
              "4611686018427387904 elements of F64 fill no whole bytes")
        << "its bytes overflow";
}

TEST(Safetensors, RefusesUnknownTypesByTensorAndName) {
    EXPECT_EQ(why("{" + header_member("blocks.0", "F7", {2}, 0, 2) + "}", 2),
              "tensor 'blocks.0' has the unknown element type 'F7'");
    EXPECT_EQ(why("{" + header_member("t", "f32", {1}, 0, 4) + "}", 4),
              "tensor 't' has the unknown element type 'f32'");
}

TEST(Safetensors, RangesAreCheckedWhateverTheTypeIs) {
    EXPECT_EQ(why("{" + header_member("t", "F7", {2}, 0, 64) + "}", 16).substr(0, 9), "truncated");
    EXPECT_EQ(why("{" + header_member("t", "F7", {2}, 8, 0) + "}"),
              "its bytes end at 0, before they begin at 8");
    EXPECT_EQ(why(R"({"t":{"dtype":"F7","shape":[2],)"
                  R"("data_offsets":[18446744073709551600,18446744073709551608]}})"),
              "its bytes would end at 18446744073709551608, far beyond any file");
}

TEST(Safetensors, ShortensLongNamesInMessages) {
    const std::string name(100'000, 'n');
    const auto error = refusal("{" + header_member(name, "F7", {2}, 0, 2) + "}", 2);
    EXPECT_LT(to_string(error).size(), 1000U);
    const auto broken = refusal("{\"" + name + "\":0}", 2);
    EXPECT_LT(to_string(broken).size(), 1000U);
}

}  // namespace
}  // namespace ballast::formats
