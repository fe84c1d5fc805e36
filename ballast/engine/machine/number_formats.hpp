#pragma once
// Number formats that networks are kept and computed in, and which of them a device is good for.
//
// Pure functions of the device's description and the user's options; the tables are those of
// ComfyUI 0.8.0, so that a checkpoint is computed in the same format here and there. A device whose
// capability nobody could say is judged by the formats it reports, and by nothing else.

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "ballast/engine/core/bytes.hpp"
#include "ballast/engine/machine/options.hpp"
#include "ballast/engine/machine/profile.hpp"

namespace ballast::machine {

/// The floating-point formats of weights; `ElementType` has all formats of files.
enum class NumberFormat { fp32, fp64, fp16, bf16, fp8_e4m3fn, fp8_e5m2, fp8_e8m0fnu };

/// "fp8_e4m3fn" and so on, as the command line spells it.
std::string_view to_string(NumberFormat format);
std::optional<NumberFormat> parse_number_format(std::string_view text);

/// Bytes of one number; 4 when the format is unknown, as in a file that mixes several.
Bytes bytes_of(std::optional<NumberFormat> format);

bool is_fp8(NumberFormat format);

// The orders in which networks prefer the formats they work in.
inline constexpr auto kFp16First =
    std::to_array({NumberFormat::fp16, NumberFormat::bf16, NumberFormat::fp32});
inline constexpr auto kBf16First =
    std::to_array({NumberFormat::bf16, NumberFormat::fp16, NumberFormat::fp32});
inline constexpr auto kBf16Only = std::to_array({NumberFormat::bf16, NumberFormat::fp32});

/// Whether a format is worth using: of what device, and for what.
struct FormatQuestion {
    DeviceProfile device{};
    /// False: the question is about the machine as a whole, and `device` is its primary one. A
    /// processor that is asked for by name never computes in 16 bits, even under --force-fp16.
    bool is_named = true;
    System system = System::gnu_linux;
    std::string system_version{};  ///< "14.5" on macOS; empty: unknown
    FormatOptions options{};
    double params = 0;                   ///< parameters of the model
    bool prioritise_performance = true;  ///< false: a slow format is as good, if it saves memory
    bool manual_cast = false;            ///< weights are cast to another format as they are used
    double max_weights = 0;              ///< bytes, see `max_weights`
};

/// Bytes of `device` that weights may take when formats are chosen: 0.88 of the total, less the
/// least for inference; negative on tiny devices. An unknown total counts as zero, so that what
/// may not fit is kept small.
double max_weights(const DeviceProfile& device, double min_inference);

/// The question about `device` of `machine` under the user's options; parameters, priority and
/// manual cast stay as they are by default.
FormatQuestion question_about(const DeviceProfile& device, const MachineProfile& machine,
                              const MemoryOptions& options);

/// Whether fp16 is usable; the first row that matches decides:
///
/// | row | test | answer |
/// |---|---|---|
/// | 1 | a processor, named | no |
/// | 2, 3 | --force-fp16; --force-fp32 | yes; no |
/// | 4, 5 | DirectML, Metal | yes |
/// | 6 | a processor | no |
/// | 7 | Intel GPU | if it reports fp16 |
/// | 8, 9 | NPU, MLU, CoreX; AMD | yes |
/// | 10, 11 | capability 8 or more; less than 6 | yes; no |
/// | 12 | the name is of the GeForce 10 series or its like | on Windows or with manual cast |
/// | 13 | manual cast, and performance is no priority or 4 * params > max_weights | yes |
/// | 14 | capability less than 7 | no |
/// | 15 | the name is of the GeForce 16 series or its like, where fp16 is broken | no |
/// | 16 | otherwise | yes |
///
/// Unknown capability: rows 10 to 16 give way to whether the device reports fp16.
bool fp16_usable(const FormatQuestion& question);

/// Whether bf16 is usable; the first row that matches decides:
///
/// | row | test | answer |
/// |---|---|---|
/// | 1, 2 | a processor, named; --force-fp32 or DirectML | no |
/// | 3 | Metal | from macOS 14 |
/// | 4 | a processor | no |
/// | 5 | Intel GPU | if it reports bf16 |
/// | 6 | NPU, CoreX | yes |
/// | 7 | AMD up to RDNA 2 | with manual cast |
/// | 8, 9 | MLU above capability 3; capability 8 or more | yes |
/// | 10 | reports bf16, manual cast, and performance is no priority or 4 * params > max_weights |
/// yes | | 11 | otherwise | no |
///
/// Unknown capability or version of macOS: rows 3 and 7 to 11 give way to whether the device
/// reports bf16.
bool bf16_usable(const FormatQuestion& question);

/// Whether the device multiplies matrices of fp8: --supports-fp8-compute, NVIDIA from capability
/// 8.9, AMD gfx1200, gfx1201 and gfx950; unknown capability: if it reports fp8.
bool has_hardware_fp8(const DeviceProfile& device, const FormatOptions& options);

/// Whether the device multiplies NVIDIA's 4-bit blocks: NVIDIA from capability 10; unknown
/// capability: if it reports nvfp4.
bool has_nvfp4(const DeviceProfile& device);

}  // namespace ballast::machine
