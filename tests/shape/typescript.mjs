// The shape of TypeScript and of the scripts of Svelte: the measures of cpp.mjs, from TypeScript's own syntax tree.
import ts from 'typescript';

const { SyntaxKind: Kind } = ts;
const structures = new Set([Kind.ForStatement, Kind.ForInStatement, Kind.ForOfStatement, Kind.WhileStatement, Kind.DoStatement,
  Kind.SwitchStatement, Kind.CatchClause]);
const logical = new Set([Kind.AmpersandAmpersandToken, Kind.BarBarToken, Kind.QuestionQuestionToken]);

/** A script's text; of a component the scripts alone, each line at its place. */
export function scriptOf(path, text) {
  if (!path.endsWith('.svelte')) return text;
  let kept = '';
  for (const part of text.split(/(<script[^>]*>[^]*?<\/script>)/)) {
    const script = part.match(/^<script[^>]*>([^]*)<\/script>$/)?.[1];
    kept += script ?? part.replace(/[^\n]/g, '');
  }
  return kept;
}

function nameOf(node) {
  return node.name?.getText() ?? node.parent.name?.getText?.() ?? 'a function';
}

class Walk {
  complexity = 0;
  depth = 0;
  nestedConditionals = 0;
  commas = 0;

  visit(node, nesting, depth) {
    this.depth = Math.max(this.depth, depth);
    if (ts.isIfStatement(node)) return this.condition(node, nesting, depth, 1 + nesting);
    if (structures.has(node.kind)) {
      this.complexity += 1 + nesting;
      return this.children(node, nesting + 1, depth + 1);
    }
    if (ts.isConditionalExpression(node)) {
      this.complexity += 1 + nesting;
      const isInside = ts.isConditionalExpression(ts.walkUpParenthesizedExpressions?.(node.parent) ?? node.parent);
      if (isInside) this.nestedConditionals += 1;
      return this.children(node, nesting + 1, depth);
    }
    if (ts.isFunctionLike(node)) return this.children(node, nesting + 1, 0);
    if (ts.isBinaryExpression(node)) this.binary(node);
    return this.children(node, nesting, depth);
  }

  condition(node, nesting, depth, cost) {
    this.complexity += cost;
    this.visit(node.expression, nesting, depth);
    this.visit(node.thenStatement, nesting + 1, depth + 1);
    const other = node.elseStatement;
    if (!other) return;
    if (ts.isIfStatement(other)) {
      this.condition(other, nesting, depth, 1);
    } else {
      this.complexity += 1;
      this.visit(other, nesting + 1, depth + 1);
    }
  }

  binary(node) {
    const { kind } = node.operatorToken;
    const isSequel = ts.isBinaryExpression(node.parent) && node.parent.operatorToken.kind === kind;
    if (logical.has(kind) && !isSequel) this.complexity += 1;
    if (kind === Kind.CommaToken && !ts.isForStatement(node.parent)) this.commas += 1;
  }

  children(node, nesting, depth) {
    ts.forEachChild(node, (child) => this.visit(child, nesting, depth));
  }
}

/** The functions of a script that stand in no other function, with their measures. */
export function functionsOf(path, text) {
  const file = ts.createSourceFile(path, scriptOf(path, text), ts.ScriptTarget.Latest, true, ts.ScriptKind.TS);
  const all = [];
  const line = (position) => file.getLineAndCharacterOfPosition(position).line + 1;
  const visit = (node) => {
    if (ts.isFunctionLike(node) && node.body) {
      const walk = new Walk();
      walk.children(node, 0, 0);
      all.push({ name: nameOf(node), first: line(node.getStart()), last: line(node.getEnd()), ...walk });
    } else {
      ts.forEachChild(node, visit);
    }
  };
  visit(file);
  return all;
}
