#pragma once
// How drivers hand out texts.

namespace ballast::testing {

/// Writes at most `length` characters; without an end if `text` fills them, as a careless driver.
inline void careless_copy(const char* text, char* target, int length) {
    for (int i = 0; i < length; ++i) {
        target[i] = text[i];
        if (text[i] == '\0') return;
    }
}

}  // namespace ballast::testing
