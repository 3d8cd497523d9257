import { expect, it } from 'vitest';
import { atEnd } from '../dns/support/atEnd.ts';
import { startFloodgate } from '../support/startFloodgate.ts';

const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

async function get(args: readonly string[], headers: Readonly<Record<string, string>>): Promise<Response> {
  const { url, stop } = await startFloodgate({ args: ['--role', 'rules', ...args] });
  atEnd(() => stop());
  return fetch(url, { headers, redirect: 'manual' });
}

it('a browser that opens the address is led to the console', async () => {
  const { status, headers } = await get(['--console-enabled'], BROWSER);
  expect([status, headers.get('location')]).toEqual([302, '/console/']);
});

it('a browser reads how to switch on a console that is off', async () => {
  const answer = await get([], BROWSER);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
  expect(await answer.text()).toContain('console.enabled: true');
});

it.each([{ accept: 'application/json' }, {}])(
  'other clients get 404 as JSON, with the headers %j',
  async (headers) => {
    const answer = await get(['--console-enabled'], headers);
    expect([answer.status, await answer.json()]).toEqual([
      404,
      expect.objectContaining({
        error: expect.stringMatching(/^no route for GET \/; served: .*\/client\/v4/),
      }),
    ]);
  },
);
