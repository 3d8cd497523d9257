import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { RulesClient } from './rulesClient.ts';

const rule = (id: number) => ({
  id: String(id),
  scope: 'global',
  name: 'x',
  mode: 'enabled',
  profile_sensitivity: 'low',
  rate_sensitivity: 'low',
  burst_sensitivity: 'low',
  created_on: '',
  modified_on: '',
});

/** Lists 7 rules from a server that pages differently from Floodgate. */
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
    return { ids: (await client.rules.list()).map(({ id }) => id), requests };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const all = Array.from({ length: 7 }, (_, index) => rule(index));
const info = { result_info: { total_count: all.length } };
const ids = all.map(({ id }) => id);

it.each([
  ['returns all rules with a total', () => ({ result: all, ...info }), 1],
  [
    'returns pages of 3 with a total',
    (page: number) => ({ result: all.slice(3 * page - 3, 3 * page), ...info }),
    3,
  ],
  [
    'returns pages of 3 without a total',
    (page: number) => ({ result: all.slice(3 * page - 3, 3 * page) }),
    4,
  ],
  ['ignores paging and returns no total', () => ({ result: all }), 2],
])('RulesClient lists every rule once if the server %s', async (_, pageOf, requests) => {
  expect(await listed(pageOf)).toEqual({ ids, requests });
});

it('RulesClient rejects a result that is not a list of rules', async () => {
  await expect(listed(() => ({ result: [{ id: 1 }] }))).rejects.toThrow(
    'the response is not from a rules API',
  );
  await expect(listed(() => ({ result: 'none' }))).rejects.toThrow('the response is not from a rules API');
});
