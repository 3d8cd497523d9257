import {
  type CST,
  isAlias,
  isCollection,
  isNode,
  isPair,
  Lexer,
  LineCounter,
  Parser,
  parseDocument,
} from 'yaml';

/** Maximum depth of lists and maps in YAML. Configuration and rules files need 4. */
export const MAX_YAML_DEPTH = 64;

/** Maximum number of members of a map. `parseDocument` compares each key with all others of its map. */
export const MAX_YAML_MEMBERS = 1_000;

const TOO_DEEP = `lists and maps are nested too deeply; allowed: at most ${MAX_YAML_DEPTH} levels`;
const TOO_WIDE = `a map has too many members; allowed: at most ${MAX_YAML_MEMBERS}`;

/** Thrown if YAML is nested too deeply, or has a map with too many members. The message contains the maximum. */
export class NestingError extends Error {
  override readonly name = 'NestingError';
  readonly line: number;

  constructor(line: number, problem: string) {
    super(problem);
    this.line = line;
  }
}

interface ParsedYaml {
  readonly document: ReturnType<typeof parseDocument>;
  readonly lines: LineCounter;
}

/** Parses YAML or JSON. Throws NestingError; `document.errors` contains other faults. */
export function parseYaml(text: string): ParsedYaml {
  requireBounded(text);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  for (const error of document.errors)
    if (error.code === 'MULTIPLE_DOCS')
      // The message of the library names its own function.
      error.message = error.message.replace(/^.*?\(\)/, 'The file contains several documents; allowed: one');
  // An alias has the depth of its anchor, so a chain of aliases can be deep in a shallow text.
  const depths = new Map<string, number>();
  const depthAt = (node: unknown): number => {
    if (isPair(node)) return Math.max(depthAt(node.key), depthAt(node.value));
    if (isAlias(node)) return depths.get(node.source) ?? 0;
    if (!isNode(node)) return 0;
    let depth = isCollection(node) ? 1 : 0;
    if (isCollection(node)) for (const item of node.items) depth = Math.max(depth, 1 + depthAt(item));
    if (depth > MAX_YAML_DEPTH) throw new NestingError(lines.linePos(node.range?.[0] ?? 0).line, TOO_DEEP);
    if ('anchor' in node && node.anchor !== undefined) depths.set(node.anchor, depth);
    return depth;
  };
  depthAt(document.contents);
  return { document, lines };
}

/**
 * Throws NestingError if collections are nested too deeply, or a map has too many members. `parseDocument` calls itself
 * for each level, and V8 ends the process if it compiles a regular expression at the end of the stack. For each member,
 * it compares all earlier keys: it needs minutes for 60,000.
 */
function requireBounded(text: string): void {
  const lines = new LineCounter();
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  const reject = (problem: string): never => {
    throw new NestingError(lines.linePos(parser.offset).line, problem);
  };
  // The stack of the parser also contains the document and the current scalar.
  for (const lexeme of new Lexer().lex(text)) {
    for (const _ of parser.next(lexeme));
    if (parser.stack.length > MAX_YAML_DEPTH + 2) reject(TOO_DEEP);
    if (membersOf(parser.stack.at(-1)) > MAX_YAML_MEMBERS) reject(TOO_WIDE);
  }
}

function membersOf(token: CST.Token | undefined): number {
  const isMap =
    token?.type === 'block-map' || (token?.type === 'flow-collection' && token.start.source === '{');
  return isMap ? token.items.length : 0;
}
