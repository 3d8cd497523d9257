import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { send } from './support/call.ts';
import { Conformance } from './support/conformance.ts';
import { rulesPath, zonesPath } from './support/samples.ts';
import { type RulesServer, startServer } from './support/server.ts';

let server: RulesServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const fetched = (path: string) => send(server, { path, token: null });

describe('the OpenAPI document', () => {
  it('is served without a token and is valid OpenAPI 3.1', async () => {
    const { json } = await fetched('/openapi.json');
    const result = await new Validator().validate(json);
    expect(result.errors).toBeUndefined();
    expect(result.valid).toBe(true);
    expect(json.openapi).toBe('3.1.0');
  });

  it('contains every operation once', async () => {
    const { json } = await fetched('/openapi.json');
    const operations = Object.entries<Record<string, { operationId: string }>>(json.paths).flatMap(
      ([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const families = ['network', 'magic'] as const;
    const collections = families.map((family) => rulesPath('{account_id}', family));
    const zones = families.map((family) => zonesPath('{account_id}', family));
    expect(operations.sort()).toEqual(
      [
        ...[...collections, ...zones].flatMap((path) =>
          ['GET', 'POST', 'DELETE'].map((method) => `${method} ${path}`),
        ),
        ...collections.flatMap((path) =>
          ['GET', 'PATCH', 'DELETE'].map((method) => `${method} ${path}/{rule_id}`),
        ),
        ...zones.flatMap((path) => ['GET', 'PATCH', 'DELETE'].map((method) => `${method} ${path}/{zone_id}`)),
        ...collections.map((path) => `GET ${path.replace(/rules$/, 'audit')}`),
        ...['allowlist', 'denylist'].flatMap((list) => {
          const path = `/accounts/{account_id}/network/advanced_dns_protection/configs/${list}`;
          return [
            ...['GET', 'POST', 'DELETE'].map((method) => `${method} ${path}`),
            ...['GET', 'PATCH', 'DELETE'].map((method) => `${method} ${path}/{entry_id}`),
          ];
        }),
        'GET /user/tokens/verify',
        'GET /user/tokens/current',
        ...['GET', 'POST'].map((method) => `${method} /user/tokens`),
        ...['GET', 'DELETE'].map((method) => `${method} /user/tokens/{token_id}`),
        'GET /gateway',
        'GET /gateway/names',
        'GET /alerts',
        'POST /alerts/test',
        'GET /health',
        'GET /health/history',
      ].sort(),
    );
  });

  it('documents the protection against an accidental deletion of all rules', async () => {
    const { json } = await fetched('/openapi.json');
    for (const family of ['network', 'magic'] as const) {
      const { description, parameters, responses } = json.paths[rulesPath('{account_id}', family)].delete;
      expect(description).toContain('Without a trailing slash');
      expect(parameters).toContainEqual(expect.objectContaining({ name: 'If-Match', in: 'header' }));
      expect(Object.keys(responses)).toContain('412');
    }
  });

  it('contains the base URL of its server', async () => {
    const { json } = await fetched('/openapi.json');
    expect(new URL(json.servers[0].url, server.baseUrl).href).toBe(server.baseUrl);
  });

  it('rejects responses with an additional or a missing member', async () => {
    const { json } = await fetched('/openapi.json');
    const conformance = new Conformance(json);
    const faults = (body: unknown, status = 200) =>
      conformance.faultsOf('GET', rulesPath('a'), { status, json: body });
    const answer = { result: [], success: true, errors: [], messages: [] };
    const info = { page: 1, per_page: 2, count: 0, total_count: 0, total_pages: 0 };
    expect(faults({ ...answer, result_info: info })).toEqual([]);
    expect(faults(answer)).not.toEqual([]);
    expect(faults({ ...answer, result_info: info, more: 1 })).not.toEqual([]);
    expect(faults({ ...answer, result_info: info, result: [{ id: 'x' }] })).not.toEqual([]);
    expect(faults(answer, 418)).not.toEqual([]);
  });
});

describe('the page to try the operations', () => {
  it('loads only files of this server and runs only its own script', async () => {
    const response = await fetch(`${server.baseUrl}/docs`);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('content-security-policy')).toContain(
      "default-src 'none'; script-src 'self'",
    );
    const html = await response.text();
    expect(html).not.toMatch(/(?:src|href)="(?!\/client\/v4\/)/);
    expect(html).not.toMatch(/<script>|<style>|style=|onclick|onload/);
    for (const [, link] of html.matchAll(/(?:src|href)="([^"]+)"/g))
      expect((await fetch(new URL(String(link), server.baseUrl))).status).toBe(200);
    const script = await fetch(`${server.baseUrl}/docs/page.js`);
    expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    const text = await script.text();
    expect(text.length).toBeLessThan(60_000);
    // A debugging build would contain source paths.
    expect(text).not.toContain('console/src');
  });
});
