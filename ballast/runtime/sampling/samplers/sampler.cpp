#include "ballast/runtime/sampling/samplers/sampler.hpp"

#include <array>
#include <string>

#include "ballast/runtime/tensor/failure.hpp"

namespace ballast::runtime::sampling {
namespace {

constexpr std::array kSamplers{
    SamplerRow{"euler", &euler},
    SamplerRow{"euler_cfg_pp"},
    SamplerRow{"euler_ancestral", &euler_ancestral},
    SamplerRow{"euler_ancestral_cfg_pp"},
    SamplerRow{"heun", &heun},
    SamplerRow{"heunpp2"},
    SamplerRow{"exp_heun_2_x0"},
    SamplerRow{"exp_heun_2_x0_sde"},
    SamplerRow{"dpm_2", &dpm_2},
    SamplerRow{"dpm_2_ancestral", &dpm_2_ancestral},
    SamplerRow{"lms", &lms},
    SamplerRow{"dpm_fast"},
    SamplerRow{"dpm_adaptive"},
    SamplerRow{"dpmpp_2s_ancestral", &dpmpp_2s_ancestral},
    SamplerRow{"dpmpp_2s_ancestral_cfg_pp"},
    SamplerRow{"dpmpp_sde"},
    SamplerRow{"dpmpp_sde_gpu"},
    SamplerRow{"dpmpp_2m", &dpmpp_2m},
    SamplerRow{"dpmpp_2m_cfg_pp"},
    SamplerRow{"dpmpp_2m_sde"},
    SamplerRow{"dpmpp_2m_sde_gpu"},
    SamplerRow{"dpmpp_2m_sde_heun"},
    SamplerRow{"dpmpp_2m_sde_heun_gpu"},
    SamplerRow{"dpmpp_3m_sde"},
    SamplerRow{"dpmpp_3m_sde_gpu"},
    SamplerRow{"ddpm", &ddpm},
    SamplerRow{"lcm", &lcm},
    SamplerRow{"ipndm"},
    SamplerRow{"ipndm_v"},
    SamplerRow{"deis"},
    SamplerRow{"res_multistep"},
    SamplerRow{"res_multistep_cfg_pp"},
    SamplerRow{"res_multistep_ancestral"},
    SamplerRow{"res_multistep_ancestral_cfg_pp"},
    SamplerRow{"gradient_estimation"},
    SamplerRow{"gradient_estimation_cfg_pp"},
    SamplerRow{"er_sde"},
    SamplerRow{"seeds_2"},
    SamplerRow{"seeds_3"},
    SamplerRow{"sa_solver"},
    SamplerRow{"sa_solver_pece"},
    SamplerRow{"ddim", &euler, InpaintNoise::fresh},
    SamplerRow{"uni_pc", &uni_pc},
    SamplerRow{"uni_pc_bh2", &uni_pc_bh2},
};

std::string available() {
    std::string names;
    for (const auto& row : kSamplers) {
        if (row.run == nullptr) continue;
        if (!names.empty()) names += ", ";
        names += row.name;
    }
    return names;
}

}  // namespace

std::span<const SamplerRow> samplers() { return kSamplers; }

const SamplerRow& sampler_of(std::string_view name) {
    for (const auto& row : kSamplers) {
        if (row.name != name) continue;
        if (row.run != nullptr) return row;
        throw Failure(Error{.code = Code::not_available,
                            .what = "cannot sample",
                            .why = "the sampler " + std::string(name) + " is not available yet",
                            .place = {.key = "sampler_name"},
                            .hint = "use one of: " + available()});
    }
    return kSamplers.front();
}

}  // namespace ballast::runtime::sampling
