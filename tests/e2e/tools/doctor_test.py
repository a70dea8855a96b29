# SPDX-License-Identifier: Apache-2.0
"""`nereid doctor`: on this machine, and on folders that stand for others."""
import os
import unittest

from program import ProgramTest


class DoctorTest(ProgramTest):
    def machine(self, files):
        root = self.dir / "machine"
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return root

    def finding(self, said, name):
        found = [one for one in said["findings"] if one["name"] == name]
        self.assertTrue(found, f"no finding {name!r} in {said}")
        return found[0]

    def test_this_machine_can_run_it(self):
        said = self.nereid_json("doctor", "--quick")
        self.assertTrue(said["healthy"])
        self.assertIn(" is used; ", self.finding(said, "instruction set")["value"])
        text, _ = self.nereid("doctor", "--quick")
        self.assertIn("Nereid can work here", text)

    def test_the_instruction_set_that_was_limited_says_so(self):
        said = self.nereid_json("doctor", "--quick", NEREID_ISA="baseline")
        self.assertTrue(self.finding(said, "instruction set")["value"].startswith("baseline is used; "))

    def test_a_wrong_limit_is_broken(self):
        said = self.nereid_json("doctor", "--quick", NEREID_ISA="mmx", code=1)
        self.assertFalse(said["healthy"])
        self.assertEqual(self.finding(said, "NEREID_ISA")["health"], "broken")

    def test_a_cache_that_cannot_be_written_is_broken(self):
        blocked = self.dir / "file"
        blocked.write_text("")
        said = self.nereid_json("doctor", "--quick", code=1, NEREID_CACHE_DIR=str(blocked / "cache"))
        cache = self.finding(said, "cache")
        self.assertEqual(cache["health"], "broken")
        self.assertIn("NEREID_CACHE_DIR", cache["advice"])

    def test_the_round_leaves_nothing_in_the_cache(self):
        self.nereid("doctor", "--quick")
        self.assertEqual(os.listdir(self.dir / "cache"), [])

    def test_a_machine_with_a_gpu_whose_fabric_manager_failed(self):
        root = self.machine({
            "proc/meminfo": "MemTotal: 16777216 kB\nMemAvailable: 8388608 kB\n",
            "proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Tue Sep  9\n",
            "sys/bus/pci/devices/0000:00:01.0/vendor": "0x10de\n", "sys/bus/pci/devices/0000:00:01.0/class": "0x030200\n",
            "sys/bus/pci/devices/0000:00:02.0/vendor": "0x10de\n", "sys/bus/pci/devices/0000:00:02.0/class": "0x068000\n",
            "commands/nv-fabricmanager": "Fabric Manager version is : 580.95.05\n", "commands/systemctl": "failed\n",
            "commands/nvcc": "Cuda compilation tools, release 13.0, V13.0.88\n",
            "libraries/cuda": "error 802\nversion 13000\nlibrary 580.95.05\n"})
        said = self.nereid_json("doctor", "--root", root)
        self.assertIn("failed", self.finding(said, "fabric manager")["value"])
        self.assertIn("journalctl", self.finding(said, "fabric manager")["advice"])
        self.assertIn("not yet initialised", self.finding(said, "driver library")["value"])
        self.assertEqual(self.finding(said, "CUDA toolkit")["value"], "nvcc 13.0.88")
        self.assertTrue(said["healthy"], "Nereid needs no GPU")

    def test_a_root_that_is_not_there_is_refused(self):
        _, err = self.nereid("doctor", "--root", self.dir / "absent", code=2)
        self.assert_sentence(err)


if __name__ == "__main__":
    unittest.main()
