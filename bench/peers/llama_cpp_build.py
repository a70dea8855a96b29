# SPDX-License-Identifier: Apache-2.0
"""Builds the llama.cpp that Nereid is measured against: the tree inside the source package of llama-cpp-python."""
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

PACKAGE, VERSION = "llama-cpp-python", "0.3.36"
TARGETS = ("llama-bench", "llama-batched-bench", "llama-completion", "llama-perplexity")
OPTIONS = ("CMAKE_BUILD_TYPE=Release", "GGML_NATIVE=ON", "LLAMA_BUILD_TESTS=OFF", "LLAMA_BUILD_EXAMPLES=OFF",
           "LLAMA_BUILD_TOOLS=ON", "LLAMA_BUILD_UI=OFF", "LLAMA_BUILD_APP=OFF", "LLAMA_CURL=OFF", "LLAMA_OPENSSL=OFF")

# GCC 12 takes the stores into the tile configuration for dead, because it does not see that the instruction reads them;
# on processors with AMX the program then dies of an illegal configuration. A barrier keeps the stores.
AMX_SOURCE = Path("ggml/src/ggml-cpu/amx/mmq.cpp")
AMX_CALL = "_tile_loadconfig(&tc);"
AMX_BARRIER = 'asm volatile("" :: "r"(&tc) : "memory"); '


class BuildError(Exception):
    """A failure that the message alone explains."""


def run(command, what):
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise BuildError(f"{what} failed; the last lines were:\n" + "\n".join(done.stdout.strip().splitlines()[-15:]))


def fetch(folder):
    """The package's llama.cpp below folder/src."""
    source = folder / "src"
    if (source / "CMakeLists.txt").is_file():
        return source
    run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-binary",
         PACKAGE, "--dest", folder, f"{PACKAGE}=={VERSION}"], f"fetching {PACKAGE} {VERSION}")
    archive = next(folder.glob("llama_cpp_python-*.tar.gz"))
    unpacked = folder / "unpacked"
    shutil.rmtree(unpacked, ignore_errors=True)
    with tarfile.open(archive) as pack:
        for member in pack:
            _, _, inside = member.name.partition("/vendor/llama.cpp/")
            if inside and ".." not in Path(inside).parts and member.isfile():
                target = unpacked / inside
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(pack.extractfile(member).read())
                target.chmod(member.mode & 0o777 | 0o600)
    unpacked.rename(source)
    return source


def add_amx_barrier(source):
    text = (source / AMX_SOURCE).read_text()
    if AMX_CALL in text and AMX_BARRIER not in text:
        (source / AMX_SOURCE).write_text(text.replace(AMX_CALL, AMX_BARRIER + AMX_CALL))


def build(folder):
    """Returns the folder with the programs; does nothing where they are already."""
    folder = folder.resolve()
    programs = folder / "build" / "bin"
    if all(os.access(programs / one, os.X_OK) for one in TARGETS):
        return programs
    folder.mkdir(parents=True, exist_ok=True)
    source = fetch(folder)
    add_amx_barrier(source)
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    print(f"llama_cpp: building {' '.join(TARGETS)}", file=sys.stderr, flush=True)
    run(["cmake", "-S", source, "-B", folder / "build", *generator, *(f"-D{one}" for one in OPTIONS)], "configuring llama.cpp")
    run(["cmake", "--build", folder / "build", "--parallel", str(os.cpu_count()), "--target", *TARGETS], "building llama.cpp")
    return programs
