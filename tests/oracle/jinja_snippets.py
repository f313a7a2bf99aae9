"""Small templates for check_render.py: each feature of the language by hand, and filters, tests, methods and operators crossed with a
list of values. Every entry is (template, context).

The values are no constants: what Jinja2 computes before rendering, it prints as nothing where the same fails at run time ({{ {1: 2}[1:] }}).
"""
from __future__ import annotations

CONTEXT = {
    "text": "Hello, World", "uni": "Straße ΟΔΟΣ ǆ é😀", "blank": "", "spaces": " \t a  b \n\n c ", "lines": "one\ntwo\r\n\nthree\n",
    "quote": "it's", "both": "it's \"x\"", "html": "<b>&'\"</b>", "zero": 0, "one": 1, "neg": -7, "big": 2**53 + 1, "huge": 10**30,
    "pi": 3.14159, "tiny": 1e-07, "large": 1e22, "half": 0.5, "whole": 3.0, "yes": True, "no": False, "nil": None,
    "list": [3, 1, 2], "words": ["b", "A", "c", "a"], "empty": [], "nested": [[1, 2], [3, [4]], []], "mixed": [1, "a", None, True, 2.5, {"k": "v"}],
    "dict": {"b": 1, "a": 2, "items": 3}, "edict": {}, "deep": {"x": {"y": [{"z": "found"}]}, "s": "it's", "q": 'say "hi"', "n": None},
    "people": [{"name": "Bob", "age": 3, "tags": ["x"]}, {"name": "alice", "age": 3}, {"name": "Carl", "age": 1, "tags": []}],
    "messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "U1"}, {"role": "assistant", "content": "A <x>"},
                 {"role": "user", "content": "U2"}],
    "args": {"city": "Zürich", "n": 1.0, "deep": {"list": [1, None, False], "empty": {}, "none": []}, "t": "a\"b\\c\n\u2028\u007f"},
}
VALUES = ["text", "uni", "blank", "spaces", "lines", "quote", "both", "html", "zero", "one", "neg", "big", "huge", "pi", "tiny", "large", "half",
          "whole", "yes", "no", "nil", "list", "words", "empty", "nested", "mixed", "dict", "edict", "deep", "people", "missing", "(one, 2)", "(one,)", "list[:0]|list", "dict.items()|list|first",
          "range(3)", "range(0)", "text|safe", "html|safe", "namespace(a=1)", "dict.items()", "dict.keys()", "dict.values()", "list|map('string')",
          "{1: 'a', true: 'b', 2.0: 'c', none: nil}", "'a\\nb\\t\\x41\\u00e9\\\\ \\q' ~ blank", "-0.0 * one", "1e16 * one", "123456789012345680.0 * one", "0x1f * one", "[one, [2, 'x']]"]

FILTERS = ["abs", "attr('name')", "attr('upper')", "batch(2)|list", "batch(2, 'x')|list", "capitalize", "center(20)", "count", "d('x')", "default", "default('x', true)",
           "default('x', boolean=true)", "dictsort", "dictsort(true)", "dictsort(by='value')", "dictsort(reverse=true)", "e", "escape", "first", "float", "float(1.5)", "forceescape",
           "format(1, 'x')", "indent", "indent(2)", "indent(2, true)", "indent(2, first=true, blank=true)", "indent('> ')", "int", "int(7)", "int(base=16)", "items|list", "join",
           "join(', ')", "join(1)", "last", "length", "list", "lower", "map('upper')|list", "map('length')|list", "map(attribute='name')|list",
           "map(attribute='nope', default='-')|list", "max", "min", "max(attribute='age')", "reject|list", "reject('none')|list", "rejectattr('tags')|list", "rejectattr('age', 'eq', 3)|list",
           "replace('l', 'L')", "replace('l', 'L', 1)", "replace('', '-')", "reverse", "reverse|list", "round", "round(2)", "round(1, 'floor')", "round(method='ceil')", "safe", "select|list",
           "select('string')|list", "selectattr('name')|list", "selectattr('age', 'equalto', 3)|list", "selectattr('tags', 'defined')|list", "selectattr('name', 'in', ['Bob'])|list",
           "slice(2)|list", "slice(2, 'x')|list", "sort", "sort(reverse=true)", "sort(case_sensitive=true)", "sort(attribute='name')", "sort(attribute='age,name')", "string", "striptags", "sum",
           "sum(attribute='age')", "sum(start=10)", "title", "tojson", "tojson(indent=2)", "tojson(ensure_ascii=true)", "tojson(separators=(',', ':'))", "tojson(sort_keys=true)",
           "tojson(indent=4, sort_keys=true)", "tojson(indent='\\t')", "tojson(indent=0)", "trim", "trim('H d')", "truncate(5)", "truncate(5, true)", "truncate(8, false, '..', 0)", "unique|list",
           "unique(case_sensitive=true)|list", "unique(attribute='age')|list", "upper", "wordcount", "nofilter", "tojson(1, 2, 3, 4, 5)", "lower(1)", "join(nope=1)"]

TESTS = ["boolean", "callable", "defined", "divisibleby 3", "divisibleby(2)", "eq 1", "equalto(1)", "escaped", "even", "false", "filter", "float", "ge 1", "gt 1", "greaterthan 1", "in [1, 'a']",
         "in 'Hello, World!'", "integer", "iterable", "le 1", "lessthan 1", "lower", "lt 1", "mapping", "ne 1", "none", "number", "odd", "sameas true", "sameas none", "sequence", "string",
         "test", "true", "undefined", "upper", "not none", "not defined", "not in [1, 2]", "notest"]

METHODS = ["capitalize()", "casefold()", "center(15)", "center(16, '*')", "count('l')", "count('')", "endswith('d')", "endswith(('x', 'd'))", "expandtabs(4)", "find('o')", "find('o', 5)", "find('o', -3, 99)",
           "format(1, a=2)", "index('o')", "isalnum()", "isalpha()", "isascii()", "isdecimal()", "isdigit()", "islower()", "isnumeric()", "isprintable()", "isspace()", "istitle()", "isupper()",
           "join(['a', 'b'])", "join([1])", "ljust(15, '.')", "lower()", "lstrip()", "lstrip('Hl e')", "partition('o')", "partition('zz')", "removeprefix('Hel')", "removesuffix('rld')",
           "replace('l', 'LL')", "replace('l', '', 1)", "replace('', '-')", "rfind('o')", "rindex('o')", "rjust(15)", "rpartition('o')", "rsplit()", "rsplit('l', 1)", "rsplit(none, 1)", "rstrip()", "rstrip('d\\n')",
           "split()", "split('l')", "split('l', 1)", "split(none, 1)", "split(sep='o', maxsplit=1)", "split('')", "splitlines()", "splitlines(true)", "startswith('He')", "startswith('l', 2)", "startswith(1)",
           "strip()", "strip('\\n')", "strip('Hd ')", "swapcase()", "title()", "upper()", "zfill(20)", "nope()", "encode", "__class__", "_private", "get('a')", "get('zz', 5)", "get([])", "items()", "keys()|list",
           "values()|list", "copy()", "append(1)", "pop()", "update({})", "clear()", "index(1)", "count(1)", "strip", "upper.x"]

OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "~", "==", "!=", "<", "<=", ">", ">=", "and", "or", "in", "not in"]
OPERANDS = ["text", "blank", "zero", "one", "neg", "pi", "yes", "nil", "list", "empty", "dict", "missing", "(1, 2)", "html|safe", "'<'", "huge", "2.0", "range(3)"]

ACCESS = ["[0]", "[-1]", "[99]", "['a']", "['items']", ".a", ".items", ".nope", "['nope']", "[1:]", "[:1]", "[::-1]", "[1:3]", "[-2:]", "[::2]", "[5:1:-2]", "[::0]", "['x':]", "[none:2]", "[1.0]", "[true]", ".0", "[missing]",
          "['__class__']", ".name", "[0].name", "[0][0]", "[(1, 2)]"]

HAND = r"""
{{ 1 }}{{- 2 -}} {{ 3 }}
a {%- if true %} b {% endif -%} c
  {% if true %}
  x
  {% endif %}
y
{% for x in [1,2] %}
{{ x }}
{% endfor %}
{% for x in list %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.previtem }}{{ loop.nextitem }};{% endfor %}
{% for x in list|map('string') %}{{ x }}{{ loop.last }}{{ loop.length }}{{ loop.nextitem }};{% endfor %}
{% for x in empty %}a{% else %}none{% endfor %}
{% for x in missing %}a{% else %}none{% endfor %}
{% for x in nil %}a{% endfor %}
{% for x in 5 %}a{% endfor %}
{% for x in list if x > 1 %}{{ x }}{{ loop.index }}/{{ loop.length }}{% else %}no{% endfor %}
{% for x in list if x > 10 %}{{ x }}{% else %}no{% endfor %}
{% for k, v in dict.items() %}{{ k }}={{ v }},{% endfor %}
{% for k, v in dict|items %}{{ k }}={{ v }},{% endfor %}
{% for k in dict %}{{ k }},{% endfor %}
{% for c in uni %}{{ c }}|{% endfor %}
{% for a, b in [(1,2),(3,4)] if a > 1 %}{{ a }}{{ b }}{{ loop.previtem }}{% endfor %}
{% for a, b in [[1,2],[3,4]] if a > 1 %}{{ a }}{{ b }}{{ loop.nextitem is undefined }}{% endfor %}
{% for a, (b, c) in [(1,(2,3))] %}{{ a }}{{ b }}{{ c }}{% endfor %}
{% for a, b in [1] %}{{ a }}{% endfor %}
{% for a, b in [(1,2,3)] %}{{ a }}{% endfor %}
{% for a in list %}{% if a == 1 %}{% break %}{% endif %}{{ a }}{% endfor %}
{% for a in list %}{% if a == 1 %}{% continue %}{% endif %}{{ a }}{% endfor %}
{% for a in list %}{% break %}{% else %}else{% endfor %}
{% for a in list %}{% continue %}{% else %}else{% endfor %}
{% for a in list %}{{ a }}{% if loop.index == 2 %}{% break %}{% endif %}{% else %}else{% endfor %}
{% break %}
{% for a in [1] %}{% macro m() %}{% break %}{% endmacro %}{% endfor %}
{% set x = 1 %}{% for a in list %}{% set x = x + a %}{{ x }},{% endfor %}{{ x }}
{% set ns = namespace(x=1) %}{% for a in list %}{% set ns.x = ns.x + a %}{% endfor %}{{ ns.x }}
{% set ns = namespace() %}{{ ns.x }}{% set ns.x = [1] %}{{ ns.x }}{{ ns['x'] }}{{ ns.y is defined }}
{% set ns = namespace({'a': 1}, b=2) %}{{ ns.a }}{{ ns.b }}
{% set ns = namespace(_a=1) %}
{% set ns = namespace() %}{% set ns._a = 1 %}
{% set d = {} %}{% set d.x = 1 %}
{% set x.y = 1 %}
{% set a, b = 1, 2 %}{{ a }}{{ b }}
{% set a, b = [1, 2, 3] %}
{% set ns = namespace() %}{% set ns.a, b = 1, 2 %}{{ ns.a }}{{ b }}
{% set x %}hello {{ text }}{% endset %}{{ x }}|{{ x|length }}
{% set x | upper %}hello {{ text }}{% endset %}{{ x }}
{% set x | replace('l', 'L') | trim %}  hello {% endset %}[{{ x }}]
{% if x is defined %}y{% else %}n{% endif %}{% set x = 1 %}{{ x }}
{% if false %}{% set x = 1 %}{% endif %}{{ x is defined }}
{% if true %}{% set x = 1 %}{% endif %}{{ x }}
{% if no %}{% set text = 1 %}{% endif %}{{ text }}
{% for i in [1] %}{% set text = 1 %}{{ text }}{% endfor %}{{ text }}
{% for i in [1,2] %}{% if i == 1 %}{% set text = 1 %}{% endif %}{{ text }}{% endfor %}{{ text }}
{% for i in [1,2] %}{% if i == 1 %}{% set fresh = 1 %}{% endif %}{{ fresh }}{% endfor %}{{ fresh }}
{% for text in list %}{{ text }}{% endfor %}{{ text }}
{% for x in [1,2] %}{% for x in [3] %}{{ x }}{% endfor %}{{ x }}{% endfor %}
{% for x in [1,2] %}{% for y in [3,4] %}{{ loop.index }}{{ x }}{{ y }}{% endfor %}{{ loop.index }}{% endfor %}
{% if list and not empty %}a{% elif true %}b{% else %}c{% endif %}
{% if empty %}a{% elif nil %}b{% elif zero %}z{% else %}c{% endif %}
{% if false %}{% elif true %}{% set q = 1 %}{% endif %}{{ q }}
{% macro m(a, b=2, c=a) %}{{ a }}-{{ b }}-{{ c }}{% endmacro %}{{ m(1) }}|{{ m(1, 3) }}|{{ m(b=5, a=4) }}|{{ m() }}
{% macro m(a) %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, 3, x=4) }}
{% macro m(a) %}x{% endmacro %}{{ m(1, 2) }}
{% macro m(a) %}x{% endmacro %}{{ m(b=2) }}
{% macro m(a, a2) %}{{ a2 is defined }}{% endmacro %}{{ m(1) }}
{% macro m(x) %}{% if x > 0 %}{{ x }}{{ m(x - 1) }}{% endif %}{% endmacro %}{{ m(5) }}
{% macro m() %}{{ later }}{% endmacro %}{% set later = 3 %}{{ m() }}
{% macro m() %}{{ text }}{% set text = 5 %}{{ text }}{% endmacro %}{{ m() }}{{ text }}
{% macro m() %}{{ caller() }}!{% endmacro %}{% call m() %}body {{ text }}{% endcall %}
{% macro m() %}{{ caller(1, 2) }}{% endmacro %}{% call(a, b) m() %}{{ a }}{{ b }}{% endcall %}
{% macro m() %}{{ caller is defined }}{% endmacro %}{{ m() }}
{% macro m() %}{{ caller() }}{% endmacro %}{{ m() }}
{% macro m() %}x{% endmacro %}{% call m() %}y{% endcall %}
{% macro m() %}{{ m.name }}{{ m.arguments }}{{ m.catch_kwargs }}{% endmacro %}{{ m() }}{{ m }}
{% macro m(a) %}{{ a }}{% endmacro %}{% set x = m('<') %}{{ x ~ x }}{{ x|length }}{{ x is string }}
{% macro outer() %}{% macro inner(x) %}[{{ x }}{{ z }}]{% endmacro %}{% set z = 1 %}{{ inner(2) }}{% endmacro %}{{ outer() }}
{% for i in [1,2] %}{% macro m() %}{{ i }}{% endmacro %}{{ m() }}{% endfor %}
{% filter upper %}abc {{ text }}{% endfilter %}
{% filter replace('a', 'b') | upper %}aaa{% endfilter %}
{% with a = 1, b = 2 %}{{ a }}{{ b }}{% endwith %}{{ a is defined }}
{% with %}{% set x = 1 %}{{ x }}{% endwith %}{{ x is defined }}
{% with a = 1, b = a %}{{ b }}{% endwith %}
{% generation %}gen {{ text }}{% endgeneration %} after
{% for m in messages %}{% generation %}{% set z = 1 %}{{ loop.index }}{{ m.content }}{% endgeneration %}{{ z is defined }}{% endfor %}
{% raw %}{{ x }} {% if %}{% endraw %}|
  {%- raw -%}  {{ x }}  {%- endraw -%}  |
a{# comment #}b{#- strip -#} c
  {# comment line #}
x
{#- a -#}  b
{{ '{{' }}{{ "}}" }}{{ '%}' }}
{{ "a" "b" 'c' }}
{{ 'it\'s' }}{{ "q\"q" }}{{ '\101\x41\u0041' }}{{ '\e' }}{{ 'a\
b' }}
{{ [1, 2,] }}{{ {'a': 1,} }}{{ (1,) }}{{ () }}{{ [] }}{{ {} }}
{{ {'a': 1, 'a': 2, 'b': 3} }}
{{ {'k': [1, 'x', none, true, 1.5, {'z': ()}]} }}
{{ [text, quote, both, uni, lines] }}
{{ ['\x00\x7f\x80\u200b\u2028\U0001F600\ue000é'] }}
{{ [text|safe, html|safe] }}
{{ 1 if true }}|{{ 1 if false }}|{{ 1 if false else 2 }}|{{ (1 if false).x }}
{{ 'a' if no else 'b' if no else 'c' }}
{{ (1 if false) is defined }}
{{ 1 < 2 < 3 }}{{ 1 < 2 > 3 }}{{ 1 < 3 > 2 == 2 }}{{ 1 == 1.0 == true }}
{{ 1 in [1] in [[1]] }}
{{ not 1 == 2 }}{{ not not 1 }}{{ not missing }}
{{ 1 + 2 * 3 ** 2 }}{{ 2 ** 3 ** 2 }}{{ -2 ** 2 }}{{ (-2) ** 2 }}{{ 2 ** -1 }}{{ 7 // -2 }}{{ -7 // 2 }}{{ 7 % -3 }}{{ -7 % 3 }}{{ 7.5 % 2 }}{{ -7.5 // 2 }}
{{ 1 / 3 }}{{ 6 / 2 }}{{ 1 / 0 }}
{{ 1 // 0 }}
{{ 1 % 0 }}
{{ 'a' ~ 1 + 2 }}
{{ 'a' ~ 1 ~ none ~ true ~ 1.0 ~ missing ~ [1] }}
{{ 1 ~ 2 * 3 }}{{ 1 + 2 ~ 3 }}
{{ 'x' * 3 }}{{ 3 * 'x' }}{{ [1] * 2 }}{{ 'x' * -1 }}{{ 'x' * true }}
{{ 'x' + 1 }}
{{ 1 + 'x' }}
{{ 'x' + none }}
{{ [1] + [2] }}{{ (1,) + (2,) }}
{{ [1] + (2,) }}
{{ missing + 1 }}
{{ missing.x }}
{{ missing['x'] }}
{{ missing() }}
{{ text.nope }}{{ text.nope.x }}
{{ nil.x }}
{{ nil.x.y }}
{{ dict.nope.x }}
{{ missing == missing2 }}{{ missing == nil }}{{ missing == '' }}{{ missing|length }}{{ missing|list }}
{{ missing < 1 }}
{{ '%s-%d-%5.2f-%r-%%-%x-%05d-%-5s|-%+d' % ('a', 3, 2.5, 'q', 255, 42, 'l', 7) }}
{{ '%s' % 'a' }}{{ '%s' % [1, 2] }}{{ '%(a)s %(b)d' % {'a': 1, 'b': 2} }}
{{ '%s %s' % 'a' }}
{{ '%s' % ('a', 'b') }}
{{ '%d' % 'a' }}
{{ '%s' % (missing,) }}{{ '%.2s' % 'abc' }}{{ '%c%c' % (65, 'b') }}{{ '%e' % 12345.678 }}{{ '%g' % 0.00001 }}{{ '%i' % 3.7 }}{{ '%5s|%-5s|' % ('a', 'b') }}
{{ '{} {}'.format(1, 'a') }}{{ '{0} {1} {0}'.format('a', 'b') }}{{ '{a} {b.c}'.format(a=1, b={'c': 2}) }}
{{ '{:>5}|{:<5}|{:^5}|{:*^7}|{:05d}|{:+d}|{:,}|{:.2f}|{:e}|{:x}|{:#x}|{:b}|{:%}|{:10.3f}|'.format('a', 'b', 'c', 'd', 42, 7, 1234567, 3.14159, 12345.678, 255, 255, 5, 0.25, 2.5) }}
{{ '{!r} {!s}'.format('a', 'b') }}{{ '{{}}'.format() }}{{ '{[0]} {[k]}'.format([1], {'k': 2}) }}
{{ '{} {1}'.format(1, 2) }}
{{ '{'.format(1) }}
{{ '{}'.format() }}
{{ '{x}'.format() }}
{{ '{:g} {:g} {:n} {} {}'.format(1e10, 1.5, 3, 1e100, true) }}{{ '{:5}|{:<5}|{:5}|'.format(1, 2, 'x') }}{{ '{:.3}'.format('abcdef') }}
{{ '%s %s'|format('a', 1) }}{{ '%(x)s'|format(x=2) }}
{{ html|safe + '<' }}{{ '<' + html|safe }}{{ (html|safe) ~ '<' }}{{ (html|safe)|upper }}{{ (html|safe)|replace('b', '<') }}
{{ (html|safe) % () }}{{ ('%s'|safe) % '<' }}{{ ('<%s>'|safe) % (html|safe) }}{{ ('{}'|safe).format('<') }}{{ ('%s %r'|safe)|format('<', '>') }}
{{ ('-'|safe).join(['<', '>'|safe]) }}{{ '-'.join(['<'|safe, '>']) }}{{ ['<', '>'|safe]|join('&') }}{{ ['<', '>']|join('&'|safe) }}
{{ ('a<b'|safe).split('<') }}{{ ('a<b'|safe)[0] + '<' }}{{ ('ab'|safe)[0:1] + '<' }}{{ ('a'|safe).upper() + '<' }}{{ ('a'|safe).replace('a', '<') }}
{{ ('a'|safe) * 2 + '<' }}{{ ('x'|safe)|trim + '<' }}{{ ('x'|safe)|string + '<' }}{{ ('x'|safe)|lower + '<' }}{{ ('x'|safe)|title + '<' }}{{ ('x'|safe)|first + '<' }}{{ ('x'|safe)|list }}
{{ ('a\nb<'|safe)|indent + '<' }}{{ ('x'|safe) + 1 }}
{{ none|safe }}{{ 1|safe + '<' }}{{ '<'|e }}{{ '<'|e|e }}{{ '<'|forceescape }}{{ '<'|e|forceescape }}{{ '&lt;<b>x</b>'|striptags }}{{ ('a'|safe) == 'a' }}{{ 'a' in ('abc'|safe) }}
{{ {('a'|safe): 1} }}{{ {('a'|safe): 1}['a'] }}{{ ('a'|safe)|tojson }}{{ ('a'|safe)|reverse + '<' }}{{ ('a'|safe)|capitalize + '<' }}{{ ('a'|safe)|replace('a','b') + '<' }}
{{ (html|safe).unescape() }}{{ ('&lt;a&gt; <i>x</i>'|safe).striptags() }}
{{ args|tojson }}
{{ args|tojson(indent=2) }}
{{ args|tojson(ensure_ascii=true) }}
{{ args|tojson(sort_keys=true, separators=(',', ':')) }}
{{ (1, 2)|tojson }}{{ {1: 2, none: 3, true: 4, 1.5: 5}|tojson }}{{ missing|tojson }}
{{ missing|tojson }}
{{ range(3)|tojson }}
{{ {(1, 2): 3}|tojson }}
{{ {1: 1, 'a': 2}|tojson(sort_keys=true) }}
{{ [1.0, 1e16, 1e15, 123456789.123, 1e-4, 1e-5, 0.1, 1e100, 2.5e-8, 100000000000000000000.0, -0.0, 1.7976931348623157e308] }}
{{ [1.0, 1e16, 1e15, 123456789.123, 1e-4, 1e-5, 0.1, 1e100, 2.5e-8, -0.0]|tojson }}
{{ big }}{{ huge }}{{ [huge] }}{{ huge|tojson }}{{ huge == huge }}{{ huge > big }}{{ big + 1 }}
{{ range(5)|list }}{{ range(1, 5)|list }}{{ range(5, 0, -2)|list }}{{ range(0)|list }}{{ range(3) }}{{ range(0, 9, 3) }}{{ range(9)[2:5] }}{{ range(9)[::-2] }}{{ range(3)[1] }}{{ 2 in range(3) }}{{ range(3)|length }}
{{ range(0, 10, 0) }}
{{ range(1.5) }}
{{ range(1000000) }}
{{ range() }}
{{ dict(a=1, b=2) }}{{ dict([('a', 1)]) }}{{ dict({'a': 1}, b=2) }}{{ dict() }}{{ dict.fromkeys(['a', 'b'], 1) if false else 1 }}
{{ dict }}
{{ raise_exception('custom message') }}
{{ raise_exception() }}
{% if false %}{{ raise_exception('no') }}{% endif %}ok
{{ joiner }}
{% set j = joiner('|') %}{{ j() }}{{ j() }}{{ j() }}
{% set j = joiner() %}{% for x in list %}{{ j() }}{{ x }}{% endfor %}
{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.next() }}{{ c.next() }}{{ c.current }}{{ c.reset() }}{{ c.next() }}
{{ cycler() }}
{% for x in list %}{{ loop.cycle('odd', 'even') }}{% endfor %}
{% for x in [1, 1, 2] %}{{ loop.changed(x) }}{% endfor %}
{% for x in [1] %}{{ loop.depth }}{{ loop.depth0 }}{{ loop.nope }}{{ loop }}{% endfor %}
{% for x in [{'n': 1, 'c': [{'n': 2, 'c': []}]}] recursive %}[{{ x.n }}{{ loop.depth }}{{ loop(x.c) }}]{% endfor %}
{% for x in [[1, [2]], 3] recursive %}{% if x is iterable %}({{ loop(x) }}){% else %}{{ x }}{% endif %}{% else %}E{% endfor %}
{% for x in list %}{{ loop(x) }}{% endfor %}
{% for x in list %}{% for y in list %}{% if y == 1 %}{% break %}{% endif %}{{ y }}{% endfor %}|{% endfor %}
{% for x in loop %}{% endfor %}
{% set loop = 1 %}{{ loop }}
{% for x in [1] %}{% set loop = 1 %}{% endfor %}
{% for loop in [1] %}{% endfor %}
{{ loop }}
{{ messages[0].role }}{{ messages[0]['content'] }}{{ messages[-1].content }}{{ messages[::-1][0].content }}{{ messages[1:]|length }}
{{ messages|selectattr('role', 'equalto', 'user')|map(attribute='content')|join(',') }}
{{ messages|selectattr('role', 'equalto', 'user')|list|length }}{{ (messages|selectattr('role', 'equalto', 'user')|list)[-1].content }}
{{ (messages|selectattr('role', 'equalto', 'user')|first).content }}
{{ messages|map(attribute='role')|unique|list }}{{ messages|map(attribute='content')|map('length')|sum }}
{{ messages|rejectattr('role', 'in', ['user', 'system'])|list }}
{{ messages|selectattr('nope', 'defined')|list }}{{ messages|selectattr('role', 'nope')|list }}
{{ messages|selectattr()|list }}
{{ messages|map()|list }}
{{ messages|map('nope')|list }}
{{ messages|map(attribute='role')|last }}
{{ messages|map(attribute='role')|length }}
{{ (messages|map(attribute='role'))[0] }}
{{ messages|map(attribute='role')|reverse|list }}
{{ people|map(attribute='tags.0', default='-')|list }}{{ people|map(attribute='name.0')|list }}{{ deep|map('upper')|list }}
{{ people|sort(attribute='age')|map(attribute='name')|list }}{{ people|sort(attribute='nope')|length }}
{{ mixed|sort }}
{{ [nil, 1]|max }}
{{ empty|min }}{{ empty|first }}{{ empty|last }}{{ empty|sum }}{{ empty|join }}
{{ deep.x.y[0].z }}{{ deep['x']['y'].0.z }}{{ deep.x.y.0['z'] }}
{{ dict.items }}
{{ dict['items'] }}{{ dict.get('items') }}{{ dict.items() }}{{ dict.keys() }}{{ dict.values() }}{{ dict|length }}{{ 'a' in dict }}{{ 'a' in dict.keys() }}{{ 1 in dict.values() }}{{ ('a', 2) in dict.items() }}
{{ {}.items }}
{{ dict.update({'x': 1}) }}
{{ list.append(1) }}
{{ list.pop }}|{{ dict.pop }}|{{ text.__class__ }}|{{ text.__len__ is defined }}
{{ list.__class__.__name__ }}
{{ text.upper().lower().title() }}{{ 'a,b,c'.split(',')[1] }}{{ 'a b'.split() }}{{ text.split(',')[0].strip().upper() }}
{{ text[0] }}{{ text[-1] }}{{ text[1:4] }}{{ text[::-1] }}{{ uni[3] }}{{ uni[2:9] }}{{ uni[::-1] }}{{ uni[-2:] }}{{ uni|length }}{{ uni[::2] }}{{ text[99] }}{{ text[99:] }}
{{ uni.upper() }}{{ uni.lower() }}{{ uni.title() }}{{ uni.capitalize() }}{{ uni.swapcase() }}{{ 'ŉ ﬁ ῳ İ ı ß'.upper() }}{{ 'ŉ ﬁ ῳ İ ı ß'.title() }}{{ 'ΑΣ ΣΑ Σ ΑΣ.'.lower() }}{{ 'ΑΣ-ΣΑΣ'|title }}{{ 'İI'.lower() }}
{{ "don't-stop (now) {x} [y] <z>"|title }}{{ "don't-stop (now)".title() }}{{ 'HELLO world'|capitalize }}
{{ '١٢'.isdigit() }}{{ '²'.isdigit() }}{{ '½'.isnumeric() }}{{ 'é'.isalpha() }}{{ '_'.isalnum() }}{{ 'ǅ'.istitle() }}{{ '\u3000'.isspace() }}
{{ '\u3000x\u00a0\x1f'.strip() }}|{{ '\u200bx'.strip() }}{{ '\x1ca\x1db'.split() }}{{ 'a\x0bb\x0cc\x1dd\x85e\u2028f'.splitlines() }}
{{ 'aXbXc'.split('X', 0) }}{{ 'aXbXc'.rsplit('X', 1) }}{{ ' a  b '.split(' ') }}{{ ' a b  c '.split(none, 1) }}{{ ' a b  c '.rsplit(none, 1) }}{{ ''.split() }}{{ ''.split(',') }}{{ ''.splitlines() }}
{{ '1.5'|float + 1 }}{{ '42'|int + 1 }}{{ '42.9'|int }}{{ 'x'|int }}{{ ' 42 '|int }}{{ '0x1f'|int(base=16) }}{{ '1f'|int(0, 16) }}{{ '1_0'|int }}{{ none|int(5) }}{{ []|int }}{{ 3.99|int }}{{ -3.99|int }}{{ true|int }}{{ 'inf'|float }}{{ 'nan'|float }}{{ '1e3'|int }}
{{ missing|int }}
{{ missing|float }}
{{ missing|default }}{{ missing|default(none) }}{{ nil|default('x') }}{{ nil|default('x', true) }}{{ ''|d('x', true) }}{{ missing.x|default('x') }}
{{ 2.5|round }}{{ 3.5|round }}{{ 2.675|round(2) }}{{ 42|round }}{{ 42|round(1, 'ceil') }}{{ 1.25|round(1) }}{{ 1e20|round }}{{ true|round }}
{{ 'x'|round }}
{{ 1|abs }}{{ -1|abs }}{{ -1.5|abs }}{{ true|abs }}{{ -1|abs|string + 'x' }}
{{ - 1 }}{{ + 1 }}{{ -true }}{{ +true }}{{ -1.5 }}{{ - -1 }}{{ -text }}
{{ -missing }}
{{ true + true }}{{ true * 3 }}{{ true == 1 }}{{ true is number }}{{ true is integer }}{{ true ~ '' }}{{ [true, false, none] }}{{ true|string }}{{ none|string }}{{ True }}{{ None }}{{ none }}{{ false }}
{{ 1 is number }}{{ 1.0 is float }}{{ '1' is string }}{{ [] is sequence }}{{ {} is mapping }}{{ () is iterable }}{{ missing is iterable }}{{ missing is sequence }}{{ missing is callable }}{{ nil is none }}{{ 0 is false }}{{ false is false }}{{ 1 is true }}
{{ 3 is divisibleby 3 }}{{ 3 is odd }}{{ 2.0 is even }}{{ 'x' is even }}
{{ 1 is in [1, 2] }}{{ 'a' is in 'abc' }}{{ 1 is not in [2] }}{{ 'upper' is filter }}{{ 'nope' is filter }}{{ 'odd' is test }}
{{ x is not defined }}{{ text is defined and text is string }}{{ text is string or nope is odd }}
{{ 1 is eq 1 }}{{ 1 is ne 2 }}{{ 1 is lt 2 }}{{ 2 is ge 2 }}{{ 1 is == 1 }}
{{ 1 is nope }}
{{ 1|nope }}
{% if false %}{{ 1|nope }}{% endif %}ok
{% if true %}{{ 1|nope }}{% endif %}
{% if false %}{% for x in [1] %}{{ 1|nope }}{% endfor %}{% endif %}
{{ (1|nope) if false else 2 }}
{{ 1 if 1 is nope else 2 }}
{{ strftime_now('%Y-%m-%d %H:%M:%S %B %b %A %a %d %-d %e %j %y %I %p %Z%z %% %f %U %w') }}
{{ strftime_now('') }}|{{ strftime_now('é %d') }}
{{ foo.bar is defined }}
{{ (text|upper)[0] }}{{ text|upper|lower|length }}{{ (text ~ 'x')|length }}{{ text|length > 3 and 'long' }}{{ '' or 'default' }}{{ none or [] or 'x' }}{{ 1 and 2 }}{{ 0 and 2 }}
{{ [1,2,3]|last }}{{ 'abc'|first }}{{ 'abc'|last }}{{ dict|first }}{{ dict|last }}{{ range(3)|last }}{{ 5|first }}
{{ 5|first }}
{{ 5|list }}
{{ 5|length }}
{{ nil|length }}
{{ nil|list }}
{{ nil|join }}
{{ nil|items|list }}
{{ missing|items|list }}
{{ 'abc'|join('-') }}{{ dict|join(',') }}{{ [none, 1, true]|join(',') }}{{ people|join(',', attribute='name') }}{{ [1,2]|join(d='+') }}
{{ 'abc'|list }}{{ dict|list }}{{ 'abc'|reverse }}{{ [1,2]|reverse|list }}{{ dict|reverse|list }}{{ (1,2)|reverse|list }}{{ 'abc'|batch(2)|list }}{{ [1,2,3,4,5]|slice(3)|list }}{{ [1,2,3]|batch(2, 0)|list }}
{{ [3,1,2]|sort }}{{ ['b','A']|sort }}{{ ['b','A','a','B']|sort(true) }}{{ 'hello'|sort }}{{ dict|sort }}{{ [[2,1],[1,2],[1]]|sort }}
{{ ['a','A','b']|unique|list }}{{ [1,1.0,true]|unique|list }}{{ [[1],[1]]|unique|list }}
{{ {'b':1,'A':2,'a':3}|dictsort }}{{ {'b':1,'A':2}|dictsort(case_sensitive=true) }}{{ {'b':2,'a':1}|dictsort(by='value', reverse=true) }}{{ {'b':1}|dictsort(by='x') }}
{{ missing|dictsort }}
{{ list|dictsort }}
{{ 'a\nb\n\nc'|indent }}{{ 'a\nb'|indent(2, true) }}{{ 'a\n\nb'|indent(2, blank=true) }}{{ ''|indent }}{{ 'a\n'|indent }}|{{ 'a\r\nb'|indent }}
{{ 1|indent }}
{{ 'hello big world here'|truncate(9) }}{{ 'hello big world'|truncate(9, true) }}{{ 'hello'|truncate(3) }}{{ 'hello big world foo'|truncate(10, end='') }}
{{ 'a b_c d-e'|wordcount }}{{ 'x'|center(5) }}|{{ 'ab'|center(5) }}|{{ 'abc'.center(6) }}|{{ 'x'|upper|center(4) }}|
{{ m }}{% macro m() %}x{% endmacro %}{{ m() }}
{% set f = text.upper %}{{ f() }}{% set g = dict.get %}{{ g('a') }}
{{ text.upper is callable }}{{ range is callable }}{{ namespace is defined }}
{% set x = [] %}{% set _ = x.append(1) %}{{ x }}
{{ namespace(a=1) }}{{ namespace(a=1).a }}{{ namespace(a=[1]).a[0] }}{{ namespace(a=1) == namespace(a=1) }}
{{ (1, 2) == [1, 2] }}{{ (1, 2) == (1, 2) }}{{ {'a': 1} == {'a': 1.0} }}{{ [1, [2]] == [1, [2]] }}{{ 'a' == 1 }}{{ none == false }}{{ [1] < [2] }}{{ (1, 'a') < (1, 'b') }}{{ 'a' < 'B' }}{{ 'é' < 'z' }}
{{ [1] < (2,) }}
{{ none < 1 }}
{{ 'a' < 1 }}
{{ {} < {} }}
{{ 'a' in nil }}
{{ 1 in 'abc' }}
{{ missing in 'abc' }}
{{ 'a' in missing }}{{ none in [none] }}{{ [] in dict }}
{{ [] in dict }}
{{ '' in text }}{{ 'World' in text }}{{ 'a' in ['a'] }}{{ 1.0 in [1] }}{{ 'a' not in text }}
{{ dict[[]] }}|{{ dict[none] }}|{{ {none: 1}[none] }}{{ {1: 'a'}[1.0] }}{{ {1: 'a'}[true] }}{{ {(1, 2): 3}[(1, 2)] }}{{ {(1, 2): 3}[1, 2] }}
{{ {[]: 1} }}
{{ {'a': 1}.a }}{{ {'a': {'b': 2}}.a.b }}{{ [1,2][0] }}{{ 'abc'[1] }}{{ (1,2)[1] }}{{ [[1,2],[3]][0][1] }}
{{ [*list] }}
{{ m(*list) }}{% macro m() %}{{ varargs }}{% endmacro %}{{ m(*list) }}{{ m(*list, **{}) }}
{% macro m(a, b) %}{{ a }}{{ b }}{{ kwargs }}{% endmacro %}{{ m(**{'b': 2, 'a': 1, 'c': 3}) }}{{ m(1, **{'b': 2}) }}
{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, a=2) }}
{% print 1, 'a' %}
{% set x = 1, 2 %}{{ x }}
{% set x = 1 if true else 2 %}{{ x }}
{% if 1, 2 %}y{% endif %}
{% for x in 1, 2 %}{{ x }}{% endfor %}
{% for x in [1, 2]: %}{{ x }}{% endfor %}
{{ 1, 2 }}
{{ text|upper, 1 }}
{{ }}
{{ 1 + }}
{{ (1 }}
{{ 1 ) }}
{{ [1, 2 }}
{{ 'abc }}
{% if %}{% endif %}
{% if true %}
{% endif %}
{% for x in list %}{% endif %}
{% nope %}
{% set 1 = 2 %}
{% set true = 2 %}
{% set x %}a
{% macro m(a=1, b) %}{% endmacro %}
{% macro true() %}{% endmacro %}
{{ a b }}
{{ a.1b }}
{{ 1.2.3 }}
{{ list.0 }}{{ nested.0.1 }}{{ nested[1].1.0 }}
{{ "\N{DASH}" if false else 1 }}
{# never closed
{% raw %} never closed
{{ text
{% include 'x' %}
{{ 1 is }}
{{ 1 is defined is defined }}
{{ 1 is not }}
{{ lists is defined and lists[0] }}
{{ super() }}
{{ true.x }}{{ 1 .real is defined }}
{{ 1e5 }}{{ 1E5 }}{{ 1.5e-3 }}{{ 0b101 }}{{ 0o17 }}{{ 0xFF }}{{ 1_000_000 }}{{ 00 }}{{ 12.0 }}{{ 1_0.5 }}
{{ 9223372036854775807 }}{{ 9223372036854775808 }}{{ -9223372036854775808 }}{{ 123456789012345678901234567890 }}
{%- set x -%}  a  {%- endset -%}[{{ x }}]
{%+ if true %}a{%+ endif %}
   {%+ if true +%}
 b{% endif %}
  {{ 1 }}  
{% if true -%}
   x
{%- endif %}
{%- for x in [1,2] -%}
  {{ x }}
{%- endfor -%}
{% for x in [1,2] -%} {{ x }} {%- endfor %}
""".strip("\n")

MULTI = [
    "{% for x in [1,2] %}\n  {% if x == 1 %}\n    one\n  {% else %}\n    other\n  {% endif %}\n{% endfor %}\nend\n",
    "{% set x %}\n  text\n{% endset %}\n[{{ x }}]\n\n", "a\r\nb\rc\n", "\n\n{{ 1 }}\n\n", "{{ 1 }}\n", "{# c #}\n{{ 1 }}\n  {# d #}  \n{{ 2 }}",
    "  {%- if true %}\n a\n  {%- endif %}\n b", "{% raw %}\n {{ a }}\n{% endraw %}\nx", "{{ 'a\nb' }}", "{{\n1\n+\n2\n}}", "line1\n    {% set a = 1 %}\nline2 {% set b = 2 %}\n{{ a }}{{ b }}",
    "\t{% if true %}\tx\t{% endif %}\t\n", "{%- macro m(x) -%}\n  <{{ x }}>\n{%- endmacro -%}\n{{ m(1) }}\n{{ m(2) -}}\n z", "x\u00a0{% if true %}y{% endif %}", "\u3000{%- if true %}y{% endif %}",
    "{% for a in [1,2,3] %}{% for b in [1,2,3] %}{% if b == a %}{% continue %}{% endif %}{% if a == 2 %}{% break %}{% endif %}{{ a }}{{ b }} {% endfor %}{% endfor %}",
    "{% set ns = namespace(out='') %}{% for m in messages %}{% set ns.out = ns.out ~ m.role[0] %}{% endfor %}{{ ns.out }}",
    "{% macro render(t, level=0) %}{{ '  ' * level }}{% if t is mapping %}{% for k, v in t.items() %}\n{{ '  ' * level }}{{ k }}:{{ render(v, level + 1) }}{% endfor %}{% elif t is iterable and t is not string %}{% for v in t %}- {{ render(v, level + 1) }}{% endfor %}{% else %}{{ t }}{% endif %}{% endmacro %}{{ render(deep) }}{{ render(args) }}",
]


def snippets() -> list:
    out = [(t, CONTEXT) for t in HAND.split("\n") if t] + [(t, CONTEXT) for t in MULTI]
    for v in VALUES:
        out += [(f"{{{{ {v} }}}}", CONTEXT), (f"{{{{ [{v}] }}}}", CONTEXT), (f"{{% if {v} %}}y{{% else %}}n{{% endif %}}", CONTEXT),
                (f"{{% for x in {v} %}}{{{{ x }}}}{{{{ loop.last }}}};{{% else %}}E{{% endfor %}}", CONTEXT)]
        out += [(f"{{{{ ({v})|{f} }}}}", CONTEXT) for f in FILTERS]
        out += [(f"{{{{ ({v}) is {t} }}}}", CONTEXT) for t in TESTS]
        out += [(f"{{{{ ({v}).{m} }}}}", CONTEXT) for m in METHODS]
        out += [(f"{{{{ ({v}){a} }}}}", CONTEXT) for a in ACCESS]
    out += [(f"{{{{ ({a}) {op} ({b}) }}}}", CONTEXT) for a in OPERANDS for b in OPERANDS for op in OPERATORS
            if not (op in ("*", "**") and "huge" in (a, b))]  # Python would compute for hours
    return out
