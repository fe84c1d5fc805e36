// The command line program.

#include <cstdio>

int main() {
    std::fputs("ballast: no commands yet\n", stderr);
    return 2;
}
