import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** A fenced block of a page. */
export interface Snippet {
  readonly language: string;
  readonly code: string;
  /** The heading above the block. */
  readonly heading: string;
  /** The language of the previous block, if no text is between the two. */
  readonly follows: string | undefined;
}

export const readPage = (name: string): string => readFileSync(`${root}docs/${name}`, 'utf8');

export function snippetsOf(page: string): Snippet[] {
  const snippets: Snippet[] = [];
  let heading = '';
  let end = -1;
  for (const match of page.matchAll(/^#+ (?<title>.*)$|^```(?<language>\w+)\n(?<code>[\s\S]*?)^```$/gm)) {
    const { title, language = '', code = '' } = match.groups ?? {};
    if (title !== undefined) {
      heading = title;
      continue;
    }
    const isNext = page.slice(Math.max(end, 0), match.index).trim() === '';
    snippets.push({ language, code, heading, follows: isNext ? snippets.at(-1)?.language : undefined });
    end = match.index + match[0].length;
  }
  return snippets;
}

/** Returns the cells of the tables that follow a mark such as `<!-- errors -->`. */
export function rowsAfter(page: string, mark: string): string[][] {
  const tables = page.split(`<!-- ${mark} -->\n\n`).slice(1);
  return tables.flatMap((text) =>
    (text.split('\n\n')[0] ?? '')
      .split('\n')
      .slice(2)
      .map((line) => line.split('|').slice(1, -1).map(bare)),
  );
}

const bare = (cell: string): string => cell.trim().replace(/^`(.*)`$/, '$1');

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Whether a value matches the one shown in a page. `…` in a shown string matches any text. */
export function matchesShown(shown: unknown, value: unknown): boolean {
  if (typeof shown === 'string' && typeof value === 'string')
    return new RegExp(`^${shown.split('…').map(escaped).join('[\\s\\S]*')}$`).test(value);
  if (typeof shown !== 'object' || shown === null || typeof value !== 'object' || value === null)
    return shown === value;
  const names = Object.keys(shown);
  return (
    names.length === Object.keys(value).length &&
    names.every((name) => matchesShown(Reflect.get(shown, name), Reflect.get(value, name)))
  );
}
