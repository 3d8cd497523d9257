// Finds promises in src that are started and not awaited. A rejection without a handler ends the process, so such work is
// started with `inBackground`, and a promise that is stored has a handler: see src/platform/background. Part of `npm run lint`.
// Biome's noFloatingPromises accepts `void promise` and sees no promise in a field.
import { fileURLToPath } from 'node:url';
// Unstable until TypeScript 7.1: package-lock.json pins the version.
import { SyntaxKind } from 'typescript/unstable/ast';
import { API, NodeBuilderFlags, SignatureKind, TypeFlags } from 'typescript/unstable/sync';

const root = fileURLToPath(new URL('../', import.meta.url));

/** Functions that add a handler to their argument: see src/platform/background. */
const TAKERS = ['awaitedLater'];
const COLLECTING = ['add', 'push', 'set', 'unshift'];
/** Methods whose callbacks may return a promise: it is awaited, although the types do not show it. */
const AWAITING = ['finally', 'register'];
const ASSIGNMENTS = [
  SyntaxKind.EqualsToken,
  SyntaxKind.QuestionQuestionEqualsToken,
  SyntaxKind.BarBarEqualsToken,
  SyntaxKind.AmpersandAmpersandEqualsToken,
];
const WRAPPERS = [
  SyntaxKind.ParenthesizedExpression,
  SyntaxKind.AsExpression,
  SyntaxKind.SatisfiesExpression,
  SyntaxKind.NonNullExpression,
];

const PROMISE = /^Promise(Like)?</;
const FUNCTION = /^(new )?(<.*>)?\(.*\) => /s;

/**
 * Returns the unawaited promises in the files below `folder`, as lines of file, line number, kind and code.
 * @type {(tsconfig: string, folder: string) => string[]}
 */
export function unawaited(tsconfig, folder) {
  const api = new API({ cwd: root });
  try {
    const [project] = api.updateSnapshot({ openProjects: [tsconfig] }).getProjects();
    if (project === undefined) throw new Error(`${tsconfig} is not a TypeScript project`);
    const found = [];
    for (const name of project.rootFiles.filter((file) => file.startsWith(folder))) {
      const source = project.program.getSourceFile(name);
      const where = name.slice(folder.length);
      for (const [kind, node] of new File(source, project.checker).unawaited()) {
        const start = node.getStart(source);
        const line = source.text.slice(0, start).split('\n').length;
        const code = node.getText(source).replace(/\s+/g, ' ').slice(0, 100);
        found.push(`${where}:${line} ${kind}: ${code}`);
      }
    }
    return found;
  } finally {
    api.close();
  }
}

class File {
  #source;
  #checker;

  constructor(source, checker) {
    this.#source = source;
    this.#checker = checker;
  }

  /**
   * Yields each unawaited promise with its kind: a statement, stored, or returned by a callback whose result is
   * ignored.
   */
  *unawaited() {
    const [left, callbacks] = [[], []];
    const visit = (node) => {
      left.push(...leftBy(node));
      callbacks.push(...callbacksOf(node));
      node.forEachChild(visit);
    };
    visit(this.#source);
    const types = this.#typesOf(left.map(([, node]) => node));
    for (const [index, [kind, node]] of left.entries())
      if (this.#isPromise(types[index]) && !this.#isHandled(node)) yield [kind, node];
    for (const node of callbacks) if (this.#isUnawaitedCallback(node)) yield ['callback', node];
  }

  /** Whether the promise has a rejection handler or cannot reject. */
  #isHandled(node) {
    if (WRAPPERS.includes(node.kind)) return this.#isHandled(node.expression);
    if (node.kind === SyntaxKind.ConditionalExpression)
      return [node.whenTrue, node.whenFalse].every((branch) => this.#isHarmless(branch));
    if (node.kind === SyntaxKind.BinaryExpression)
      return [node.left, node.right].every((side) => this.#isHarmless(side));
    // Stored promises are checked at the place that stores them.
    if (node.kind === SyntaxKind.PropertyAccessExpression) return true;
    if (node.kind === SyntaxKind.Identifier) return this.#isHandledVariable(node);
    if (node.kind === SyntaxKind.NewExpression) return cannotReject(node);
    if (node.kind !== SyntaxKind.CallExpression) return false;
    const called = node.expression;
    if (called.kind === SyntaxKind.Identifier) return TAKERS.includes(called.text);
    if (called.kind !== SyntaxKind.PropertyAccessExpression) return false;
    const [first] = node.arguments;
    if (called.name.text === 'catch') return first !== undefined;
    if (called.name.text === 'then') return node.arguments.length > 1;
    if (called.name.text === 'finally') return this.#isHandled(called.expression);
    const isResolved =
      called.name.text === 'resolve' && called.expression.getText(this.#source) === 'Promise';
    return isResolved && (first === undefined || this.#isHarmless(first));
  }

  #isHarmless(node) {
    return !this.#isPromise(this.#typeOf(node)) || this.#isHandled(node);
  }

  /** Parameters are checked at the call, which creates the promise. Variables are judged by their initial value. */
  #isHandledVariable(node) {
    const declared = this.#checker.getSymbolAtLocation(node)?.valueDeclaration?.resolve();
    if (declared?.kind === SyntaxKind.Parameter) return true;
    return declared?.initializer !== undefined && this.#isHandled(declared.initializer);
  }

  /** Whether the callback returns a promise although its caller expects `void`. */
  #isUnawaitedCallback(node) {
    if (node.kind === SyntaxKind.ArrowFunction && this.#isHandled(node.body)) return false;
    const type = this.#typeOf(node);
    const wanted = this.#checker.getContextualType(node);
    if (type === undefined || wanted === undefined) return false;
    const returned = this.#returnedBy(type);
    if (!returned.some((one) => this.#isPromise(one))) return false;
    const taken = this.#returnedBy(this.#checker.getNonNullableType(wanted) ?? wanted);
    return taken.length > 0 && taken.every((one) => (one.flags & TypeFlags.Void) !== 0);
  }

  /** Requests all types at once, and one by one only if that fails. */
  #typesOf(nodes) {
    try {
      return this.#checker.getTypeAtLocation(nodes);
    } catch {
      return nodes.map((node) => this.#typeOf(node));
    }
  }

  /** Returns undefined for some tuples: TypeScript 7.0.2 panics on their types. */
  #typeOf(node) {
    try {
      return this.#checker.getTypeAtLocation(node);
    } catch (error) {
      if (!String(error).includes('not *checker.TupleType')) throw error;
      return undefined;
    }
  }

  #returnedBy(type) {
    const signatures = this.#checker.getSignaturesOfType(type, SignatureKind.Call);
    return signatures.flatMap((signature) => this.#checker.getReturnTypeOfSignature(signature) ?? []);
  }

  /** Decides by the name of the type: fastify's reply has a `then` and need not be awaited. */
  #isPromise(type) {
    if (type === undefined) return false;
    const flags = NodeBuilderFlags.NoTruncation | NodeBuilderFlags.InTypeAlias;
    const text = this.#checker.typeToString(type, undefined, flags);
    return !FUNCTION.test(text) && membersOf(text).some((member) => PROMISE.test(member));
  }
}

/** Returns the expressions whose values this node discards or stores. */
function leftBy(node) {
  if (node.kind === SyntaxKind.ExpressionStatement)
    return isAssignment(node.expression) ? [] : [['statement', node.expression]];
  if (node.kind === SyntaxKind.VoidExpression) return [['statement', node.expression]];
  if (node.kind === SyntaxKind.PropertyDeclaration && node.initializer) return [['stored', node.initializer]];
  if (node.kind === SyntaxKind.PropertyAssignment) return [['stored', node.initializer]];
  if (isAssignment(node) && node.left.kind !== SyntaxKind.Identifier) return [['stored', node.right]];
  if (node.kind === SyntaxKind.CallExpression && COLLECTING.includes(methodOf(node)))
    return node.arguments.map((argument) => ['stored', argument]);
  return [];
}

/** Returns the expressions in this node that may be callbacks. */
function callbacksOf(node) {
  if (node.kind === SyntaxKind.NewExpression) return node.arguments ?? [];
  if (node.kind === SyntaxKind.CallExpression) return AWAITING.includes(methodOf(node)) ? [] : node.arguments;
  if (node.kind === SyntaxKind.PropertyAssignment) return [node.initializer];
  return isAssignment(node) ? [node.right] : [];
}

const isAssignment = (node) =>
  node.kind === SyntaxKind.BinaryExpression && ASSIGNMENTS.includes(node.operatorToken.kind);

const methodOf = ({ expression }) =>
  expression.kind === SyntaxKind.PropertyAccessExpression ? expression.name.text : undefined;

/** Whether the expression is a `new Promise` whose executor has no `reject` parameter. */
const cannotReject = ({ expression, arguments: [executor] = [] }) =>
  expression.text === 'Promise' && executor?.parameters?.length === 1;

/** The members of a printed union type. */
function membersOf(text) {
  const members = [''];
  let depth = 0;
  for (const [index, character] of [...text].entries()) {
    if ('<({['.includes(character)) depth++;
    if (')}]'.includes(character) || (character === '>' && text[index - 1] !== '=')) depth--;
    if (character === '|' && depth === 0) members.push('');
    else members[members.length - 1] += character;
  }
  return members.map((member) => member.trim());
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const found = unawaited(`${root}tsconfig.build.json`, `${root}src/`);
  for (const line of found) console.log(`src/${line}`);
  if (found.length > 0) {
    console.log(
      'Unawaited promises: start them with inBackground, or store them with a rejection handler. See src/platform/background.',
    );
    process.exitCode = 1;
  }
}
