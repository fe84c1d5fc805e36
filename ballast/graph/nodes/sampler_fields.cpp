#include "ballast/graph/nodes/sampler_fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <utility>

#include "ballast/graph/available.hpp"

namespace ballast::graph::nodes {

namespace {

constexpr std::int64_t kMaxSteps = 10000;

std::vector<std::string> sampler_names() {
    return {"euler",
            "euler_cfg_pp",
            "euler_ancestral",
            "euler_ancestral_cfg_pp",
            "heun",
            "heunpp2",
            "exp_heun_2_x0",
            "exp_heun_2_x0_sde",
            "dpm_2",
            "dpm_2_ancestral",
            "lms",
            "dpm_fast",
            "dpm_adaptive",
            "dpmpp_2s_ancestral",
            "dpmpp_2s_ancestral_cfg_pp",
            "dpmpp_sde",
            "dpmpp_sde_gpu",
            "dpmpp_2m",
            "dpmpp_2m_cfg_pp",
            "dpmpp_2m_sde",
            "dpmpp_2m_sde_gpu",
            "dpmpp_2m_sde_heun",
            "dpmpp_2m_sde_heun_gpu",
            "dpmpp_3m_sde",
            "dpmpp_3m_sde_gpu",
            "ddpm",
            "lcm",
            "ipndm",
            "ipndm_v",
            "deis",
            "res_multistep",
            "res_multistep_cfg_pp",
            "res_multistep_ancestral",
            "res_multistep_ancestral_cfg_pp",
            "gradient_estimation",
            "gradient_estimation_cfg_pp",
            "er_sde",
            "seeds_2",
            "seeds_3",
            "sa_solver",
            "sa_solver_pece",
            "ddim",
            "uni_pc",
            "uni_pc_bh2"};
}

}  // namespace

InputDeclaration sampler_name(std::string tooltip) {
    return available_if(&is_ported_sampler,
                        fmt::format("use one of: {}", fmt::join(kPortedSamplers, ", ")),
                        choice("sampler_name", sampler_names(), std::move(tooltip)));
}

std::vector<std::string> scheduler_names() {
    return {"simple", "sgm_uniform", "karras",           "exponential", "ddim_uniform",
            "beta",   "normal",      "linear_quadratic", "kl_optimal"};
}

InputDeclaration seed(std::string name, std::string tooltip) {
    return {.name = std::move(name),
            .field = IntegerField{.max = std::numeric_limits<std::uint64_t>::max(),
                                  .seed = SeedControl::after_generate},
            .tooltip = std::move(tooltip)};
}

InputDeclaration steps(std::string tooltip) {
    return {.name = "steps",
            .field = IntegerField{.default_value = 20, .min = 1, .max = kMaxSteps},
            .tooltip = std::move(tooltip)};
}

InputDeclaration step_number(std::string name, std::int64_t default_value) {
    return {.name = std::move(name),
            .field = IntegerField{.default_value = default_value, .max = kMaxSteps}};
}

InputDeclaration cfg(std::string tooltip) {
    return {.name = "cfg",
            .field = NumberField{.default_value = 8.0,
                                 .max = 100.0,
                                 .step = 0.1,
                                 .round = {Rounding::Kind::to_multiple, 0.01}},
            .tooltip = std::move(tooltip)};
}

InputDeclaration denoise(std::string tooltip) {
    return {.name = "denoise",
            .field = NumberField{.default_value = 1.0, .max = 1.0},
            .tooltip = std::move(tooltip)};
}

}  // namespace ballast::graph::nodes
