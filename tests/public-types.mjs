// The public types of the package as its users see them: for each entry, what it exports, with inherited members and
// documentation, wherever that is declared. `node tests/public-types.mjs` renews tests/fixtures/public-types.d.ts.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import ts from 'typescript';

const root = fileURLToPath(new URL('../', import.meta.url));
export const snapshot = join(root, 'tests/fixtures/public-types.d.ts');

const flags = ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.UseSingleQuotesForStringLiteralType;

/** The comment before a declaration, as it stands in the source, or ''. */
function comment(symbol, checker, indent) {
  const text = ts.displayPartsToString(symbol.getDocumentationComment(checker)).trim();
  const tags = symbol.getJsDocTags(checker)
    .map(({ name, text }) => `@${name} ${ts.displayPartsToString(text)}`.trim());
  const lines = [text, ...tags].join('\n').trim().split('\n').filter(Boolean);
  return lines.map((line) => `${indent}/// ${line}\n`).join('');
}

class Printer {
  #checker;
  /** The entries that have printed a symbol. */
  #printed = new Map();

  constructor(checker) {
    this.#checker = checker;
  }

  #type(type, node, more = 0) {
    return this.#checker.typeToString(type, node, flags | more);
  }

  #member(symbol, node, prefix) {
    const type = this.#checker.getTypeOfSymbolAtLocation(symbol, node);
    const isOptional = Boolean(symbol.flags & ts.SymbolFlags.Optional);
    const name = symbol.name.startsWith('__@') ? `[Symbol.${symbol.name.split('@')[1]}]` : symbol.name;
    const written = isOptional ? this.#checker.getNonNullableType(type) : type;
    const isMethod = Boolean(symbol.flags & ts.SymbolFlags.Method);
    const isReadonly = Boolean(ts.getCombinedModifierFlags(symbol.valueDeclaration ?? node) & ts.ModifierFlags.Readonly)
      || (symbol.flags & ts.SymbolFlags.GetAccessor && !(symbol.flags & ts.SymbolFlags.SetAccessor));
    const before = comment(symbol, this.#checker, '  ');
    if (isMethod) {
      const signatures = this.#checker.getSignaturesOfType(written, ts.SignatureKind.Call);
      return before + signatures.map((one) => `  ${prefix}${name}${isOptional ? '?' : ''}${this.#checker.signatureToString(one, node, flags)};\n`).join('');
    }
    const text = this.#type(written, node);
    return `${before}  ${prefix}${isReadonly ? 'readonly ' : ''}${name}${isOptional ? '?' : ''}: ${text};\n`;
  }

  #isPublic(symbol) {
    // What a class inherits from the browser is no part of the package.
    if (symbol.declarations?.every((node) => node.getSourceFile().fileName.includes('/typescript/lib/'))) return false;
    const modifiers = symbol.valueDeclaration ? ts.getCombinedModifierFlags(symbol.valueDeclaration) : 0;
    const isHidden = modifiers & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected);
    return !isHidden && !symbol.name.startsWith('__#') && !symbol.name.startsWith('#') && symbol.name !== 'prototype';
  }

  #members(type, node, prefix = '') {
    const properties = this.#checker.getPropertiesOfType(type).filter((symbol) => this.#isPublic(symbol));
    const sorted = properties.sort((a, b) => (a.name < b.name ? -1 : 1));
    const calls = this.#checker.getSignaturesOfType(type, ts.SignatureKind.Call)
      .map((one) => `  ${prefix}${this.#checker.signatureToString(one, node, flags)};\n`);
    return calls.join('') + sorted.map((symbol) => this.#member(symbol, node, prefix)).join('');
  }

  /** One export of the entry of this name. */
  print(exported, entry) {
    const symbol = exported.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(exported) : exported;
    const known = this.#printed.get(symbol);
    if (known) return `export { ${known.name === exported.name ? '' : `${known.name} as `}${exported.name} } from '${known.entry}';\n`;
    this.#printed.set(symbol, { name: exported.name, entry });
    return this.#declaration(exported, symbol);
  }

  #declaration(exported, symbol) {
    const [node] = symbol.declarations;
    const parameters = node.typeParameters?.map((one) => one.getText()).join(', ');
    const name = `${exported.name}${parameters ? `<${parameters}>` : ''}`;
    const before = comment(symbol, this.#checker, '');
    if (symbol.flags & ts.SymbolFlags.Class) {
      const statics = this.#members(this.#checker.getTypeOfSymbolAtLocation(symbol, node), node, 'static ');
      return `${before}export class ${name} {\n${statics}${this.#members(this.#checker.getDeclaredTypeOfSymbol(symbol), node)}}\n`;
    }
    if (symbol.flags & ts.SymbolFlags.Interface) {
      return `${before}export interface ${name} {\n${this.#members(this.#checker.getDeclaredTypeOfSymbol(symbol), node)}}\n`;
    }
    if (symbol.flags & ts.SymbolFlags.TypeAlias) {
      const type = this.#checker.getDeclaredTypeOfSymbol(symbol);
      const isObject = !type.isUnion() && type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection);
      const isList = this.#checker.isArrayType(type) || this.#checker.isTupleType(type);
      const isPlainObject = isObject && !isList && !node.typeParameters && this.#checker.getPropertiesOfType(type).length > 0;
      if (isPlainObject) return `${before}export type ${name} = {\n${this.#members(type, node)}};\n`;
      return `${before}export type ${name} = ${this.#type(type, node, ts.TypeFormatFlags.InTypeAlias)};\n`;
    }
    if (symbol.flags & ts.SymbolFlags.Function) {
      const type = this.#checker.getTypeOfSymbolAtLocation(symbol, node);
      const signatures = this.#checker.getSignaturesOfType(type, ts.SignatureKind.Call);
      return before + signatures.map((one) => `export function ${exported.name}${this.#checker.signatureToString(one, node, flags)};\n`).join('');
    }
    return `${before}export const ${name}: ${this.#type(this.#checker.getTypeOfSymbolAtLocation(symbol, node), node)};\n`;
  }
}

/** The text of the snapshot, made from the entries of package.json. */
export function publicTypes() {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json')));
  const entries = Object.entries(exports).filter(([name, { types }]) => types && name !== './worker');
  const files = entries.map(([, { types }]) => join(root, types));
  const missing = files.find((file) => !existsSync(file));
  if (missing) throw new Error(`${missing} is missing: \`node bindings/tools/build.mjs package\` writes it`);
  const program = ts.createProgram(files, {
    target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext,
    lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts', 'lib.esnext.disposable.d.ts'], types: [], strict: true,
  });
  const checker = program.getTypeChecker();
  const printer = new Printer(checker);
  const sections = entries.map(([entry], i) => {
    const name = entry.replace(/^\./, 'wasmformer');
    const module = checker.getSymbolAtLocation(program.getSourceFile(files[i]));
    const symbols = checker.getExportsOfModule(module).sort((a, b) => (a.name < b.name ? -1 : 1));
    return `declare module '${name}' {\n\n${symbols.map((symbol) => printer.print(symbol, name)).join('\n')}\n}\n`;
  });
  return sections.join('\n').replace(/import\("[^"]*"\)\./g, '');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(snapshot, publicTypes());
