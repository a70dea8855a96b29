#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records what a real tritonserver (with its Python backend) answers in the scenarios, as scenario_GROUP.json beside it.

  record.py HOST:PORT FOLDER GROUP        a server runs already, with the group's repository in FOLDER and its options
  record.py --repository FOLDER GROUP     only writes that repository
  record.py --options GROUP               only prints the options that the server is to be started with

Of an answer status and body are kept.
"""
import http.client
import json
import sys
import threading
import time
from pathlib import Path

import scenario_models
import scenarios


class Asker:
    def __init__(self, host, port, repository):
        self.host, self.port, self.repository = host, port, str(repository)

    def ask(self, one):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        connection.request(one["method"], one["path"], one.get("body"), {"Content-Type": "application/json"})
        response = connection.getresponse()
        text = response.read().decode().replace(self.repository, "<REPOSITORY>")
        connection.close()
        answer = {"status": response.status}
        try:
            answer["json"] = json.loads(text)
        except ValueError:
            answer["text"] = text
        return answer

    def ask_together(self, requests):
        """Their answers, and the order in which they ended."""
        answers, order, lock = {}, [], threading.Lock()

        def run(one):
            time.sleep(one.get("after_ms", 0) / 1000)
            answer = self.ask(one)
            with lock:
                answers[one["name"]] = answer
                order.append(one["name"])
        threads = [threading.Thread(target=run, args=(one,)) for one in requests]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return [dict(one, answer=answers[one["name"]]) for one in requests], order

    def step(self, one):
        """The step with what was answered; a pause as it is."""
        if "wait_ms" in one:
            time.sleep(one["wait_ms"] / 1000)
            return dict(one)
        if "together" in one:
            answered, order = self.ask_together(one["together"])
            return dict(one, together=answered, **({} if one.get("any_order") else {"order": order}))
        return dict(one, answer=self.ask(one))


def main():
    group = sys.argv[-1]
    if sys.argv[1] == "--options":
        print(*scenarios.OPTIONS[group], sep="\n")
    elif sys.argv[1] == "--repository":
        scenario_models.write(scenario_models.GROUPS[group], sys.argv[2], True)
    else:
        host, port = sys.argv[1].split(":")
        asker = Asker(host, int(port), sys.argv[2])
        lines = [json.dumps(asker.step(one)) for one in scenarios.GROUPS[group]()]
        Path(__file__).with_name(f"scenario_{group}.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main()
