#include "ballast/engine/formats/io/mapping.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "ballast/engine/core/system_error.hpp"

namespace ballast::formats {
namespace {

/// The system's calls take writable pointers even where they do not write.
void* address_of(std::span<const std::byte> bytes) {
    return const_cast<std::byte*>(bytes.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast)
}

}  // namespace

Result<std::shared_ptr<const Mapping>> Mapping::map(const File& file) {
    const auto size = file.size().count();
    if (size == 0) return std::shared_ptr<const Mapping>(new Mapping({}));
    void* memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.descriptor(), 0);
    if (memory == MAP_FAILED)
        return fail(system_error(file.path(), "cannot map the file into memory", errno));
    return std::shared_ptr<const Mapping>(new Mapping({static_cast<std::byte*>(memory), size}));
}

Mapping::~Mapping() {
    if (!bytes_.empty()) ::munmap(address_of(bytes_), bytes_.size());
}

void Mapping::expect_use(std::uint64_t offset, std::uint64_t size) const {
    if (size == 0) return;
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    const auto begin = offset / page * page;
    const auto part = bytes_.subspan(begin, offset - begin + size);
    // advice only: a refusal costs speed and nothing else
    static_cast<void>(::madvise(address_of(part), part.size(), MADV_WILLNEED));
}

}  // namespace ballast::formats
