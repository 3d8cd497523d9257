import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Comment before a shell block: `<!-- commands: run -->`, `run, exit code 1`, `run by FILE`, `not run: REASON`. */
export type Mark =
  | { readonly kind: 'run'; readonly exitCode: number }
  | { readonly kind: 'run by'; readonly file: string }
  | { readonly kind: 'not run'; readonly reason: string };

/** A fenced block with shell commands. */
export interface ShellBlock {
  readonly page: string;
  readonly line: number;
  /** Undefined if the comment is missing or malformed. */
  readonly mark: Mark | undefined;
  /** The commands: all lines, or in a console session the lines after a prompt. */
  readonly script: string;
}

/** Documentation pages of the repository. */
export const PAGES: readonly string[] = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'bench/README.md',
  ...readdirSync(`${root}docs`, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
];

export const read = (file: string): string => readFileSync(root + file, 'utf8');

const SHELLS = new Set(['sh', 'bash', 'shell', 'console']);
const FENCE = /^ *```(\S*)/;

export function shellBlocksOf(page: string, text = read(page)): ShellBlock[] {
  const blocks: ShellBlock[] = [];
  /** Last line before the fence that is not empty. */
  let before = '';
  let open: { readonly language: string; readonly line: number; readonly lines: string[] } | undefined;
  for (const [i, line] of text.split('\n').entries()) {
    const [, language] = FENCE.exec(line) ?? [];
    if (open === undefined) {
      if (language !== undefined) open = { language, line: i + 1, lines: [] };
      else if (line.trim() !== '') before = line.trim();
    } else if (language !== undefined) {
      const { lines } = open;
      if (SHELLS.has(open.language) || looksTyped(open.language, lines))
        blocks.push({
          page,
          line: open.line,
          mark: markOf(before),
          script: commandsOf(open.language, lines),
        });
      open = undefined;
      before = '';
    } else open.lines.push(line);
  }
  return blocks;
}

const TYPED = /^(?:[$#] )?(?:floodgate|npm|npx|node|curl|git|docker|systemctl) [\w./-]/;

/** Whether a block without a language contains a command. */
const looksTyped = (language: string, lines: readonly string[]): boolean =>
  language === '' && lines.some((line) => TYPED.test(line));

/**
 * Returns the commands of a block. In a console session they follow a prompt; open quotes and trailing backslashes
 * continue them.
 */
function commandsOf(language: string, lines: readonly string[]): string {
  if (language !== 'console') return lines.join('\n');
  const typed: string[] = [];
  let command: string | undefined;
  for (const line of lines) {
    if (command !== undefined) command += `\n${line}`;
    else if (/^[$#] /.test(line)) command = line.slice(2);
    else continue;
    const isOpen = command.endsWith('\\') || (command.match(/'/g)?.length ?? 0) % 2 === 1;
    if (isOpen) continue;
    typed.push(command);
    command = undefined;
  }
  return typed.join('\n');
}

function markOf(line: string): Mark | undefined {
  const [, text = ''] = /^<!-- commands: (.*) -->$/.exec(line) ?? [];
  const [, exitCode] = /^run(?:, exit code (\d+))?$/.exec(text) ?? [];
  if (text === 'run' || exitCode !== undefined) return { kind: 'run', exitCode: Number(exitCode ?? 0) };
  const [, file] = /^run by (\S+\.test\.ts)$/.exec(text) ?? [];
  if (file !== undefined) return { kind: 'run by', file };
  const [, reason] = /^not run: (.{10,})$/.exec(text) ?? [];
  return reason === undefined ? undefined : { kind: 'not run', reason };
}
