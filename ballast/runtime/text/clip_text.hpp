#pragma once
// From text to the pieces that CLIP's byte-pair encoding works on.

#include <string>
#include <string_view>
#include <vector>

namespace ballast::runtime::text {

/// The special tokens as they may stand in a prompt.
inline constexpr std::string_view kStartOfText = "<|startoftext|>";
inline constexpr std::string_view kEndOfText = "<|endoftext|>";

/// Cleans and cuts a text, as the reference's tokenizer does where no text-fixing library is
/// installed. Special tokens are cut out first. Then control, format, private and unassigned
/// characters and U+FFFD are dropped (so malformed UTF-8 is passed over), white space becomes
/// a blank, CJK ideographs are set apart, the text is normalised (NFC) and lower-cased. Pieces are,
/// first match first: a special token; 's 't 're 've 'm 'll 'd; a run of letters; one number
/// character; a run of anything else but white space. The pieces are UTF-8 and never empty.
std::vector<std::string> clip_pieces(std::string_view text);

}  // namespace ballast::runtime::text
