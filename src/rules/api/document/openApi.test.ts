import { describe, expect, it } from 'vitest';
import { ruleFormat } from '../../index.ts';
import type { Route } from '../routes/route.ts';
import { openApiDocument } from './openApi.ts';

/** Returns the operation of the document for a route. */
function operationOf(route: Partial<Route> & Pick<Route, 'operationId'>) {
  const whole: Route = {
    method: 'POST',
    path: '/accounts/{account_id}/rules',
    summary: 'x',
    handle: () => Promise.reject(new Error('not called')),
    ...route,
  };
  const { paths } = openApiDocument([whole], '/client/v4', ruleFormat);
  return paths[whole.path]?.[whole.method.toLowerCase()] as {
    readonly tags: string[];
    readonly responses: Record<string, { links?: Record<string, object>; headers?: object } | undefined>;
  };
}

describe('the OpenAPI document', () => {
  it.each([
    ['createRule', 'RuleAnswer', ['getRule', 'updateRule', 'deleteRule'], 'rule_id'],
    [
      'createZonePolicy',
      'ZonePolicyAnswer',
      ['getZonePolicy', 'updateZonePolicy', 'deleteZonePolicy'],
      'zone_id',
    ],
    ['createToken', undefined, ['getToken', 'revokeToken'], 'token_id'],
  ] as const)(
    'links %s to the operations on the new object',
    (...[operationId, answer, links, parameter]) => {
      const { responses } = operationOf({ operationId, ...(answer && { answer }) });
      expect(Object.keys(responses[200]?.links ?? {})).toEqual(links);
      expect(responses[200]?.links?.[links[0]]).toMatchObject({
        operationId: links[0],
        parameters: { [parameter]: '$response.body#/result/id' },
      });
    },
  );

  it('has the ETag of objects that have one, and the age of responses only for GET', () => {
    const headersOf = (route: Partial<Route>) =>
      Object.keys(operationOf({ operationId: 'x', ...route }).responses[200]?.headers ?? {});
    expect(headersOf({ method: 'GET', answer: 'RuleAnswer' })).toEqual([
      'ETag',
      'Floodgate-Stale',
      'Ratelimit',
    ]);
    expect(headersOf({ method: 'PATCH', answer: 'RuleAnswer' })).toEqual(['ETag', 'Ratelimit']);
    expect(headersOf({ method: 'POST' })).toEqual(['Ratelimit']);
  });

  it('has no endless responses, and no operations without a token', () => {
    expect(operationOf({ operationId: 'live', isStream: true })).toBeUndefined();
    expect(operationOf({ operationId: 'document', open: true })).toBeUndefined();
  });
});
