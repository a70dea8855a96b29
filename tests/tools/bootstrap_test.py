# SPDX-License-Identifier: Apache-2.0
"""scripts/bootstrap on pretended machines: a PATH of stubs plays the distribution, nothing real is installed."""
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from load_script import ROOT, write_tree

TOOLS = "bash sed grep sort head cut tr cat cp cmp mkdir rm id dirname env tail touch chmod".split()

# dpkg-query answers from the file `installed`; apt-get install adds to it, and to PATH what a package would bring.
STUBS = {
    "dpkg-query": '''for p in "${@:3}"; do grep -qx "$p" $M/installed && printf '%s:installed ' "$p"; done''',
    "apt-cache": '''v=$(sed -n "s/^$2 //p" $M/available); [ -z "$v" ] || printf '%s:\\n  Candidate: %s\\n' "$2" "$v"''',
    "apt-get": '''
[ "$1" = install ] || exit 0
for p in "$@"; do case $p in install|-*|*=*) ;; *)
  grep -q "^$p " $M/available || { echo "E: Unable to locate package $p" >&2; exit 100; }
  echo "$p" >>$M/installed
  case $p in g++*|cmake) ln -sf "$M/kit/$p" "$M/bin/$p" ;; esac
esac; done''',
    "sudo": 'echo "$@" >>$M/sudo.log; "$@"',
    "nproc": "echo 2",
    "cc": "exit 0",
    "python3": '''
[ "$1" = -c ] && exit 0
mkdir -p $3/bin
printf '#!/bin/bash\\ncase "$*" in *requirements-cmake*) cp $M/kit/pip-cmake %s/cmake ;; esac\\n' "$3/bin" >$3/bin/python
chmod +x $3/bin/python''',
}
COMPILER = 'case $1 in -dumpversion) echo {0} ;; --version) echo "{1} {0}" ;; esac'
CMAKE = 'echo "cmake version {0}"'

COMMON = """ca-certificates 1
python3 3
python3-venv 3
ninja-build 1
ccache 4
mold 1
pkg-config 1
libfmt-dev 9
nlohmann-json3-dev 3
libcli11-dev 2
libpcre2-dev 10
libutf8proc-dev 2
libssl-dev 3
libboost1.81-dev 1.81
libprotobuf-dev 3.21
protobuf-compiler 3.21
zlib1g-dev 1
libjpeg-dev 1
libwebp-dev 1
libopenjp2-7-dev 2
libgtest-dev 1
libgmock-dev 1
librapidcheck-dev 0
"""
DEBIAN_12 = COMMON + "chromium 156\ng++ 4:12.2.0-3\ncmake 3.25.1-1\nclang 1:14\nlibclang-rt-dev 1:14\n"
UBUNTU_22 = COMMON + "g++ 4:11.2.0-1\ng++-12 12.3.0-1\ncmake 3.22.1-1\nclang 1:14\nlibclang-common-14-dev 1:14\n"
UBUNTU_24 = COMMON + "g++ 4:13.2.0-7\ncmake 3.28.3-1\nclang 1:18\nlibclang-rt-dev 1:18\n"
VERSIONS = {DEBIAN_12: ("12.2.0", "3.25.1"), UBUNTU_22: ("11.4.0", "3.22.1"), UBUNTU_24: ("13.3.0", "3.28.3")}


class Machine:
    """A bare machine of one distribution, and a checkout on it."""

    def __init__(self, folder, available):
        self.folder, self.repo = Path(folder), Path(folder) / "repo"
        gcc, cmake = VERSIONS[available]
        files = {"available": available, "installed": "", "repo/scripts/requirements-cmake.txt": "cmake==3\n",
                 "repo/scripts/requirements.txt": "pip==1\n", "repo/scripts/requirements-test.txt": "jsonschema==1\n",
                 "repo/scripts/requirements-conformance.txt": "onnx==1\n"}
        kit = {"g++": COMPILER.format(gcc, "g++"), "g++-12": COMPILER.format("12.3.0", "g++-12"),
               "cmake": CMAKE.format(cmake), "pip-cmake": CMAKE.format("3.31.6")}
        files |= {f"bin/{name}": f"#!/bin/bash\n{text}\n" for name, text in STUBS.items()}
        files |= {f"kit/{name}": f"#!/bin/bash\n{text}\n" for name, text in kit.items()}
        write_tree(self.folder, files)
        for place in ("bin", "kit"):
            for path in (self.folder / place).iterdir():
                path.chmod(0o755)
        for tool in (*TOOLS, "ln"):
            (self.folder / "bin" / tool).symlink_to(shutil.which(tool))
        shutil.copy(ROOT / "scripts" / "bootstrap", self.repo / "scripts" / "bootstrap")

    def bootstrap(self, *arguments, **environment):
        done = subprocess.run([str(self.repo / "scripts" / "bootstrap"), *arguments], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=60,
                              env={"PATH": str(self.folder / "bin"), "M": str(self.folder), **environment})
        return done.returncode, done.stdout + done.stderr

    def installed(self):
        return (self.folder / "installed").read_text().split()

    def chosen(self):
        return dict(line.split("=", 1) for line in (self.repo / "build" / "env.sh").read_text().splitlines())


class Bootstrap(unittest.TestCase):
    def machine(self, available):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        return Machine(scratch.name, available)

    def test_debian_12_gets_everything_from_the_distribution(self):
        machine = self.machine(DEBIAN_12)
        code, out = machine.bootstrap()
        self.assertEqual(code, 0, out)
        self.assertIn("will install libpcre2-dev: the patterns that split text", out)
        self.assertEqual((machine.chosen()["CXX"], machine.chosen()["CMAKE"]), ("g++", "cmake"))

    def test_ubuntu_22_gets_a_newer_compiler_by_name_and_cmake_by_pip(self):
        machine = self.machine(UBUNTU_22)
        code, out = machine.bootstrap()
        self.assertEqual(code, 0, out)
        self.assertEqual(machine.chosen()["CXX"], "g++-12")
        self.assertTrue(machine.chosen()["CMAKE"].endswith("/build/venv/bin/cmake"), out)
        self.assertNotIn("cmake", machine.installed())

    def test_ubuntu_24_uses_its_own(self):
        machine = self.machine(UBUNTU_24)
        code, out = machine.bootstrap()
        self.assertEqual(code, 0, out)
        self.assertEqual((machine.chosen()["CXX"], machine.chosen()["CMAKE"]), ("g++", "cmake"))

    def test_the_fuzzing_runtime_is_found_under_each_distributions_name(self):
        for available, name in ((DEBIAN_12, "libclang-rt-dev"), (UBUNTU_22, "libclang-common-14-dev")):
            machine = self.machine(available)
            code, out = machine.bootstrap("build", "fuzz")
            self.assertEqual(code, 0, out)
            self.assertIn(name, machine.installed())

    def test_a_browser_comes_with_the_tests_alone_where_there_is_one(self):
        machine = self.machine(DEBIAN_12)
        machine.bootstrap()
        self.assertNotIn("chromium", machine.installed())
        self.assertEqual(machine.bootstrap("build", "test")[0], 0)
        self.assertIn("chromium", machine.installed())
        code, out = self.machine(UBUNTU_24).bootstrap("build", "test")
        self.assertEqual(code, 0, out)
        self.assertIn("this distribution has no chromium (draws the pages that the tests look at); going on without", out)

    def test_the_second_run_installs_nothing_and_says_so_in_one_line(self):
        machine = self.machine(DEBIAN_12)
        machine.bootstrap()
        before = machine.installed()
        code, out = machine.bootstrap()
        self.assertEqual((code, machine.installed()), (0, before))
        self.assertEqual(len(out.splitlines()), 1, out)

    def test_python_packages_of_a_group_are_added_once(self):
        machine = self.machine(DEBIAN_12)
        machine.bootstrap()
        self.assertEqual(machine.bootstrap("--check")[0], 0)
        code, out = machine.bootstrap("--check", "build", "conformance")
        self.assertEqual(code, 1)
        self.assertIn("missing: the Python packages of scripts/requirements-conformance.txt", out)
        self.assertIn("adding what scripts/requirements-conformance.txt pins", machine.bootstrap("build", "conformance")[1])
        self.assertEqual(len(machine.bootstrap("build", "conformance")[1].splitlines()), 1)

    def test_check_reports_and_changes_nothing(self):
        machine = self.machine(DEBIAN_12)
        code, out = machine.bootstrap("--check")
        self.assertEqual(code, 1)
        self.assertIn("missing: libfmt-dev (text formatting)", out)
        self.assertEqual(machine.installed(), [])
        self.assertFalse((machine.repo / "build").exists())
        machine.bootstrap()
        self.assertEqual(machine.bootstrap("--check")[0], 0)

    def test_an_optional_package_the_distribution_lacks_is_gone_without(self):
        machine = self.machine(DEBIAN_12)
        lacking = machine.folder / "available"
        lacking.write_text(lacking.read_text().replace("librapidcheck-dev 0\n", "").replace("mold 1\n", ""))
        code, out = machine.bootstrap()
        self.assertEqual(code, 0, out)
        self.assertIn("this distribution has no librapidcheck-dev (the property tests); going on without", out)
        self.assertEqual(len(machine.bootstrap()[1].splitlines()), 1)

    def test_a_needed_package_the_distribution_lacks_is_an_error(self):
        machine = self.machine(DEBIAN_12)
        lacking = machine.folder / "available"
        lacking.write_text(lacking.read_text().replace("libfmt-dev 9\n", ""))
        code, out = machine.bootstrap()
        self.assertEqual(code, 1)
        self.assertIn("this distribution has no libfmt-dev (text formatting)", out)
        self.assertEqual(machine.installed(), [])

    def test_without_root_sudo_is_used(self):
        machine = self.machine(DEBIAN_12)
        (machine.folder / "bin" / "id").unlink()
        write_tree(machine.folder, {"bin/id": "#!/bin/bash\necho 1000\n"})
        (machine.folder / "bin" / "id").chmod(0o755)
        code, out = machine.bootstrap()
        self.assertEqual(code, 0, out)
        self.assertIn("apt-get install", (machine.folder / "sudo.log").read_text())
        (machine.folder / "bin" / "sudo").unlink()
        (machine.folder / "installed").write_text("")
        code, out = machine.bootstrap()
        self.assertEqual(code, 1)
        self.assertIn("needs root: run this as root, or install sudo", out)

    def test_a_compiler_the_user_names_must_be_good_enough(self):
        machine = self.machine(UBUNTU_22)
        os.symlink(machine.folder / "kit" / "g++", machine.folder / "bin" / "g++")
        code, out = machine.bootstrap(CXX="g++")
        self.assertEqual(code, 1)
        self.assertIn("CXX is 'g++', which is not g++ >= 12 or clang++ >= 14", out)

    def test_an_unknown_group_is_named(self):
        code, out = self.machine(DEBIAN_12).bootstrap("buidl")
        self.assertEqual(code, 1)
        self.assertIn("there is no group 'buidl'", out)


if __name__ == "__main__":
    unittest.main()
