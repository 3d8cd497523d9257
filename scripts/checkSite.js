import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';

/** Makes browsers reject everything that a page would load from another origin. */
const POLICY = /<meta http-equiv="Content-Security-Policy" content="default-src (?:'self'|&#39;self&#39;);/;

/**
 * Returns the faults of the pages in a folder: links within the site to missing pages or anchors, and pages without
 * the policy.
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
  return [...pages].flatMap(([file, html]) =>
    POLICY.test(html)
      ? linkFaults(file, html)
      : [...linkFaults(file, html), `${file} lacks the Content-Security-Policy`],
  );

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
