import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { send } from './support/send.ts';

/** As browsers send it. */
const ACCEPT = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

describe('the page of a network', () => {
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
    'is at %s, and all that it needs is where it says, closed to everything else',
    async (path) => {
      const response = await page(path);
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
      const html = await response.text();
      // No script, style or handler stands in the page itself.
      expect(html).not.toMatch(/<script(?![^>]* src=)|<style|style=|\son\w+=|javascript:/i);
      const links = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => String(link));
      expect(links).toHaveLength(3);
      const imported = String(links[1]).replace('page.js', 'calls.js');
      for (const link of [...links, imported]) {
        const { headers, status } = await page(new URL(link, floodgate.url + path).pathname, '*/*');
        expect({ link, status }).toEqual({ link, status: 200 });
        if (link.endsWith('.json')) continue;
        expect(headers.get('content-type')).toMatch(/^text\/(css|javascript); charset=utf-8$/);
        expect(headers.get('x-content-type-options')).toBe('nosniff');
      }
    },
  );

  it('lets run what this server serves, and nothing that is made of text', async () => {
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

  it('has scripts that make no HTML of text', async () => {
    for (const name of ['page.js', 'calls.js']) {
      const script = await (await page(`/v1/mainnet/${name}`)).text();
      expect(script).not.toMatch(
        /innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|localStorage/,
      );
    }
  });

  it.each([
    { what: 'a program that takes anything', method: 'GET', accept: '*/*' },
    { what: 'a program that takes JSON', method: 'GET', accept: 'application/json' },
    { what: 'something that only looks like it', method: 'GET', accept: 'x-text/html-not' },
    { what: 'a browser that sends a form', method: 'PUT', accept: ACCEPT },
    { what: 'HEAD', method: 'HEAD', accept: ACCEPT },
  ])('is not for $what', async ({ method, accept }) => {
    const answer = await send(floodgate.gatewayUrl, { method, headers: { accept } });
    expect(answer.status).toBe(405);
  });

  it.each(['/v1/sepolia', '/v1/', '/v1/__proto__', '/v1/%3Cscript%3E', '/v1/sepolia/page.js'])(
    'is not at %s',
    async (path) => {
      const answer = await page(path);
      expect(answer.status).toBe(404);
      expect(answer.headers.get('content-type')).toBe('application/json');
    },
  );

  it('names no method: these come with the document, which wants a key where there are keys', async () => {
    for (const name of ['', '/page.js', '/calls.js'])
      expect(await (await page(`/v1/mainnet${name}`)).text()).not.toMatch(/eth_|trace_|floodgate_/);
  });
});
