// Finds the places of a TypeScript source at which `npm run mutate` can make a small change (a mutant).
import { parseAst } from 'rolldown/parseAst';

/**
 * A change of a source: the text from offset `start` to `end` is replaced by `text`.
 * @typedef {{ start: number, end: number, text: string }} Mutant
 */

const OTHER_OPERATOR = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '&': '|',
  '|': '&',
  '<<': '>>>',
  '>>': '<<',
  '>>>': '<<',
  '&&': '||',
  '||': '&&',
  '+=': '-=',
  '-=': '+=',
  '*=': '/=',
  '/=': '*=',
  '++': '--',
  '--': '++',
};

/** Nodes of the syntax tree without code that runs. Of other TypeScript nodes, the expression runs. */
const WITHOUT_CODE = /^(TS(?!AsExpression|SatisfiesExpression|NonNullExpression)|Import|ExportAll)/;

/** Returns the mutants of a TypeScript source. None of them is a syntax error. @type {(source: string) => Mutant[]} */
export function mutantsOf(source) {
  const mutants = [];
  const visit = (node) => {
    if (WITHOUT_CODE.test(node.type)) return;
    mutants.push(...mutantsAt(node, source));
    for (const child of childrenOf(node)) visit(child);
  };
  for (const statement of parseAst(source, { lang: 'ts' }).body) visit(statement);
  return mutants;
}

function* childrenOf(node) {
  for (const value of Object.values(node))
    for (const child of [value].flat()) if (typeof child?.type === 'string') yield child;
}

function* mutantsAt(node, source) {
  const replaced = ({ start, end }, text) => ({ start, end, text });
  const negated = (test) => replaced(test, `!(${source.slice(test.start, test.end)})`);
  switch (node.type) {
    case 'BinaryExpression':
      if (node.operator === '+' && (isText(node.left) || isText(node.right))) return;
      yield* otherOperator(node, node.left.end, source);
      return;
    case 'LogicalExpression':
      if (node.operator === '??') yield replaced(node, source.slice(node.left.start, node.left.end));
      else yield* otherOperator(node, node.left.end, source);
      return;
    case 'AssignmentExpression':
      yield* otherOperator(node, node.left.end, source);
      return;
    case 'UpdateExpression':
      yield* otherOperator(node, node.prefix ? node.start : node.argument.end, source);
      return;
    case 'UnaryExpression':
      if (node.operator === '!' || node.operator === '-')
        yield { start: node.start, end: node.start + 1, text: ' ' };
      return;
    case 'IfStatement':
    case 'ConditionalExpression':
      yield negated(node.test);
      return;
    case 'Literal':
      if (typeof node.value === 'boolean') yield replaced(node, String(!node.value));
      if (typeof node.value === 'number') yield replaced(node, String(node.value + 1));
      return;
    case 'AwaitExpression':
      yield { start: node.start, end: node.start + 'await'.length, text: '' };
      return;
    case 'ReturnStatement':
      if (node.argument !== null && source.slice(node.argument.start, node.argument.end) !== 'undefined')
        yield replaced(node, 'return undefined;');
      return;
    case 'ExpressionStatement':
      if (typeof node.directive !== 'string' && node.expression.callee?.type !== 'Super')
        yield replaced(node, ';');
  }
}

const isText = (node) =>
  node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node.value === 'string');

/** Yields the mutant with the other operator. The operator is the first one after offset `from`. */
function* otherOperator({ operator }, from, source) {
  const text = OTHER_OPERATOR[operator];
  const start = source.indexOf(operator, from);
  if (text !== undefined) yield { start, end: start + operator.length, text };
}
