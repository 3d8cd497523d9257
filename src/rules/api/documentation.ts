import { readFileSync } from 'node:fs';
import type { RuleFormat } from '../index.ts';
import { documentationPage } from './documentationPage.ts';
import { openApiDocument } from './openApi.ts';
import type { ApiAnswer } from './request.ts';
import type { Route } from './route.ts';

/** Only what this server itself serves may run in the page, and the page may talk to this server only. */
const SECURITY_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

/** A file of the page: the same here and, as the build copies it, in the compiled program. */
function asset(name: string): string {
  return readFileSync(new URL(`./page/${name}`, import.meta.url), 'utf8');
}

/** The OpenAPI document of the routes and a page to read and try it: open to everyone, as they hold no secret. */
export function documentationRoutes(
  routes: readonly Route[],
  base: string,
  format: RuleFormat,
): readonly Route[] {
  const document = openApiDocument(routes, base, format);
  const serve = (path: string, summary: string, answer: ApiAnswer): Route => ({
    method: 'GET',
    path,
    operationId: path,
    summary,
    open: true,
    handle: async () => ({ headers: SECURITY_HEADERS, ...answer }),
  });
  return [
    serve('/openapi.json', 'This interface as an OpenAPI document', {
      body: JSON.stringify(document, null, 2),
    }),
    serve('/docs', 'A page to read and try it', {
      type: 'text/html; charset=utf-8',
      body: documentationPage(document, base),
    }),
    serve('/docs/page.js', 'The script of the page', {
      type: 'text/javascript; charset=utf-8',
      body: asset('page.js'),
    }),
    serve('/docs/page.css', 'The style of the page', {
      type: 'text/css; charset=utf-8',
      body: asset('page.css'),
    }),
  ];
}
