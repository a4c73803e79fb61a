// The shape of C++: its functions, their length, cognitive complexity (G. Ann Campbell, "Cognitive Complexity", 2018) and
// nesting, nested conditionals, comma operators, and literals of structs. A parser of statements over tokens is enough
// for that; expressions are only scanned.

/** Without comments and the contents of strings, line by line as before. */
export const plain = (cpp) => cpp
  .replace(/R"\w*\([^]*?\)\w*"|\/\/.*|\/\*[^]*?\*\/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'/g,
    (text) => (/^["R]/.test(text) ? '""' : '').padEnd(text.length).replace(/[^]/g, (space, i) => (text[i] === '\n' ? '\n' : space)))
  .replace(/^[ \t]*#(?:[^\n\\]|\\[^])*/gm, (text) => text.replace(/[^\n]/g, ' '));

const linesBefore = (text, index) => text.slice(0, index).split('\n').length;

/** The outermost functions of a text without comments: a block behind a parameter list, as [name, first line, body]. */
export function functionsOf(text) {
  const all = [];
  const open = [];
  let [begin, isInside] = [0, false];
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '{') {
      const head = text.slice(begin, i).trim();
      const isFunction = !isInside && /\)[^()=]*$|\)\s*:[^]*$/.test(head)
        && !/^(namespace|struct|class|enum|union|extern)\b|^EMSCRIPTEN_BINDINGS/.test(head);
      const first = linesBefore(text, begin + (text.slice(begin).match(/\S/)?.index ?? 0));
      open.push({ isFunction, first, start: i, name: head.match(/[\w:~]+(?=\s*\()/)?.[0] });
      isInside ||= isFunction;
    } else if (text[i] === '}') {
      const { isFunction, first, start, name } = open.pop() ?? {};
      if (isFunction) {
        all.push({ name, first, last: linesBefore(text, i), body: text.slice(start, i + 1) });
        isInside = false;
      }
    }
    if (!isInside && '{};'.includes(text[i])) begin = i + 1;
  }
  return all;
}

const tokensOf = (text) => text.match(/[A-Za-z_]\w*|\d[\w.']*|""|::|->|\+\+|--|&&|\|\||<<=|[-+*/%&|^=!<>]=|\S/g) ?? [];
const loops = new Set(['for', 'while', 'switch']);
const pairs = { '(': ')', '[': ']', '{': '}' };
const isValue = (token) => /^[\w"]|^[)\]}>]$/.test(token ?? '')
  && !['return', 'case', 'throw', 'co_return', 'else', 'operator', 'and', 'or', 'not'].includes(token);

/** What a body costs, and where it breaks a rule. */
class Walk {
  complexity = 0;
  depth = 0;
  nestedConditionals = 0;
  commas = 0;

  constructor(body) {
    this.tokens = tokensOf(body);
    this.at = 0;
  }

  statement(nesting, depth) {
    this.depth = Math.max(this.depth, depth);
    const token = this.tokens[this.at];
    if (token === '{') return this.block(nesting, depth);
    if (token === 'if') return this.condition(nesting, depth, 1 + nesting);
    if (loops.has(token)) return this.loop(nesting, depth);
    if (token === 'do') return this.doLoop(nesting, depth);
    if (token === 'try') return this.attempt(nesting, depth);
    if (token === 'case' || token === 'default') return this.label();
    return this.expression(nesting, ';');
  }

  block(nesting, depth) {
    this.at += 1;
    while (this.at < this.tokens.length && this.tokens[this.at] !== '}') this.statement(nesting, depth);
    this.at += 1;
  }

  label() {
    while (this.at < this.tokens.length && this.tokens[this.at] !== ':') this.at += 1;
    this.at += 1;
  }

  condition(nesting, depth, cost) {
    this.complexity += cost;
    this.at += 1;
    if (this.tokens[this.at] === 'constexpr') this.at += 1;
    this.header(nesting);
    this.statement(nesting + 1, depth + 1);
    if (this.tokens[this.at] !== 'else') return;
    this.at += 1;
    if (this.tokens[this.at] === 'if') {
      this.condition(nesting, depth, 1);
    } else {
      this.complexity += 1;
      this.statement(nesting + 1, depth + 1);
    }
  }

  loop(nesting, depth) {
    this.complexity += 1 + nesting;
    const isFor = this.tokens[this.at] === 'for';
    this.at += 1;
    this.header(nesting, isFor);
    this.statement(nesting + 1, depth + 1);
  }

  doLoop(nesting, depth) {
    this.complexity += 1 + nesting;
    this.at += 1;
    this.statement(nesting + 1, depth + 1);
    this.expression(nesting, ';');
  }

  attempt(nesting, depth) {
    this.at += 1;
    this.statement(nesting, depth);
    while (this.tokens[this.at] === 'catch') {
      this.complexity += 1 + nesting;
      this.at += 1;
      this.header(nesting);
      this.statement(nesting + 1, depth + 1);
    }
  }

  /** What stands in parentheses behind a keyword. */
  header(nesting, isFor = false) {
    if (this.tokens[this.at] !== '(') return;
    this.at += 1;
    this.expression(nesting, ')', { mayHaveCommas: isFor });
  }

  /** Up to a token that ends it at its own level, which is taken too. */
  expression(nesting, end, { mayHaveCommas = true, isConditional = false } = {}) {
    const first = this.at;
    let [operator, conditionals] = ['', 0];
    for (; this.at < this.tokens.length && this.tokens[this.at] !== end; this.at++) {
      const token = this.tokens[this.at];
      if (token === '}' && end === ';') return; // what ends without a semicolon, such as a macro
      if (token === '<') this.templateArguments();
      if (token === '?') {
        this.complexity += 1 + nesting + conditionals;
        if (isConditional || conditionals > 0) this.nestedConditionals += 1;
        conditionals += 1;
      } else if (token === ',') {
        if (!mayHaveCommas || (end === ';' && this.isAssignment(first))) this.commas += 1;
        [operator, conditionals] = ['', 0];
      } else if (token === '&&' || token === '||') {
        const isReference = token === '&&' && /^(auto|[A-Z]\w*|>)$/.test(this.tokens[this.at - 1]) && !/^[(!*]$/.test(this.tokens[this.at + 1]);
        if (!isReference && token !== operator) this.complexity += 1;
        if (!isReference) operator = token;
      } else if (token in pairs) {
        this.group(nesting, conditionals > 0);
      } else if (token === ';') {
        [operator, conditionals] = ['', 0];
      }
    }
    this.at += 1;
  }

  /** Passes over what stands in < >, if it can be a list of types and numbers. */
  templateArguments() {
    let depth = 0;
    for (let i = this.at; i < this.at + 30 && /^([\w:*&,<>]|::|\w+)+$/.test(this.tokens[i] ?? ''); i++) {
      if (this.tokens[i] === '<') depth += 1;
      if (this.tokens[i] === '>') depth -= 1;
      if (depth === 0) {
        this.at = i;
        return;
      }
    }
  }

  /** Whether a statement begins with an assignment or a call, so that a comma in it is an operator. */
  isAssignment(first) {
    const one = this.tokens[first];
    const two = this.tokens[this.afterSubscript(first + 1)];
    return one === 'return' || (/^[a-z_]\w*$/.test(one) && /^([-+*/|&]?=|\+\+|--|\.|->)$/.test(two));
  }

  /** The place after a subscript in [ ] at `at`, or `at` itself. */
  afterSubscript(at) {
    if (this.tokens[at] !== '[') return at;
    let depth = 0;
    for (let i = at; i < this.tokens.length; i++) {
      if (this.tokens[i] === '[') depth += 1;
      if (this.tokens[i] === ']') depth -= 1;
      if (depth === 0) return i + 1;
    }
    return at;
  }

  /** A bracketed part of an expression, or a lambda. Leaves the closing bracket as the current token. */
  group(nesting, isConditional) {
    const token = this.tokens[this.at];
    const before = this.tokens[this.at - 1];
    this.at += 1;
    if (token === '[' && !isValue(before)) {
      this.lambda(nesting);
    } else {
      const isGrouping = token === '(' && !isValue(before) && before !== ']';
      this.expression(nesting, pairs[token], {
        mayHaveCommas: !isGrouping || ['...', '.'].includes(this.tokens[this.at]), isConditional: isConditional && isGrouping,
      });
    }
    this.at -= 1;
  }

  lambda(nesting) {
    this.expression(nesting, ']');
    if (this.tokens[this.at] === '(') {
      this.at += 1;
      this.expression(nesting, ')');
    }
    while (/^(mutable|noexcept|->|[\w:<>*&]+)$/.test(this.tokens[this.at] ?? '')) this.at += 1;
    if (this.tokens[this.at] === '{') this.block(nesting + 1, 0);
  }
}

export function measure(body) {
  const walk = new Walk(body);
  walk.statement(0, 0);
  return walk;
}

/** The names of structs with more than `most` members and without constructors. */
export function largeStructs(texts, most) {
  const names = new Set();
  for (const text of texts) {
    for (const [, name, body] of text.matchAll(/\bstruct (\w+) \{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\};/g)) {
      const members = body.split('\n').filter((line) => /^\s+[\w:<>,* ]+ \w+( = [^;]*|\{[^;]*\})?;/.test(line) && !/\b(return|using|static)\b/.test(line));
      if (members.length > most && !new RegExp(`\\b${name}\\(`).test(body)) names.add(name);
    }
  }
  return names;
}

/** The literals of these structs that give more than `most` members without their names. */
export function positionalLiterals(text, structs, most) {
  return [...text.matchAll(/\b(\w+)\{/g)].filter(({ 1: name }) => structs.has(name)).filter(({ 0: match, index }) => {
    const walk = tokensOf(text.slice(index + match.length, index + 2000));
    if (walk[0] === '.') return false;
    let [depth, commas] = [0, 0];
    for (const token of walk) {
      if ('([{'.includes(token)) depth += 1;
      if (')]}'.includes(token)) depth -= 1;
      if (depth < 0) break;
      if (token === ',' && depth === 0) commas += 1;
    }
    return commas >= most;
  }).map(({ 1: name, index }) => `${name} in line ${linesBefore(text, index)}`);
}
