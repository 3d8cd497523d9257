import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../', import.meta.url));
const pages = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...['docs', 'bench'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => join(folder, name)),
  ),
];
/** Without code, in which a bracket is no link and a # no heading. */
const textOf = (page) => readFileSync(join(root, page), 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '');

/** As repositories make them of headings. */
function anchorsOf(page) {
  const seen = new Map();
  return new Set(
    [...textOf(page).matchAll(/^#{1,6} +(.+)$/gm)].map(([, heading]) => {
      const words = heading
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
        .replaceAll(' ', '-');
      const times = seen.get(words) ?? 0;
      seen.set(words, times + 1);
      return times === 0 ? words : `${words}-${times}`;
    }),
  );
}

/** Links of a page to what is in the repository: where to, and whether that is there. */
function brokenLinksOf(page) {
  const links = [
    ...textOf(page)
      .replaceAll(/`[^`\n]*`/g, '')
      .matchAll(/\]\(([^)\s]+)\)/g),
  ].map(([, to]) => to);
  return links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? page : join(dirname(page), path);
    if (!existsSync(join(root, target))) return true;
    return anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).has(anchor);
  });
}

describe('links in the pages', () => {
  it.each(pages)('of %s lead somewhere', (page) => {
    expect(brokenLinksOf(page)).toEqual([]);
  });
});
