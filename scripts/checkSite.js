import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';

/** Where a page's policy must not let anything in from elsewhere. */
const POLICY = /<meta http-equiv="Content-Security-Policy" content="default-src (?:'self'|&#39;self&#39;);/;
/** What a browser loads by itself; links that people follow are not. */
const LOADED = [
  /<(?:script|img|iframe|source|video|audio|embed)\b[^>]*?\s(?:src|srcset)="((?:https?:)?\/\/[^"]*)"/g,
  /<link\b[^>]*?\shref="((?:https?:)?\/\/[^"]*)"/g,
];
const LOADED_BY_STYLE = /(?:url\(\s*["']?|@import\s+["'])((?:https?:)?\/\/[^"')\s]+)/g;

/**
 * What is wrong with the pages in a folder: links within that lead nowhere, anchors included, and what would be loaded from elsewhere.
 *
 * @type {(folder: string) => string[]}
 */
export function faultsOfSite(folder) {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const pages = new Map(
    files
      .filter((file) => file.endsWith('.html'))
      .map((file) => [file, readFileSync(join(folder, file), 'utf8')]),
  );
  const faults = [...pages].flatMap(([file, html]) => [...linkFaults(file, html), ...loadFaults(file, html)]);
  for (const file of files.filter((each) => each.endsWith('.css')))
    for (const [, url] of readFileSync(join(folder, file), 'utf8').matchAll(LOADED_BY_STYLE))
      faults.push(`${file} loads ${url}`);
  return faults;

  /** @type {(file: string, html: string) => string[]} */
  function linkFaults(file, html) {
    const found = [];
    for (const [, href] of html.matchAll(/<a\b[^>]*?\shref="([^"]*)"/g)) {
      if (/^[a-z]+:|^\/\//.test(href)) continue;
      const [path, anchor] = decodeURI(href.replaceAll('&amp;', '&')).split('#');
      const target = targetOf(file, path);
      if (target === undefined) found.push(`${file} has a link to ${href}, which is not there`);
      else if (anchor && !hasAnchor(pages.get(target) ?? '', anchor))
        found.push(`${file} has a link to ${href}: there is no such heading`);
    }
    return found;
  }

  /** @type {(file: string, path: string) => string | undefined} */
  function targetOf(file, path) {
    const from = path.startsWith('/') ? path.slice(1) : posix.join(dirname(file), path);
    if (path === '') return file;
    const names = from === '' || from.endsWith('/') ? [`${from}index.html`] : [from, `${from}.html`];
    return names.map((name) => posix.normalize(name)).find((name) => existsSync(join(folder, name)));
  }
}

/** @type {(html: string, anchor: string) => boolean} */
const hasAnchor = (html, anchor) => html.includes(`id="${anchor}"`);

/** @type {(file: string, html: string) => string[]} */
function loadFaults(file, html) {
  const found = LOADED.flatMap((pattern) =>
    [...html.matchAll(pattern)].map(([, url]) => `${file} loads ${url}`),
  );
  for (const [, style] of html.matchAll(/<style[^>]*>([\s\S]*?)<\/style>/g))
    for (const [, url] of style.matchAll(LOADED_BY_STYLE)) found.push(`${file} loads ${url}`);
  return POLICY.test(html)
    ? found
    : [...found, `${file} lacks the policy that forbids to load from elsewhere`];
}
