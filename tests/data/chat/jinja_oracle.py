# SPDX-License-Identifier: Apache-2.0
"""The outside oracle of the chat templates: jinja2 3.1.6, set up as transformers' apply_chat_template sets it up.

Two additions, for templates that transformers itself refuses: the filter from_json, which DeepSeek's templates expect,
and, where the immutable sandbox stops a template (list.append, dict.pop), a second try in the mutable one.
"""
import copy
import datetime
import json

import jinja2
import jinja2.ext
import jinja2.sandbox

NOW = datetime.datetime(2025, 7, 26, 12, 34, 56)


class Generation(jinja2.ext.Extension):
    """{% generation %} ... {% endgeneration %}: its body, rendered as the body of a call block."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_body"), [], [], body).set_lineno(line)

    def _body(self, caller):
        return caller()


class Raised(jinja2.exceptions.TemplateError):
    """What raise_exception raises, to tell it from jinja2's own errors."""


def raise_exception(message):
    raise Raised(message)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


class Dict:
    def __call__(self, *args, **kwargs):
        return dict(*args, **kwargs)


class Namespace(jinja2.utils.Namespace):
    def __init__(*args, **kwargs):
        self, args = args[0], args[1:]
        attrs = dict(*args, **kwargs)
        for name in attrs:
            Namespace.check(name)
        jinja2.utils.Namespace.__init__(self, attrs)

    def __setitem__(self, name, value):
        Namespace.check(name)
        jinja2.utils.Namespace.__setitem__(self, name, value)

    @staticmethod
    def check(name):
        if isinstance(name, str) and name.startswith("_"):
            raise jinja2.exceptions.SecurityError("underscore")


def environment(kind):
    env = kind(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
    env.filters["tojson"] = tojson
    env.filters["from_json"] = json.loads
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda form: NOW.strftime(form)
    env.globals["dict"] = Dict()
    env.globals["namespace"] = Namespace
    return env


ENVIRONMENTS = [
    environment(jinja2.sandbox.ImmutableSandboxedEnvironment),
    environment(jinja2.sandbox.SandboxedEnvironment),
]


def render(source, variables):
    """{"text": ...}, {"raises": message of raise_exception} or {"fails": jinja2's own error}."""
    result = None
    for env in ENVIRONMENTS:
        try:
            return {"text": env.from_string(source).render(**copy.deepcopy(variables))}
        except Raised as e:
            return {"raises": str(e)}
        except jinja2.exceptions.SecurityError as e:
            result = {"fails": f"{type(e).__name__}: {e}"}
        except Exception as e:  # noqa: BLE001: whatever Python makes of a wrong template
            return {"fails": f"{type(e).__name__}: {e}"}
    return result
