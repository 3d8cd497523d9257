import { htmlPage, PAGE_HEADERS, PAGE_STYLE, pageScript } from '../../platform/page/index.ts';
import type { RuleFormat } from '../index.ts';
import { documentationPage } from './documentationPage.ts';
import { openApiDocument } from './openApi.ts';
import type { ApiAnswer } from './request.ts';
import type { Route } from './route.ts';

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
    handle: async () => ({ headers: PAGE_HEADERS, ...answer }),
  });
  return [
    serve('/openapi.json', 'This interface as an OpenAPI document', {
      body: JSON.stringify(document, null, 2),
    }),
    serve('/docs', 'A page to read and try it', htmlPage(documentationPage(document, base))),
    serve('/docs/page.js', 'The script of the page', pageScript(new URL('./page/page.js', import.meta.url))),
    serve('/docs/page.css', 'The style of the page', PAGE_STYLE),
  ];
}
