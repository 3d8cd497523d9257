import type { IncomingMessage } from 'node:http';
import type { TrackedResponse } from '../../platform/http/index.ts';
import {
  escapeHtml,
  htmlPage,
  PAGE_HEADERS,
  PAGE_STYLE,
  type PageFile,
  pageScript,
} from '../../platform/page/index.ts';
import type { GatewayResource, PageFileName } from './networks.ts';

const FILES: Readonly<Record<PageFileName, PageFile>> = {
  'page.js': pageScript(new URL('./methodsPage/page.js', import.meta.url)),
  'calls.js': pageScript(new URL('./methodsPage/calls.js', import.meta.url)),
  'page.css': PAGE_STYLE,
};

/** What a request wants of the page; `methods` is the page itself, for browsers. Undefined where it wants something else. */
export function pageFileOf(
  { method, headers }: IncomingMessage,
  resource: GatewayResource,
): PageFileName | 'methods' | undefined {
  if (method !== 'GET' || resource === 'document' || resource === 'explorer') return undefined;
  return resource !== 'methods' || acceptsHtml(headers.accept) ? resource : undefined;
}

/** Browsers name it first; a program that takes anything does not want a page. */
const acceptsHtml = (accept = ''): boolean => /(?:^|,)\s*text\/html\s*(?:;|,|$)/i.test(accept);

/** Sends a file of the page, which is open to everybody: it holds no secret and no method, these come with `openrpc.json`. */
export function sendPage(response: TrackedResponse, wanted: PageFileName | 'methods', path: string): void {
  const { type, body } = wanted === 'methods' ? htmlPage(page(path)) : FILES[wanted];
  response.writeHead(200, {
    ...PAGE_HEADERS,
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-cache',
    vary: 'accept',
  });
  response.end(body);
}

/** The page of the network at a path. Its links go from there, so that a proxy may put it below another path. */
function page(path: string): string {
  const [network = '', isBelow] = path.split('/').slice(2);
  const here = escapeHtml(isBelow === undefined ? `./${network}/` : './');
  const name = escapeHtml(network);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${name}: JSON-RPC methods</title>
<link rel="stylesheet" href="${here}page.css">
<script type="module" src="${here}page.js"></script>
<main data-here="${here}">
<h1>${name}</h1>
<p>JSON-RPC 2.0 by POST to this address. Its methods are below, each with a form to try it; they come from its
<a href="${here}openrpc.json">OpenRPC document</a>.</p>
<noscript><p>The forms need JavaScript; the document does not.</p></noscript>
<form id="common">
<label>API key <small>Only where the server wants one. It stays in this page, and is gone with it.</small>
<input name="key" type="password" autocomplete="off" spellcheck="false"></label>
<button>Read the methods</button>
<label>Find a method <input name="find" type="search" autocomplete="off" spellcheck="false"></label>
</form>
<p id="state" role="status"></p>
<div id="methods"></div>
</main>
</html>
`;
}
