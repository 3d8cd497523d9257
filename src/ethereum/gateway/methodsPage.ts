import type { IncomingMessage } from 'node:http';
import type { TrackedResponse } from '../../platform/http/index.ts';
import { PAGE_HEADERS, type PageFileName, pageFile, tryItPage } from '../../platform/page/index.ts';
import type { GatewayResource } from './networks.ts';

/** Returns the name of the requested page file, or undefined. `methods` is the HTML page, for browsers only. */
export function pageFileOf(
  { method, headers }: IncomingMessage,
  resource: GatewayResource,
): PageFileName | 'methods' | undefined {
  if (method !== 'GET' || resource === 'document' || resource === 'explorer') return undefined;
  return resource !== 'methods' || acceptsHtml(headers.accept) ? resource : undefined;
}

/** Returns true for text/html, which only browsers send. Clients that accept every type get status 405. */
const acceptsHtml = (accept = ''): boolean => /(?:^|,)\s*text\/html\s*(?:;|,|$)/i.test(accept);

/** Sends a page file. No API key is required, because only `openrpc.json` contains method names. */
export function sendPage(response: TrackedResponse, name: PageFileName | 'methods', path: string): void {
  const { type, body } = name === 'methods' ? networkPage(path) : pageFile(name);
  response.writeHead(200, {
    ...PAGE_HEADERS,
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-cache',
    vary: 'accept',
  });
  response.end(body);
}

/** Returns the HTML page with relative URLs, so that a proxy can serve the gateway under another path. */
function networkPage(path: string) {
  const [network = '', belowNetwork] = path.split('/').slice(2);
  const filesUrl = belowNetwork === undefined ? `./${network}/` : './';
  return tryItPage({
    title: `${network}: JSON-RPC methods`,
    documentUrl: `${filesUrl}openrpc.json`,
    filesUrl,
  });
}
