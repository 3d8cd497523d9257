import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { escapeHtml } from './escapeHtml.ts';

export interface PageFile {
  readonly type: string;
  readonly body: string | Buffer;
}

export interface TryItPage {
  readonly title: string;
  /** URL of the OpenAPI or OpenRPC document. The page sends its requests to the folder of that URL. */
  readonly documentUrl: string;
  /** URL of the folder with the script and the style sheet of the page. */
  readonly filesUrl: string;
}

/** Returns a page with forms for the operations of an API document. RFC 8631 defines the relation `service-desc`. */
export function tryItPage({ title, documentUrl, filesUrl }: TryItPage): PageFile {
  const [name, document, files] = [title, documentUrl, filesUrl].map(escapeHtml);
  return {
    type: 'text/html; charset=utf-8',
    body: `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${name}</title>
<link rel="stylesheet" href="${files}page.css">
<link rel="service-desc" href="${document}" type="application/json">
<script type="module" src="${files}page.js"></script>
<div id="app"></div>
<noscript>The forms need JavaScript. <a href="${document}">The document</a> does not.</noscript>
</html>
`,
  };
}

/** Names of the page's files, which Vite builds from `console/src/tryIt`. */
export const PAGE_FILE_NAMES = ['page.js', 'page.css'] as const;
export type PageFileName = (typeof PAGE_FILE_NAMES)[number];

const TYPES: Readonly<Record<PageFileName, string>> = {
  'page.js': 'text/javascript; charset=utf-8',
  'page.css': 'text/css; charset=utf-8',
};
const NOT_BUILT: Readonly<Record<PageFileName, string>> = {
  'page.js': "document.body.append('The page was not built: run `npm run build`, then start again.');",
  'page.css': '',
};
/** Folder of the page's built files, next to the compiled module or the bundle. */
const FOLDER = new URL('./tryIt/', import.meta.url);
const read = new Map<PageFileName, PageFile>();

/** Returns a file of the page, read at the first request and not at startup. All responses share its buffer. */
export function pageFile(name: PageFileName): PageFile {
  const known = read.get(name);
  if (known !== undefined) return known;
  const path = fileURLToPath(new URL(name, FOLDER));
  const file = { type: TYPES[name], body: existsSync(path) ? readFileSync(path) : NOT_BUILT[name] };
  read.set(name, file);
  return file;
}
