import { beforeAll, expect, it, vi } from 'vitest';
import { curlCommand } from './curl.ts';

beforeAll(() => {
  vi.stubGlobal('location', new URL('http://127.0.0.1:8420/console/'));
  return () => vi.unstubAllGlobals();
});

it('a curl command escapes quotation marks and does not contain the secret', () => {
  const body = `{"a":"'; rm -rf ~ #"}`;
  const headers = { authorization: 'Bearer fg_secret', 'content-type': 'application/json' };
  expect(curlCommand({ method: 'PATCH', url: "/client/v4/it's", headers, body }, 'FLOODGATE_TOKEN')).toBe(
    `curl -X PATCH 'http://127.0.0.1:8420/client/v4/it'\\''s' -H "Authorization: Bearer $FLOODGATE_TOKEN" ` +
      `-H 'content-type: application/json' --data '{"a":"'\\''; rm -rf ~ #"}'`,
  );
});

it('a curl command contains the method only if curl would choose another one', () => {
  const of = (method: string, body?: string) =>
    curlCommand({ method, url: '/x', headers: {}, ...(body !== undefined && { body }) }, 'FLOODGATE_KEY');
  expect(of('GET')).toBe("curl 'http://127.0.0.1:8420/x'");
  expect(of('POST', '{}')).toBe("curl 'http://127.0.0.1:8420/x' --data '{}'");
  expect(of('POST')).toContain('-X POST');
  expect(of('DELETE')).toContain('-X DELETE');
});
