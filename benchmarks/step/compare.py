"""Times one network call of Ballast against the same network in plain PyTorch, pair by pair.

Both programs stay loaded and take turns (the order alternates from pair to pair), so that drift of
the machine's speed hits both alike. Prints the median of the ratios of each pair, and the bound.
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path


class Program:
    def __init__(self, command):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline().strip() != "ready":
            sys.exit(f"{command[0]} did not start")

    def ask(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if not answer:
            sys.exit(f"no answer to '{command}'")
        return answer

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="the step benchmark of Ballast")
    parser.add_argument("--file", required=True, help="what Ballast loads (fp32 or fp16)")
    parser.add_argument("--peer-file", help="what the peer loads; the same file unless given")
    parser.add_argument("--compute", default="fp32", choices=["fp32", "bf16"])
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--time-bound", type=float, required=True)
    parser.add_argument("--memory-bound", type=float)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()

    common = ["--size", str(arguments.size), "--threads", str(arguments.threads)]
    ours = Program([arguments.program, arguments.file, "--compute", arguments.compute, *common])
    peer = Program([sys.executable, str(Path(__file__).with_name("peer.py")),
                    arguments.peer_file or arguments.file, *common])
    ours.ask("step"), peer.ask("step")
    ours_sum, peer_sum = ours.ask("sum"), peer.ask("sum")
    mine, theirs = [], []
    for pair in range(arguments.pairs):
        for program, times in ((ours, mine), (peer, theirs))[:: 1 if pair % 2 == 0 else -1]:
            times.append(float(program.ask("step")))
    ours_peak, peer_peak = int(ours.ask("peak")), int(peer.ask("peak"))
    ours.close(), peer.close()

    name = (f"step {arguments.size}x{arguments.size} {arguments.compute} "
            f"({Path(arguments.file).name})")
    ratio = statistics.median(a / b for a, b in zip(mine, theirs))
    rows = [{"name": name, "figure": statistics.median(mine), "unit": "s",
             "peer": statistics.median(theirs), "ratio": ratio, "bound": arguments.time_bound}]
    if arguments.memory_bound is not None:
        rows.append({"name": name + " peak memory", "figure": ours_peak / 1e6, "unit": "MB",
                     "peer": peer_peak / 1e6, "ratio": ours_peak / peer_peak,
                     "bound": arguments.memory_bound})
    if arguments.json:
        print(json.dumps(rows))
        return
    print(f"outputs (sum, largest): {ours_sum} | {peer_sum}")
    for row in rows:
        verdict = "within" if row["ratio"] <= row["bound"] else "BEYOND"
        print(f"{row['name']}: {row['figure']:.3f} {row['unit']}, plain PyTorch "
              f"{row['peer']:.3f} {row['unit']}, ratio {row['ratio']:.3f} ({verdict} the bound "
              f"{row['bound']:.2f}, {arguments.pairs} pairs)")


if __name__ == "__main__":
    main()
