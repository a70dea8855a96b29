// SPDX-License-Identifier: Apache-2.0
// NVIDIA GPUs: card, kernel module, driver library, fabric manager, toolkit, NCCL, containers. Nereid needs none of
// them, so the worst that is said here is "missing".
#include <array>

#include "base/progress.h"
#include "cli/doctor_parse.h"
#include "cli/doctor_probes.h"
#include "runtime/device/device_accelerator.h"

namespace nereid::cli {
namespace {

constexpr std::string_view kNvidiaVendor = "0x10de";
constexpr std::string_view kDisplayClass = "0x03";   // display and 3D controllers
constexpr std::string_view kBridgeClass = "0x0680";  // NVSwitch

// What cuInit answers when it does not work, as the driver's documentation numbers it.
struct CudaError {
  int code;
  std::string_view meaning, advice;
};
constexpr std::array kCudaErrors = {
    CudaError{100, "no GPU is visible", "check `nvidia-smi -L`, and CUDA_VISIBLE_DEVICES"},
    CudaError{101, "the GPU asked for does not exist", "check CUDA_VISIBLE_DEVICES"},
    CudaError{802, "the system is not yet initialised: on machines with NVSwitch the fabric manager has to run",
              "sudo systemctl enable --now nvidia-fabricmanager"},
    CudaError{803, "the driver library and the kernel module do not belong together",
              "reboot, or install both in the same version"},
    CudaError{804, "the forward-compatibility package does not fit this GPU", "remove the package cuda-compat"},
    CudaError{999, "the driver failed for a reason it does not tell", "look into `sudo dmesg | grep -i nvrm`; reboot"},
};

Finding gpu(std::string name, std::string value, Health health = Health::kFine, std::string advice = "") {
  return {.section = "gpu",
          .name = std::move(name),
          .value = std::move(value),
          .health = health,
          .advice = std::move(advice)};
}

struct Cards {
  int gpus = 0, switches = 0;
};
Cards count_cards(const DoctorSystem& system) {
  Cards cards;
  const std::string folder = "/sys/bus/pci/devices/";
  for (const std::string& device : system.list(folder)) {
    if (!system.read(folder + device + "/vendor").value_or("").starts_with(kNvidiaVendor)) continue;
    const std::string kind = system.read(folder + device + "/class").value_or("");
    cards.gpus += kind.starts_with(kDisplayClass);
    cards.switches += kind.starts_with(kBridgeClass);
  }
  return cards;
}

std::string major_of(const std::string& version) {
  return version.substr(0, version.find('.'));
}

void examine_driver(const DoctorSystem& system, const Cards& cards, const std::string& module, Findings& findings) {
  if (module.empty()) {
    findings.push_back(
        gpu("kernel module", "not loaded", Health::kMissing,
            system.exists("/sys/module/nouveau")
                ? "nouveau holds the card: install NVIDIA's driver (sudo apt install nvidia-open) and reboot"
                : "sudo apt install nvidia-open (or your distribution's driver package), then reboot"));
  } else {
    findings.push_back(gpu("kernel module", module));
  }
  const std::optional<CudaDriver> driver = system.cuda();
  if (!driver) {
    findings.push_back(gpu("driver library", "libcuda.so.1 is not there", Health::kMissing,
                           module.empty()
                               ? "it comes with the driver"
                               : "in a container: start it with the NVIDIA runtime (docker run --gpus all)"));
    return;
  }
  if (driver->error == 0) {
    findings.push_back(gpu("driver library", fmt::format("CUDA {}", cuda_version_text(driver->version))));
    for (const std::string& name : driver->devices) findings.push_back(gpu("device", name));
    return;
  }
  Finding f = gpu("driver library", fmt::format("cuInit fails with error {}", driver->error), Health::kMissing);
  for (const CudaError& e : kCudaErrors) {
    if (e.code != driver->error) continue;
    f.value += fmt::format(": {}", e.meaning);
    f.advice = e.advice;
  }
  if (!module.empty() && !driver->library_version.empty() && driver->library_version != module)
    f.value += fmt::format(" (library {}, kernel module {})", driver->library_version, module);
  if (driver->error == 100 && cards.gpus == 0) f.advice = "this machine has no NVIDIA GPU";
  findings.push_back(std::move(f));
}

// Only machines with NVSwitch need it; its version must be the driver's.
void examine_fabric_manager(const DoctorSystem& system, const Cards& cards, const std::string& module,
                            Findings& findings) {
  const bool needed = cards.switches > 0 || system.exists("/dev/nvidia-nvswitch0");
  const std::optional<std::string> version_text = system.command({"nv-fabricmanager", "--version"});
  if (!needed && !version_text) return;
  const std::string package = module.empty() ? "nvidia-fabricmanager" : "nvidia-fabricmanager-" + major_of(module);
  if (!version_text) {
    findings.push_back(
        gpu("fabric manager", "not installed, but this machine has NVSwitch", Health::kMissing,
            fmt::format("sudo apt install {0} && sudo systemctl enable --now nvidia-fabricmanager", package)));
    return;
  }
  const std::string version = first_version(*version_text);
  const std::string state =
      parse_unit_state(system.command({"systemctl", "is-active", "nvidia-fabricmanager"}).value_or(""));
  Finding f = gpu("fabric manager", fmt::format("{}, {}", version.empty() ? "version unknown" : version,
                                                state.empty() ? "state unknown (no systemd here)" : state));
  if (!version.empty() && !module.empty() && version != module) {
    f.health = Health::kMissing;
    f.value += fmt::format("; it must be of the driver's version {} exactly", module);
    f.advice =
        fmt::format("sudo apt install {0}={1}-1 && sudo systemctl restart nvidia-fabricmanager", package, module);
  } else if (state == "failed") {
    f.health = Health::kMissing;
    f.advice = "journalctl -u nvidia-fabricmanager -n 50 tells why; then sudo systemctl restart nvidia-fabricmanager";
  } else if (needed && (state == "inactive" || state == "unknown")) {
    f.health = Health::kMissing;
    f.advice = "sudo systemctl enable --now nvidia-fabricmanager";
  }
  findings.push_back(std::move(f));
}

void examine_toolkit(const DoctorSystem& system, Findings& findings) {
  std::optional<std::string> nvcc = system.command({"nvcc", "--version"});
  if (!nvcc && system.is_real()) nvcc = system.command({"/usr/local/cuda/bin/nvcc", "--version"});
  if (nvcc)
    findings.push_back(gpu("CUDA toolkit", "nvcc " + parse_nvcc_version(*nvcc)));
  else
    findings.push_back(gpu("CUDA toolkit", "no nvcc: the CUDA device cannot be built here", Health::kMissing,
                           "sudo apt install cuda-toolkit (from NVIDIA's repository) or nvidia-cuda-toolkit"));
}

void examine_companions(const DoctorSystem& system, Findings& findings) {
  if (const std::optional<int> nccl = system.nccl_version())
    findings.push_back(gpu("NCCL", nccl_version_text(*nccl)));
  else
    findings.push_back(gpu("NCCL", "libnccl.so.2 is not there: several GPUs cannot work together", Health::kMissing,
                           "sudo apt install libnccl2"));
  if (const auto ctk = system.command({"nvidia-ctk", "--version"}))
    findings.push_back(gpu("container toolkit", first_version(*ctk)));
  else
    findings.push_back(gpu("container toolkit", "no nvidia-ctk: containers do not see the GPU", Health::kMissing,
                           "sudo apt install nvidia-container-toolkit"));
}

// Whether `--device cuda` would work: the plugin is loaded and the first GPU opened, which runs an empty kernel.
void examine_plugin(const DoctorSystem& system, Findings& findings) {
  if (!system.is_real()) return;
  Result<std::shared_ptr<runtime::Accelerator>> opened = runtime::open_accelerator("cuda");
  if (!opened.is_ok()) {
    findings.push_back(gpu("--device cuda", opened.status().message(), Health::kMissing));
    return;
  }
  const Result<int64_t> free = (*opened)->free_bytes();
  findings.push_back(gpu("--device cuda", fmt::format("works: {}, {} free", (*opened)->name(),
                                                      free.is_ok() ? format_bytes(*free) : "unknown memory")));
}

}  // namespace

void examine_gpu(const DoctorSystem& system, Findings& findings) {
  const Cards cards = count_cards(system);
  const std::string module = parse_nvidia_module_version(system.read("/proc/driver/nvidia/version").value_or(""));
  if (cards.gpus == 0 && module.empty()) {
    // Nothing to mend; a toolkit alone still lets the CUDA device be built.
    findings.push_back(gpu("NVIDIA GPU", "none; Nereid runs on the CPU"));
    examine_toolkit(system, findings);
    return;
  }
  findings.push_back(
      gpu("NVIDIA GPU", fmt::format("{} card{} on the PCI bus{}", cards.gpus, cards.gpus == 1 ? "" : "s",
                                    cards.switches ? fmt::format(", {} NVSwitch", cards.switches) : "")));
  examine_driver(system, cards, module, findings);
  examine_plugin(system, findings);
  examine_fabric_manager(system, cards, module, findings);
  examine_toolkit(system, findings);
  examine_companions(system, findings);
}

}  // namespace nereid::cli
