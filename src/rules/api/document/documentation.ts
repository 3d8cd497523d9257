import { PAGE_FILE_NAMES, PAGE_HEADERS, pageFile, tryItPage } from '../../../platform/page/index.ts';
import type { RuleFormat } from '../../index.ts';
import type { ApiResponse } from '../http/request.ts';
import type { Route } from '../routes/route.ts';
import { openApiDocument } from './openApi.ts';

/** Returns the routes of the OpenAPI document and its try-it page. They contain no secret and need no token. */
export function documentationRoutes(
  routes: readonly Route[],
  base: string,
  format: RuleFormat,
): readonly Route[] {
  let document: string | undefined;
  const readDocument = (): ApiResponse => {
    // The document is built at the first request, so that startup does not wait for it.
    document ??= JSON.stringify(openApiDocument(routes, base, format), null, 2);
    return { body: document };
  };
  const page = tryItPage({
    title: 'Floodgate rules API',
    documentUrl: `${base}/openapi.json`,
    filesUrl: `${base}/docs/`,
  });
  const serve = (path: string, summary: string, answer: () => ApiResponse): Route => ({
    method: 'GET',
    path,
    operationId: path,
    summary,
    open: true,
    handle: async () => ({ headers: PAGE_HEADERS, ...answer() }),
  });
  return [
    serve('/openapi.json', 'The OpenAPI document', readDocument),
    serve('/docs', 'The page to try the operations', () => page),
    ...PAGE_FILE_NAMES.map((name) => serve(`/docs/${name}`, 'A file of the page', () => pageFile(name))),
  ];
}
