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
  // Made for the first who asks, not at each start.
  const document = once(() => openApiDocument(routes, base, format));
  const json = once(() => ({ body: JSON.stringify(document(), null, 2) }));
  const page = once(() => htmlPage(documentationPage(document(), base)));
  const script = pageScript(new URL('./page/page.js', import.meta.url));
  const serve = (path: string, summary: string, answer: () => ApiAnswer): Route => ({
    method: 'GET',
    path,
    operationId: path,
    summary,
    open: true,
    handle: async () => ({ headers: PAGE_HEADERS, ...answer() }),
  });
  return [
    serve('/openapi.json', 'This interface as an OpenAPI document', json),
    serve('/docs', 'A page to read and try it', page),
    serve('/docs/page.js', 'The script of the page', () => script),
    serve('/docs/page.css', 'The style of the page', () => PAGE_STYLE),
  ];
}

function once<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
