# SPDX-License-Identifier: Apache-2.0
"""Renders small templates of our own with the oracle and writes cases.json: [template, text | null for an error, ...].

usage: python make_cases.py      (needs jinja2==3.1.6)

Each line of CASES is one template over the variables VARIABLES. What the oracle makes of it is the golden.
"""
import json
import pathlib

import jinja_oracle

VARIABLES = {
    "s": "Hello World",
    "u": "Grüße, 你好 👩‍🚀",
    "ws": " \t a b \n",
    "quote": "it's",
    "both": "it's \"so\"",
    "empty": "",
    "i": 7,
    "n": -3,
    "zero": 0,
    "f": 1.5,
    "big": 1e16,
    "small": 0.00001,
    "t": True,
    "no": None,
    "l": [3, 1, 2],
    "words": ["b", "A", "c", "a"],
    "mixed": [1, "a", None, True, 2.5, [1], {"k": "v"}],
    "d": {"b": 1, "a": 2, "C": 3},
    "nested": {"x": {"y": [10, {"z": "deep"}]}, "items": "shadowed", "n": None},
    "users": [
        {"name": "Bob", "age": 30, "tags": ["x"], "active": True},
        {"name": "alice", "age": 25, "tags": [], "active": False},
        {"name": "Carol", "age": 30, "tags": ["y", "z"], "active": True},
    ],
    "messages": [],
}

CASES = r"""
{{ 1 + 2 }} {{ 7 - 10 }} {{ 3 * 4 }} {{ 7 / 2 }} {{ 6 / 2 }} {{ 7 // 2 }} {{ -7 // 2 }} {{ 7 % 3 }} {{ -7 % 3 }} {{ 7 % -3 }} {{ 2 ** 10 }} {{ 2 ** -1 }}
{{ 7.5 // 2 }} {{ -7.5 % 2 }} {{ 1.5 + 1 }} {{ 0.1 + 0.2 }} {{ 1e3 }} {{ 1.0 }} {{ 100000000000000000.0 }} {{ 1e-5 }} {{ 123456.789e3 }}
{{ 2 ** 3 ** 2 }} {{ -2 ** 2 }} {{ 1 - 2 - 3 }} {{ 2 * 3 % 4 }} {{ (1 + 2) * 3 }}
{{ big }} {{ small }} {{ f }} {{ -f }} {{ +f }}
{{ i / zero }}
{{ i // zero }}
{{ i % zero }}
{{ 'a' + 'b' }} {{ 'a' ~ 1 ~ none ~ true ~ 1.0 }} {{ 'ab' * 3 }} {{ 3 * 'ab' }} {{ 'ab' * -1 }}|
{{ 'a' + 1 }}
{{ 1 + 'a' }}
{{ [1] + [2] }} {{ [1, 2] * 2 }} {{ (1,) + (2, 3) }}
{{ [1] + (2,) }}
{{ true + true }} {{ true * 3 }} {{ -true }}
{{ 1 == 1.0 }} {{ 1 == true }} {{ '1' == 1 }} {{ none == none }} {{ [1, 2] == [1, 2] }} {{ (1,) == [1] }} {{ {'a': 1} == {'a': 1.0} }} {{ 'a' != 'b' }}
{{ 1 < 2 < 3 }} {{ 1 < 2 > 3 }} {{ 3 > 2 >= 2 }} {{ 'a' < 'b' }} {{ [1, 2] < [1, 3] }} {{ 'Z' < 'a' }} {{ 1 <= 1.0 }}
{{ 1 < 'a' }}
{{ none < 1 }}
{{ 'ell' in s }} {{ 'x' not in s }} {{ 1 in l }} {{ 9 not in l }} {{ 'a' in d }} {{ 'zz' in d }} {{ 1 in (1, 2) }} {{ none in mixed }}
{{ 1 in 'abc' }}
{{ 1 in 5 }}
{{ 1 in 2 in 3 }}
{{ not true }} {{ not '' }} {{ not not 1 }} {{ not 1 == 2 }}
{{ 1 and 2 }} {{ 0 and 2 }} {{ 0 or 'x' }} {{ '' or none }} {{ none or [] or 'z' }} {{ 1 or x.y }}
{{ 'yes' if t else 'no' }} {{ 'yes' if not t else 'no' }} {{ 'a' if false }}| {{ 1 if 0 else 2 if 0 else 3 }}
{{ ('a' if false).x }}
{{ true }} {{ false }} {{ none }} {{ True }} {{ None }}
{{ [1, 'a', none, true, 1.5, (1, 2), {'k': [1]}] }} {{ (1,) }} {{ () }} {{ [] }} {{ {} }}
{{ mixed }} {{ d }} {{ nested }}
{{ quote }} {{ [quote] }} {{ [both] }} {{ ['\n\t\r\\ \x00\x7f é \u200b 👩'] }}
{{ u }} {{ [u] }} {{ u|length }} {{ u[0] }} {{ u[2] }} {{ u[-1] }} {{ u[3:5] }} {{ u[::-1] }}
{{ l[0] }} {{ l[-1] }} {{ l[5] }}| {{ l[1:] }} {{ l[:-1] }} {{ l[::2] }} {{ l[::-1] }} {{ l[2:0:-1] }} {{ l[-100:100] }} {{ l[:] }} {{ (1, 2, 3)[1:] }}
{{ s[0] }} {{ s[-5:] }} {{ s[1:8:2] }} {{ s[::-2] }} {{ s[3:1] }}| {{ s[100] }}|
{{ l[1:2:0] }}
{{ i[0] }}|
{{ i[0:1] }}
{{ l['a'] }}|
{{ d.a }} {{ d['a'] }} {{ d.zz }}| {{ d['zz'] }}| {{ nested.x.y[1].z }} {{ nested['x']['y'][0] }} {{ nested.x.y.1.z }} {{ nested.x.y.0 }}
{{ d.zz.yy }}
{{ nope }}|{{ nope is defined }} {{ nope is undefined }} {{ nope == nope2 }} {{ nope != 1 }} {{ not nope }} {{ nope|length }} {{ nope|list }} {{ nope ~ 'x' }}
{{ nope.x }}
{{ nope[0] }}
{{ nope() }}
{{ nope + 1 }}
{{ nope < 1 }}
{{ -nope }}
{{ nope|int }}
{{ nope|upper }}|{{ nope|trim }}|{{ nope|join(',') }}|{{ nope|first }}|{{ nope|default('dd') }}|{{ nope|replace('a', 'b') }}|{{ nope|string }}|{{ nope|items|list }}
{{ nope|tojson }}
{{ [nope] }} {{ 'x' in nope }} {{ nope is iterable }} {{ nope is sequence }} {{ nope is mapping }} {{ nope is string }} {{ nope is callable }} {{ nope is none }}
{% for x in nope %}a{% else %}empty{% endfor %}
{{ no.x }}|{{ no['x'] }}|{{ no is none }}
{{ no.x.y }}
{{ i.foo }}|{{ s.foo }}|{{ l.foo }}|
{{ nested.items is callable }}|{{ nested['items'] }}|
{{ nested.items() | list | length }}
{{ nested['items']() }}
{{ d.items() }} {{ d.keys() }} {{ d.values() }} {{ d.items()|list }} {{ d|items|list }} {{ d.keys()|list }}
{{ d.get('a') }} {{ d.get('q') }} {{ d.get('q', 5) }}
{{ {'a': 1, 'b': {'c': 2}}.b.c }} {{ {1: 'x', true: 'y', none: 'z', (1, 2): 't'} }} {{ {'a': 1, 'a': 2} }}
{{ {[1]: 2} }}
{% for x in l %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }} {% endfor %}
{% for x in l %}{{ loop.previtem }}<{{ x }}>{{ loop.nextitem }} {% endfor %}
{% for x in l %}{{ loop.previtem is defined }}{{ loop.nextitem is defined }} {% endfor %}
{% for x in l %}{{ loop.cycle('odd', 'even') }} {{ loop.depth }}{{ loop.depth0 }} {{ loop.changed(x > 1) }} {% endfor %}
{% for x in range(10) if x is odd %}{{ loop.index }}:{{ x }}/{{ loop.length }}{% if not loop.last %}, {% endif %}{% endfor %}
{% for x in range(3) if x > 5 %}{{ x }}{% else %}none{% endfor %}
{% for x in [] %}{{ x }}{% else %}empty{% endfor %}
{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %} {% for k in d %}{{ k }}{% endfor %} {% for c in 'äb' %}[{{ c }}]{% endfor %}
{% for a, (b, c) in [(1, (2, 3)), (4, (5, 6))] %}{{ a }}{{ b }}{{ c }} {% endfor %}
{% for a, b in [(1, 2, 3)] %}{% endfor %}
{% for x in 5 %}{% endfor %}
{% for x in none %}{% endfor %}
{% for x in l %}{% for y in 'ab' %}{{ loop.index }}{{ x }}{{ y }} {% endfor %}{{ loop.index }};{% endfor %}
{% for x in l %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}{% endfor %} {% for x in l %}{% if x == 1 %}{% break %}{% endif %}{{ x }}{% endfor %}
{% for x in [1, 2] recursive %}{{ x }}{% if x < 3 %}({{ loop([x + 2]) }}){% endif %}{% endfor %}
{% set v = 1 %}{% for x in l %}{% set v = v + 1 %}{{ v }}{% endfor %}{{ v }}
{% set ns = namespace(v=1, w='a') %}{% for x in l %}{% set ns.v = ns.v + x %}{% endfor %}{{ ns.v }}{{ ns.w }}{{ ns.q }}|{{ ns.q is defined }} {{ ns['v'] }}
{% set ns = namespace({'a': 1}, b=2) %}{{ ns.a }}{{ ns.b }}
{% set ns = namespace(_a=1) %}
{% set ns = namespace() %}{% set ns._a = 1 %}
{% set x.y = 1 %}
{% set d.y = 1 %}
{% set a, b = 1, 2 %}{{ a }}{{ b }} {% set a, b = b, a %}{{ a }}{{ b }} {% set t3 = 1, 2 %}{{ t3 }}
{% set a, b = 1 %}
{% set x %}block {{ i }}{% endset %}[{{ x }}] {% set y | upper | replace('B', 'x') %}abc{% endset %}{{ y }}
{% if true %}{% set inner = 5 %}{% endif %}{{ inner }}
{% for x in [1] %}{% set inner2 = 5 %}{% endfor %}{{ inner2 is defined }}
{% for x in [1, 2] %}{{ y4 is defined }}{% set y4 = 1 %}{{ y4 }} {% endfor %}
{% if i == 1 %}a{% elif i == 7 %}b{% else %}c{% endif %} {% if not i %}a{% elif none %}b{% else %}c{% endif %}
{% if [] %}1{% endif %}{% if [0] %}2{% endif %}{% if {} %}3{% endif %}{% if '0' %}4{% endif %}{% if 0.0 %}5{% endif %}{% if l|select('gt', 9) %}6{% endif %}
{% macro m(a, b=2, c='x') %}<{{ a }}-{{ b }}-{{ c }}>{% endmacro %}{{ m(1) }}{{ m(1, 3) }}{{ m(1, c='z') }}{{ m(b=5, a=4) }}{{ m() }}
{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, 2) }}
{% macro m(a) %}{{ a }}{% endmacro %}{{ m(z=2) }}
{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, a=2) }}
{% macro m() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, x=3) }}
{% macro m(a, b=a) %}{{ a }}{{ b }}{% endmacro %}{{ m(1) }} {{ m.name }}
{% macro m() %}{{ g }}{% endmacro %}{% set g = 4 %}{{ m() }}
{% macro fact(n) %}{% if n <= 1 %}1{% else %}{{ n * fact(n - 1)|int }}{% endif %}{% endmacro %}{{ fact(5) }}
{% macro m(x) %}[{{ caller() }}|{{ x }}]{% endmacro %}{% call m(1) %}body{{ i }}{% endcall %}
{% macro m() %}{{ caller(1, 'b') }}{% endmacro %}{% call(a, b='q') m() %}{{ a }}{{ b }}{% endcall %}
{% macro m() %}{% for x in l %}{{ x }}{% endfor %}{% endmacro %}{{ m()|length }} {{ m()|upper }} {{ m is callable }} {{ 'a' if m() is string }}
{% macro m() %}{% set z = 9 %}{{ z }}{% endmacro %}{{ m() }}{{ z is defined }}
{% filter upper %}abc {{ 'd' }}{% endfilter %} {% filter replace('a', 'x') | upper %}abc{% endfilter %}
{% with a = 1, b = 2 %}{{ a + b }}{% set c = 3 %}{{ c }}{% endwith %}{{ a is defined }}{{ c is defined }}
{% generation %}gen {{ i }}{% endgeneration %} {% block foo %}in block{% endblock %} {% print i, s %}
{% raw %}{{ not }} {% parsed %} {# either #}{% endraw %} {%- raw -%}  x  {%- endraw -%} y
{# comment #}a{# {{ not }} {% this #}b
{% include 'x' %}
{% import 'x' as y %}
{% extends 'x' %}
{% foo %}
{% if %}{% endif %}
{% if true %}
{% endif %}
{% for x in l %}{% endif %}
{{ 1 + }}
{{ }}
{{ (1 }}
{{ 1 ) }}
{{ "abc }}
{{ a b }}
{% set = 1 %}
{% set 1 = 1 %}
{{ x is }}
{{ 1 is foo }}
{{ 1|foo }}
{{ 'abc'|foo.bar }}
{{ ? }}
{# open
{% raw %} open
{% break %}
{{ a
{% macro m(a=1, b) %}{% endmacro %}
{{ 'a' 'b' "c" }} {{ 'it\'s' }} {{ "q\"q" }} {{ '\u00e9\x41\n\t\q\101' }} {{ '\ud83d\ude00' is string }}
{{ 0x1F }} {{ 0o17 }} {{ 0b101 }} {{ 1_000 }} {{ 1_0.5_0 }} {{ 1e2 }} {{ 1E+2 }} {{ 00 }}
{{ 'abc'.upper() }} {{ 'ABC'.lower() }} {{ 'hello wOrld'.title() }} {{ 'hELLO'.capitalize() }} {{ 'aBc'.swapcase() }} {{ "they're bill's".title() }}
{{ ws.strip() }}|{{ ws.lstrip() }}|{{ ws.rstrip() }}|{{ 'xxaxx'.strip('x') }}|{{ 'abcba'.lstrip('ab') }}|{{ 'abcba'.rstrip('ab') }}|{{ '\u00a0a\u3000'.strip() }}|
{{ 'a,b,,c'.split(',') }} {{ 'a b  c '.split() }} {{ 'a b c'.split(' ', 1) }} {{ ' a b c '.split(none, 1) }} {{ 'a,b,c'.rsplit(',', 1) }} {{ ' a b c '.rsplit(none, 1) }} {{ ''.split() }} {{ ''.split(',') }} {{ 'a'.split(maxsplit=1) }}
{{ 'a'.split('') }}
{{ 'a\nb\r\nc\n'.splitlines() }} {{ 'a\nb'.splitlines(true) }} {{ ''.splitlines() }} {{ 'a\x0bb\u2028c'.splitlines() }}
{{ 'abc'.startswith('ab') }} {{ 'abc'.endswith(('x', 'bc')) }} {{ 'abc'.startswith('b', 1) }} {{ 'abc'.endswith('b', 0, 2) }} {{ 'abc'.startswith('') }}
{{ 'abc'.startswith(1) }}
{{ 'abcabc'.find('c') }} {{ 'abcabc'.rfind('c') }} {{ 'abc'.find('z') }} {{ 'äbc'.find('c') }} {{ 'abcabc'.index('c', 3) }} {{ 'abcabc'.count('bc') }} {{ 'aaa'.count('aa') }} {{ 'abc'.count('') }}
{{ 'abc'.index('z') }}
{{ 'aXbX'.replace('X', '-') }} {{ 'aXbX'.replace('X', '-', 1) }} {{ 'abc'.replace('', '.') }} {{ ''.replace('', 'x') }} {{ 'äb'.replace('', '-', 2) }}
{{ ','.join(['a', 'b']) }} {{ ', '.join(d) }} {{ ''.join('abc') }}
{{ ','.join([1]) }}
{{ 'ab'.center(5) }}|{{ 'ab'.center(6, '*') }}|{{ 'abc'.center(6, '*') }}|{{ 'ab'.ljust(4) }}|{{ 'ab'.rjust(4, '.') }}|{{ '-5'.zfill(4) }}|{{ 'a'.center(4) }}|
{{ 'a-b-c'.partition('-') }} {{ 'a-b-c'.rpartition('-') }} {{ 'abc'.partition('-') }} {{ 'abc'.rpartition('-') }} {{ 'prefix'.removeprefix('pre') }} {{ 'a.txt'.removesuffix('.txt') }}
{{ 'abc'.isalpha() }} {{ '123'.isdigit() }} {{ 'a1'.isalnum() }} {{ ' '.isspace() }} {{ 'ABC'.isupper() }} {{ 'abc'.islower() }} {{ ''.isalpha() }} {{ 'é'.isascii() }} {{ 'aB'.isupper() }} {{ '1'.isnumeric() }} {{ '1a'.isdecimal() }}
{{ 'ß'.upper() }} {{ 'ŒUVRE'.lower() }} {{ 'straße'.title() }} {{ 'éa'.capitalize() }}
{{ '{} {}'.format(1, 'a') }} {{ '{1} {0}'.format(1, 2) }} {{ '{x}'.format(x=5) }} {{ '{0.a} {0[b]}'.format(d) }} {{ '{{}}'.format() }} {{ '{!r}'.format('a') }}
{{ '{:5}|{:<5}|{:>5}|{:^5}|{:*^5}|{:05}'.format('a', 'b', 'c', 'd', 'e', 7) }} {{ '{:.2f} {:,} {:+} {:x} {:#x} {:b} {:e} {:%} {:g} {:08.3f}'.format(3.14159, 1234567, 5, 255, 255, 5, 12345.678, 0.25, 0.0001, 3.14159) }} {{ '{:>{}}'.format('a', 4) }} {{ '{:.3}'.format('abcdef') }} {{ '{:d}'.format(true) }} {{ '{}'.format(true) }} {{ '{:.3}'.format(1234.5) }}
{{ '{'.format() }}
{{ '{} {}'.format(1) }}
{{ '{x}'.format() }}
{{ '{:d}'.format('a') }}
{{ '%s %d %05.2f %r %x %%' % ('a', 5, 3.14159, 'b', 255) }} {{ '%s' % 'one' }} {{ '%(a)s-%(b)d' % {'a': 1, 'b': 2} }} {{ '%5s|%-5s|%+d|% d|%c|%i|%e|%g' % ('a', 'b', 3, 4, 'x', 5.9, 12345.678, 0.00001) }} {{ '%.2s|%*d' % ('abc', 5, 3) }}
{{ '%s %s' % 'a' }}
{{ '%s' % (1, 2) }}
{{ '%d' % 'a' }}
{{ "%s-%s"|format('a', 'b') }} {{ "%(x)s"|format(x=1) }}
{{ l|length }} {{ s|length }} {{ d|length }} {{ l|count }} {{ (1, 2)|length }} {{ range(5)|length }} {{ d.items()|length }}
{{ 5|length }}
{{ l|map('string')|length }}
{{ l|first }} {{ l|last }} {{ s|first }} {{ s|last }} {{ d|first }} {{ d|last }} {{ []|first }}| {{ []|last }}| {{ l|map('string')|first }}
{{ l|map('string')|last }}
{{ l|sort }} {{ l|sort(reverse=true) }} {{ words|sort }} {{ words|sort(case_sensitive=true) }} {{ users|sort(attribute='age')|map(attribute='name')|list }} {{ users|sort(attribute='age,name')|map(attribute='name')|join(' ') }} {{ users|sort(true, attribute='age')|map(attribute='name')|join(' ') }}
{{ mixed|sort }}
{{ d|dictsort }} {{ d|dictsort(true) }} {{ d|dictsort(by='value') }} {{ d|dictsort(reverse=true) }} {{ d|dictsort(false, 'value', true) }}
{{ d|dictsort(by='x') }}
{{ l|reverse|list }} {{ s|reverse }} {{ (1, 2)|reverse|list }} {{ d|reverse|list }}
{{ l|join }} {{ l|join(', ') }} {{ users|join('+', attribute='name') }} {{ mixed|join('|') }} {{ s|join('.') }} {{ d|join }} {{ l|join(d=1) }}
{{ 5|join }}
{{ users|map(attribute='name')|list }} {{ users|map(attribute='zz', default='q')|list }} {{ users|map(attribute='tags.0')|list }} {{ words|map('upper')|join }} {{ l|map('string')|list }} {{ words|map('replace', 'a', 'x')|list }} {{ [[3, 1], [2]]|map('sort')|list }} {{ [[1, 2]]|map(attribute=1)|list }}
{{ l|map('nope')|list }}
{{ l|select('odd')|list }} {{ l|reject('odd')|list }} {{ mixed|select|list }} {{ mixed|reject|list }} {{ l|select('gt', 1)|list }} {{ l|select('>', 1)|list }} {{ mixed|select('string')|list }} {{ l|select('in', [1, 2])|list }} {{ l|select('divisibleby', 2)|list }}
{{ users|selectattr('active')|map(attribute='name')|list }} {{ users|rejectattr('active')|map(attribute='name')|list }} {{ users|selectattr('age', 'equalto', 30)|map(attribute='name')|list }} {{ users|selectattr('name', 'eq', 'Bob')|list|length }} {{ users|selectattr('zz', 'defined')|list }} {{ users|selectattr('tags.0', 'defined')|list|length }} {{ users|rejectattr('age', '<', 30)|list|length }}
{{ l|select('nope')|list }}
{% set g = l|select('odd') %}{{ g|list }}{{ g|list }} {% if l|select('gt', 100) %}true{% endif %} {{ g is iterable }} {{ g is sequence }} {{ g is string }}
{{ nope|default('x') }} {{ ''|default('x') }}| {{ ''|default('x', true) }} {{ none|default('x') }} {{ none|d('x', boolean=true) }} {{ nope|default }}| {{ 0|default(5, true) }} {{ d.zz|default(d.a) }}
{{ ' a '|trim }}| {{ 'xax'|trim('x') }} {{ 5|trim }} {{ ws|trim }}|
{{ 'abc'|upper }} {{ 'ABC'|lower }} {{ 'hello there-you (me) x'|title }} {{ 'hELLO w'|capitalize }} {{ "it's o'neil"|title }} {{ 5|upper }} {{ none|upper }}
{{ 'aXbX'|replace('X', '-') }} {{ 'aXbX'|replace('X', '-', 1) }} {{ 5|replace(5, 6) }} {{ 'abc'|replace('', '.') }}
{{ 'a\nb\n\nc'|indent }}| {{ 'a\nb'|indent(2) }}| {{ 'a\nb'|indent(2, true) }}| {{ 'a\n\nb'|indent(2, blank=true) }}| {{ 'a\nb'|indent('> ') }}| {{ 'a\nb\n'|indent }}| {{ ''|indent(first=true) }}| {{ 'a\n\n'|indent(2, true, true) }}|
{{ 5|indent }}
{{ '42'|int }} {{ '4.7'|int }} {{ 'x'|int }} {{ 'x'|int(5) }} {{ 3.9|int }} {{ -3.9|int }} {{ 'ff'|int(base=16) }} {{ '0x1f'|int(0, 16) }} {{ true|int }} {{ none|int }} {{ ' 7 '|int }} {{ '1_000'|int }} {{ [1]|int }} {{ '-5'|int }} {{ '1e3'|int }}
{{ '1.5'|float }} {{ 'x'|float }} {{ 'x'|float(2.5) }} {{ 3|float }} {{ '1e3'|float }} {{ 'inf'|float }} {{ none|float }} {{ true|float }} {{ '-.5'|float }}
{{ -5|abs }} {{ 5.5|abs }} {{ n|abs }} {{ true|abs }}
{{ 'a'|abs }}
{{ 2.5|round }} {{ 3.5|round }} {{ 2.675|round(2) }} {{ 42.55|round(1, 'floor') }} {{ 42.51|round(1, 'ceil') }} {{ 5|round }} {{ 1234|round(-2) }} {{ 1250|round(-2) }} {{ 0.5|round|int }} {{ -2.5|round }} {{ 7|round(0, 'ceil') }}
{{ 2.5|round(0, 'x') }}
{{ l|sum }} {{ []|sum }} {{ users|sum(attribute='age') }} {{ [1.5, 2]|sum }} {{ l|sum(start=10) }} {{ [[1], [2]]|sum(start=[]) }}
{{ words|sum }}
{{ l|min }} {{ l|max }} {{ words|min }} {{ words|max }} {{ words|max(case_sensitive=true) }} {{ users|max(attribute='age') }} {{ []|min }}| {{ 'hello'|max }}
{{ ['a', 'A', 'b', 'a']|unique|list }} {{ ['a', 'A']|unique(case_sensitive=true)|list }} {{ users|unique(attribute='age')|map(attribute='name')|list }} {{ [1, 1.0, true, 2]|unique|list }}
{{ [[1]]|unique|list }}
{{ range(7)|batch(3)|list }} {{ range(7)|batch(3, 'x')|list }} {{ range(7)|slice(3)|list }} {{ range(7)|slice(3, 'x')|list }}
{% for g in users|groupby('age') %}{{ g.grouper }}:{{ g.list|map(attribute='name')|join(',') }} {% endfor %} {% for age, us in users|groupby('age') %}{{ age }}={{ us|length }} {% endfor %} {{ users|groupby('zz', default=0)|length }}
{{ '<a href="x">\'&</a>'|escape }} {{ '<'|e }} {{ '<'|safe }} {{ ('<'|safe) + '<' }} {{ '<' + ('<'|safe) }} {{ ('<'|safe) ~ '<' }} {{ '<'|safe|e }} {{ '<'|safe|forceescape }} {{ ('<'|safe)|upper + '>' }} {{ ['<'|safe] }} {{ 5|e }} {{ ('a'|safe) is string }} {{ ('a'|safe) is escaped }}
{{ ('<a>'|safe).replace('a', '&') }} {{ ('a<'|safe).strip() + '<' }} {{ ('<'|safe).join(['>', 'a']) }} {{ ('<'|safe) * 2 + '<' }} {{ ('a,b'|safe).split(',')[0] + '<' }}
{{ 'hello big world'|wordcount }} {{ "it's a-b c_d"|wordcount }} {{ 'a b/c?d=e&f ü'|urlencode }} {{ {'a': 'b c', 'd': '/&'}|urlencode }} {{ [('x', 1)]|urlencode }} {{ 5|urlencode }}
{{ 'ab'|center(6) }}| {{ 'foo bar baz qux'|truncate(9) }} {{ 'foo bar baz qux'|truncate(9, true) }} {{ 'foo bar baz qux'|truncate(11) }} {{ 'foo bar baz qux'|truncate(11, false, '...', 0) }}
{{ s|list }} {{ d|list }} {{ range(3)|list }} {{ 'äö'|list }} {{ (1, 2)|list }}
{{ 5|list }}
{{ 5|string + 'a' }} {{ none|string }} {{ l|string }} {{ 1.0|string }}
{{ d|attr('keys') is callable }} {{ d|attr('a') is defined }} {{ d|attr('get')('b') }}
{{ mixed|tojson }} {{ nested|tojson }} {{ u|tojson }} {{ u|tojson(ensure_ascii=true) }} {{ '<a>&\'"\\/\n\t\x01\x7f\u2028'|tojson }}
{{ nested|tojson(indent=2) }} {{ []|tojson(indent=2) }} {{ {}|tojson(indent=2) }} {{ {'a': [], 'b': {}}|tojson(indent=4) }} {{ [1]|tojson(indent=0) }} {{ [1, [2]]|tojson(indent='\t') }}
{{ d|tojson(sort_keys=true) }} {{ d|tojson(separators=(',', ':')) }} {{ d|tojson(indent=2, separators=(', ', ' : ')) }} {{ (1, 2)|tojson }} {{ 1e16|tojson }} {{ 1.0|tojson }} {{ {1: 2, true: 3, none: 4, 1.5: 5}|tojson }} {{ 'inf'|float|tojson }}
{{ namespace()|tojson }}
{{ d.keys()|tojson }}
{{ {(1, 2): 3}|tojson }}
{{ '{"a": [1, 2.5, null, true, "\\u00e9"]}'|from_json }}
{{ '{bad'|from_json }}
{{ 1 is defined }} {{ 1 is number }} {{ 1.5 is number }} {{ true is number }} {{ '1' is number }} {{ 1 is integer }} {{ true is integer }} {{ 1.0 is float }} {{ 1 is float }} {{ true is boolean }} {{ 1 is boolean }} {{ true is true }} {{ 1 is true }} {{ false is false }} {{ none is none }} {{ '' is none }}
{{ 'a' is string }} {{ l is string }} {{ d is mapping }} {{ l is mapping }} {{ l is iterable }} {{ 's' is iterable }} {{ 5 is iterable }} {{ l is sequence }} {{ d is sequence }} {{ 's' is sequence }} {{ 5 is sequence }} {{ d.items() is sequence }} {{ d.items() is iterable }} {{ range(3) is sequence }} {{ (1,) is sequence }}
{{ 4 is even }} {{ 3 is odd }} {{ 9 is divisibleby 3 }} {{ 9 is divisibleby(2) }} {{ 1 is eq 1 }} {{ 1 is equalto 2 }} {{ 1 is ne 2 }} {{ 1 is lt 2 }} {{ 1 is gt 2 }} {{ 2 is ge 2 }} {{ 2 is le(1) }} {{ 1 is lessthan 2 }} {{ 3 is greaterthan 2 }} {{ 1 is in l }} {{ 'a' is in 'abc' }} {{ 5 is not in l }}
{{ 'abc' is lower }} {{ 'ABC' is upper }} {{ 'aB' is lower }} {{ none is sameas none }} {{ 1 is sameas true }} {{ 'upper' is filter }} {{ 'nope' is filter }} {{ 'odd' is test }} {{ range is callable }} {{ s.upper is callable }} {{ 5 is callable }} {{ '' is lower }}
{{ i is not none }} {{ i is not string and true }} {{ i is defined and i is number }} {{ nope is not defined or false }} {{ 5 is number == true }}
{{ 'a' is even }}
{{ 1 is divisibleby 0 }}
{{ not i is none }} {{ -i is number }} {{ 1 + 1 is number }} {{ i is number and s is string or false }}
{{ range(3)|list }} {{ range(1, 4)|list }} {{ range(10, 0, -3)|list }} {{ range(0)|list }} {{ range(3) }} {{ range(1, 10, 4) }} {{ range(5)[2] }} {{ range(5)[1:3]|list }}
{{ range(100001)|length }}
{{ range(1, 2, 0) }}
{{ range('a') }}
{{ dict(a=1, b='x') }} {{ dict([('a', 1)]) }} {{ dict({'x': 1}, y=2) }} {{ dict() }} {{ dict(**d) }}
{{ '{:%Y}'|string }} {{ strftime_now('%Y-%m-%d %H:%M:%S') }} {{ strftime_now('%d %b %Y') }} {{ strftime_now('%A, %B %j %y %I %p %%') }} {{ strftime_now('') }}|
{{ raise_exception('my "message" é') }}
{% if false %}{{ raise_exception('no') }}{% endif %}ok
{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.next() }}{{ c.next() }}{{ c.current }} {% set j = joiner('|') %}{{ j() }}x{{ j() }}y{{ j() }}
{% set q = [1] %}{% set _ = q.append(2) %}{{ q }} {{ q.pop() }} {{ q }} {% set _ = q.extend([5, 6]) %}{{ q }} {% set _ = q.insert(0, 9) %}{{ q }} {{ q.pop(0) }} {{ q.index(5) }} {{ q.count(5) }}
{% set q = [3, 1] %}{% set _ = q.sort() %}{{ q }}{% set _ = q.reverse() %}{{ q }}{% set _ = q.remove(3) %}{{ q }}{% set _ = q.clear() %}{{ q }}
{% set e = {'a': 1} %}{{ e.pop('a') }}{{ e }}{{ e.pop('z', 5) }} {% set _ = e.update({'b': 2}) %}{{ e }} {{ e.setdefault('c', 3) }} {{ e }} {% set _ = e.update(x=1) %}{{ e.copy() }}
{% set e = {} %}{{ e.pop('a') }}
{% set q = [] %}{{ q.pop() }}
{{ l.index(99) }}
{{ (1, 2, 1).count(1) }} {{ (1, 2).index(2) }} {{ l.copy() }}
{{ s.upper is callable }}x{{ (s.upper)() }}
{{ s.nope() }}
{{ i() }}
{{ s.split(' ')[-1] }} {{ s.split()|last }} {{ (s ~ '!')[-1] }} {{ 'a' ~ 'b' * 2 }}
{{ 1 ~ 2 + 3 }}
{{ l|length > 2 }} {{ l|length == 3 and d|length == 3 }} {{ 'a' in ['a'] and 'b' not in ['a'] }} {{ (l|first) + 1 }} {{ -n|abs }}
{{ -l|first }}
{{ [1, 2, 3][-1] }} {{ {'a': [1, 2]}.a[1] }} {{ 'abc'[1] }} {{ (1, 2)[0] }} {{ [[1, 2], [3]][0][1] }} {{ "x".join(["a","b"])|upper }}
{{ m(*[1, 2]) if m is defined else 'no m' }} {% macro p(a, b, c=0) %}{{ a }}{{ b }}{{ c }}{% endmacro %}{{ p(*[1, 2]) }} {{ p(**{'a': 1, 'b': 2}) }} {{ p(1, *[2], **{'c': 3}) }} {{ p(1, *[2], c=4) }}
{{ [1,] }} {{ (1, 2,) }} {{ {'a': 1,} }} {{ 'a'.replace('a', 'b',) }} {{ 1, 2 }} {{ 1, }}
"""

# Templates of more than one line.
MULTI_LINE = [
    "a\n{% if true %}\nb\n{% endif %}\nc",
    "  {% if true %}  \n  b\n  {% endif %}  \nc",
    "  {{ 1 }}  \n  {{- 2 -}}  \n  {{ 3 }}",
    "a  {%- if true -%}  b  {%- endif -%}  c",
    "a  {%+ if true +%}\n  b  {%+ endif +%}\nc",
    "  {% set x = 1 %}\n  {%- set y = 2 %}\n{{ x }}{{ y }}",
    "x {# c #} y\n  {# c #}\nz\n{#- c -#} w",
    "{# a #}\n\n{# b +#}\n{#+ c #}x",
    "{{ 'a' -}}\n\n   b\n{%- for x in l %}\n\n{{ x }}\n{%- endfor %}\n\nend",
    "{% for x in l -%}\n  {{ x }},\n{%- endfor %}\n",
    "{{ '  ' }}{% if true %} x{% endif %}",
    "{% raw %}\n a {{ b }}\n{% endraw %}\nc",
    "  {% raw %} x {% endraw %}\ny",
    "  {%+ raw %} x {%- endraw +%}\ny",
    "a\r\nb\rc\n\n",
    "a\n",
    "\n\n{% if true %}\n\n x\n\n{% endif %}\n\n",
    "\t{% if true %}\tx{% endif %}\t\ny",
    "x{% if true %}\n{% endif %}\n{% if true %}\n{% endif %}y",
    "{% if true %}{% if true %}\n  {% endif %}\n{% endif %}z",
    "{{ 1 }}\n{{ 2 }}\n\n{{ 3 }}",
    "{%- set x = 1 -%}\n   {{- x }}",
    "{{ '}}' }}{{ '%}' }}{{ \"{{\" }} {{ {'a': {'b': 1}} }} {{ {'a':{'b':1}}}}",
    "{% set x = {\n  'a': 1,\n  'b': [\n    2, 3\n  ]\n} %}{{ x.b[1] }}",
    "{{ 1\n+\n2 }}",
    "{ {% if true %}{ }{% endif %} } %} }} #}",
    "{",
    "{{ 'a\nb' }}",
    "\u00a0{% if true %}x{% endif %}\u2003\ny",
    "{% set x %}\n  line\n{% endset %}[{{ x }}]",
    "{% macro m() %}\n  {{ 1 }}\n{% endmacro %}\n{{ m() }}\n{{- m() -}}\n.",
    "{% for m in users %}\n{{ loop.index }}. {{ m.name }}\n{% endfor %}\ndone",
    "line1\nline2 {{ nope.x }}",
    "{{ 'x' }}\n\n\n",
    "",
    "\n",
    "{%- if true %}a{% endif -%}\n\n  b\n",
]


def main():
    sources = CASES.strip("\n").split("\n") + MULTI_LINE
    rows = []
    counts = {"text": 0, "raises": 0, "fails": 0}
    for source in sources:
        result = jinja_oracle.render(source, VARIABLES)
        counts[next(iter(result))] += 1
        rows.append({"template": source, **result})
    out = pathlib.Path(__file__).with_name("cases.json")
    body = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    out.write_text(
        '{"variables": ' + json.dumps(VARIABLES, ensure_ascii=False) + ',\n"cases": [\n' + body + "\n]}\n", encoding="utf-8"
    )
    print(f"{len(rows)} cases: {counts}, {out.stat().st_size} bytes")


main()
