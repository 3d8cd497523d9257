import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const below = (folder: string, endings: RegExp): string[] =>
  readdirSync(root + folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => endings.test(file))
    .map((file) => join(folder, file));
const pages = [
  ...readdirSync(root).filter((file) => file.endsWith('.md')),
  ...below('docs', /\.md$/),
  'bench/README.md',
];
const read = (file: string): string => readFileSync(root + file, 'utf8');

/** Returns the anchors of a page's headings, by the rules of GitHub. */
const anchorsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );

it.each(pages)('every relative link of %s has an existing target', (page) => {
  for (const [, target = '', anchor] of read(page).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)/g)) {
    const file = target === '' ? page : join(dirname(page), target);
    expect(existsSync(root + file), `${page}: ${target}`).toBe(true);
    if (anchor !== undefined) expect(anchorsOf(read(file)), `${page}: ${target}#${anchor}`).toContain(anchor);
  }
});

it('docs/README.md links to every page of docs/', () => {
  const index = read('docs/README.md');
  const names = readdirSync(`${root}docs`, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.md') && !name.endsWith('README.md') && !name.startsWith('internals/decisions/'),
  );
  expect(names.filter((name) => !index.includes(`](${name})`))).toEqual([]);
});

it('every file path named in pages and sources exists', () => {
  const named = /(?<![\w./])(?:src|test|docs|bench|scripts)\/[\w./-]+\.(?:ts|md|json)\b/g;
  const sources = ['src', 'test', 'bench'].flatMap((folder) => below(folder, /\.ts$/));
  const missing = [...pages, ...sources].flatMap((file) =>
    [...read(file).matchAll(named)]
      .filter(([path]) => !existsSync(root + path))
      .map(([path]) => `${file}: ${path}`),
  );
  expect(missing).toEqual([]);
});

it('every source file named in docs/internals/architecture.md exists', () => {
  const files = below('src', /\.ts$/);
  const named = [...read('docs/internals/architecture.md').matchAll(/`([\w./-]+\.ts)`/g)].map(
    ([, path = '']) => path,
  );
  const missing = named.filter((path) => !files.some((file) => file.endsWith(`/${path}`)));
  expect(missing).toEqual([]);
});
