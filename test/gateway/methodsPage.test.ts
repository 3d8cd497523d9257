import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { send } from './support/send.ts';

/** The Accept header of browsers. */
const ACCEPT = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

describe('the methods page of a network', () => {
  let chain: SharedChain;
  let floodgate: Floodgate;
  beforeAll(async () => {
    chain = await startSharedChain();
    floodgate = await startFloodgate({ upstream: chain.anvil.url });
  });
  afterAll(async () => {
    await floodgate?.stop();
    await chain?.anvil.stop();
  });
  const page = (path: string, accept = ACCEPT): Promise<Response> =>
    fetch(floodgate.url + path, { headers: { accept } });

  it.each(['/v1/mainnet', '/v1/mainnet/', '/v1/31337', '/v1/mainnet?key=x'])(
    'is served at %s with its script, stylesheet and document, and has no inline code',
    async (path) => {
      const response = await page(path);
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
      const html = await response.text();
      // The page has no inline script, style or event handler.
      expect(html).not.toMatch(/<script(?![^>]* src=)|<style|style=|\son\w+=|javascript:/i);
      const links = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => String(link));
      expect(new Set(links).size).toBe(3);
      for (const link of new Set(links)) {
        const { headers, status } = await page(new URL(link, floodgate.url + path).pathname, '*/*');
        expect({ link, status }).toEqual({ link, status: 200 });
        if (link.endsWith('.json')) continue;
        expect(headers.get('content-type')).toMatch(/^text\/(css|javascript); charset=utf-8$/);
        expect(headers.get('x-content-type-options')).toBe('nosniff');
      }
    },
  );

  it('has a content security policy that allows only files of this server', async () => {
    const { headers } = await page('/v1/mainnet');
    const policy = String(headers.get('content-security-policy'));
    expect(policy.split('; ')).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ]);
    expect(policy).not.toContain('unsafe');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('vary')).toBe('accept');
    expect(headers.has('access-control-allow-origin')).toBe(false);
  });

  it.each([
    { what: 'GET with Accept */*', method: 'GET', accept: '*/*' },
    { what: 'GET with Accept application/json', method: 'GET', accept: 'application/json' },
    { what: 'GET with an Accept that only contains text/html', method: 'GET', accept: 'x-text/html-not' },
    { what: 'PUT', method: 'PUT', accept: ACCEPT },
    { what: 'HEAD', method: 'HEAD', accept: ACCEPT },
  ])('is not returned for $what', async ({ method, accept }) => {
    const answer = await send(floodgate.gatewayUrl, { method, headers: { accept } });
    expect(answer.status).toBe(405);
  });

  it.each(['/v1/sepolia', '/v1/', '/v1/__proto__', '/v1/%3Cscript%3E', '/v1/sepolia/page.js'])(
    'is not served at %s',
    async (path) => {
      const answer = await page(path);
      expect(answer.status).toBe(404);
      expect(answer.headers.get('content-type')).toBe('application/json');
    },
  );

  it('contains no method names: the page reads them from the OpenRPC document, which may require a key', async () => {
    for (const name of ['', '/page.js'])
      expect(await (await page(`/v1/mainnet${name}`)).text()).not.toMatch(/eth_|trace_|floodgate_/);
  });
});
