// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/cuda_faults.h"

#include <array>

namespace nereid::device {
namespace {

struct Row {
  int code;
  StatusCode status;
  bool is_lost;
  std::string_view meaning;
};

// Codes: cudart's reference, enum cudaError. Kernel failures end the context, so they lose the GPU for this process.
constexpr std::array kRows = {
    Row{kCudaOutOfMemory, StatusCode::kExhausted, false,
        "the GPU's memory is full: use a shorter --context, fewer sequences, a smaller model, or another GPU "
        "(--device cuda:1); `nvidia-smi` shows who else uses it"},
    Row{3, StatusCode::kUnavailable, true, "the driver does not start: `nereid doctor` tells what is wrong with it"},
    Row{kCudaOldDriver, StatusCode::kUnavailable, false,
        "the driver is older than this build of the plugin needs: install a newer one (580 or later for CUDA 13), "
        "then reboot"},
    Row{46, StatusCode::kUnavailable, false,
        "the GPU is in use by another process that has it for itself (compute mode exclusive): end it, or name another "
        "GPU with --device cuda:1"},
    Row{kCudaNoGpu, StatusCode::kUnavailable, false,
        "there is no GPU: run with --device cpu, or check `nvidia-smi -L` and CUDA_VISIBLE_DEVICES"},
    Row{101, StatusCode::kInvalidArgument, false, "there is no GPU of that number: `nvidia-smi -L` lists them"},
    Row{kCudaNoCode, StatusCode::kUnsupported, false,
        "the plugin has no code for this GPU's architecture: GPUs from compute capability 8.0 on are supported"},
    Row{214, StatusCode::kUnavailable, true,
        "the GPU's memory has an error that could not be corrected: end this process; if it comes again, "
        "`nvidia-smi -q -d ECC` and a reset by the administrator"},
    Row{222, StatusCode::kUnsupported, false,
        "the driver cannot compile the plugin's code for this GPU: install a newer driver"},
    Row{700, StatusCode::kInternal, true,
        "a kernel touched memory that is not its own, which is a defect of Nereid's: start anew, and please report it "
        "with the command"},
    Row{701, StatusCode::kInternal, false,
        "a kernel asked for more registers or shared memory than the GPU has, which is a defect of Nereid's: please "
        "report it with the GPU's name"},
    Row{702, StatusCode::kUnavailable, true,
        "a kernel ran longer than the system lets kernels run: use a GPU that drives no display, and start anew"},
    Row{719, StatusCode::kInternal, true,
        "a kernel failed: start anew; `sudo dmesg | grep -i xid` tells whether the GPU or the kernel is at fault"},
    Row{802, StatusCode::kUnavailable, false,
        "the system is not ready: on machines with NVSwitch the fabric manager has to run "
        "(sudo systemctl enable --now nvidia-fabricmanager)"},
    Row{803, StatusCode::kUnavailable, false,
        "the driver library and the kernel module do not belong together: reboot, or install both in one version"},
    Row{804, StatusCode::kUnavailable, false,
        "the forward-compatibility package does not fit this GPU: remove the package cuda-compat"},
    Row{999, StatusCode::kUnavailable, true,
        "the driver failed for a reason it does not tell, as when a GPU falls off the bus: look into "
        "`sudo dmesg | grep -i nvrm`, and start anew"},
};

}  // namespace

CudaFault explain_cuda(const NereidCudaTable& table, int code, std::string_view doing) {
  for (const Row& row : kRows)
    if (row.code == code)
      return {error(row.status, "{} failed on the GPU ({}, {}): {}", doing, table.error_name(code), code, row.meaning),
              row.is_lost};
  // The rest of 700 to 720 are failures of kernels after which the context is of no use.
  const bool is_lost = code >= 700 && code <= 720;
  return {internal("{} failed on the GPU ({}, {}): {}{}", doing, table.error_name(code), code, table.error_text(code),
                   is_lost ? "; start anew" : ""),
          is_lost};
}

}  // namespace nereid::device
