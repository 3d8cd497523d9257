import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { RulesClient } from './rulesClient.ts';

const rule = (id: number) => ({
  ...{ id: String(id), scope: 'global', name: 'x', mode: 'enabled', profile_sensitivity: 'low' },
  ...{ rate_sensitivity: 'low', burst_sensitivity: 'low', created_on: '', modified_on: '' },
});

/** Stands for servers that page otherwise than ours: lists 7 rules by `pageOf`. */
async function listed(
  pageOf: (page: number, perPage: number) => object,
): Promise<{ ids: string[]; requests: number }> {
  let requests = 0;
  const server = createServer((request, response) => {
    requests++;
    const query = new URL(request.url ?? '', 'http://localhost').searchParams;
    const body = pageOf(Number(query.get('page')), Number(query.get('per_page')));
    response.end(JSON.stringify({ success: true, errors: [], messages: [], ...body }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const client = new RulesClient({ baseUrl: `http://127.0.0.1:${port}`, token: 't', accountId: 'a' });
  try {
    return { ids: (await client.list()).map(({ id }) => id), requests };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const all = Array.from({ length: 7 }, (_, index) => rule(index));
const info = { result_info: { total_count: all.length } };
const ids = all.map(({ id }) => id);

it.each([
  ['gives everything and says how much there is', () => ({ result: all, ...info }), 1],
  ['gives pages of 3', (page: number) => ({ result: all.slice(3 * page - 3, 3 * page), ...info }), 3],
  ['gives pages of 3 and no total', (page: number) => ({ result: all.slice(3 * page - 3, 3 * page) }), 4],
  ['knows no pages and says nothing', () => ({ result: all }), 2],
])('every rule is listed once where a server %s', async (_, pageOf, requests) => {
  expect(await listed(pageOf)).toEqual({ ids, requests });
});

it('what is no list of rules is refused', async () => {
  await expect(listed(() => ({ result: [{ id: 1 }] }))).rejects.toThrow('not what a rules API gives');
  await expect(listed(() => ({ result: 'none' }))).rejects.toThrow('not what a rules API gives');
});
