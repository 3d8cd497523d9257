import { readFileSync } from 'node:fs';
import { posix } from 'node:path';

/** Returns the sidebar: the headings of docs/README.md with the links below each, in the same order. */
export function sidebar(root) {
  const groups = [];
  for (const line of readFileSync(`${root}docs/README.md`, 'utf8').split('\n')) {
    const [, heading] = /^## (.*)$/.exec(line) ?? [];
    if (heading !== undefined) groups.push({ text: heading, items: [] });
    const [, text, target] = /^- \[(.*?)\]\((.*?)\)/.exec(line) ?? [];
    if (text === undefined) continue;
    const link = `/${posix.join('docs', target)}`.replace(/README\.md$/, '').replace(/\.md$/, '');
    groups.at(-1)?.items.push({ text: text.replaceAll('`', ''), link });
  }
  return groups;
}
