# SPDX-License-Identifier: Apache-2.0
"""What became of recorded exchanges that were made again: agreed, different for a reason, or wrong."""
import sys


class Tally:
    def __init__(self, group, reasons, verbose=False):
        """`reasons`: (group, name) to why the answer is meant to be another; a difference that is there no more is wrong."""
        self.group, self.reasons, self.verbose = group, reasons, verbose
        self.agreed = self.excused = 0
        self.wrong = []

    def add(self, name, found):
        """`found`: how the answer differs, as a sentence, or None."""
        reason = self.reasons.get((self.group, name))
        if found and not reason:
            self.wrong.append(f"{self.group}/{name}: {found}")
        elif reason and not found:
            self.wrong.append(f"{self.group}/{name}: agrees, though differences.py says otherwise")
        else:
            self.agreed += not found
            self.excused += bool(found)
        if self.verbose:
            print(f"{self.group}/{name}: {found or 'agrees'}")

    def end(self, served):
        """Stops the server, which is to end well; gives what replay() gives."""
        if (code := served.stop()) != 0:
            self.wrong.append(f"{self.group}: the server ended with {code}\n" + "".join(served.said)[-2000:])
        return self.agreed, self.excused, self.wrong


def main(replay, groups):
    """The command line: GROUP... [-v]; the exit code."""
    failed = False
    for group in [g for g in sys.argv[1:] if not g.startswith("-")] or list(groups):
        agreed, excused, wrong = replay(group, "-v" in sys.argv)
        print(f"{group}: {agreed} agree, {excused} differ for a reason, {len(wrong)} are wrong")
        for one in wrong:
            print("  " + one)
        failed |= bool(wrong)
    return 1 if failed else 0
