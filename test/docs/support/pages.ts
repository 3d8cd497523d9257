import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** A fenced part of a page. */
export interface Snippet {
  readonly language: string;
  readonly code: string;
  /** The heading that it stands below. */
  readonly heading: string;
  /** The language of the fenced part before it, where nothing stands between the two. */
  readonly follows: string | undefined;
}

export const readPage = (name: string): string => readFileSync(`${root}docs/${name}`, 'utf8');

/** All fenced parts of a page. */
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

/** The cells of the tables behind a mark such as `<!-- errors -->`. */
export function rowsBehind(page: string, mark: string): string[][] {
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

/** Whether a value is the one that a page shows: `…` in a text stands for anything. */
export function isShownAs(shown: unknown, value: unknown): boolean {
  if (typeof shown === 'string' && typeof value === 'string')
    return new RegExp(`^${shown.split('…').map(escaped).join('[\\s\\S]*')}$`).test(value);
  if (typeof shown !== 'object' || shown === null || typeof value !== 'object' || value === null)
    return shown === value;
  const names = Object.keys(shown);
  return (
    names.length === Object.keys(value).length &&
    names.every((name) => isShownAs(Reflect.get(shown, name), Reflect.get(value, name)))
  );
}
