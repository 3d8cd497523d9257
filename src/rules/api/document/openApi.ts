import type { RuleFormat } from '../../index.ts';
import { type ErrorCase, errorTable } from '../http/errors.ts';
import type { Route } from '../routes/route.ts';
import { namedSchemas, type SchemaName } from './envelopeSchemas.ts';
import { exampleError, examplesOf } from './examples.ts';
import { type ParameterName, parameters } from './parameters.ts';

const commonErrors: readonly ErrorCase[] = [
  'malformedAuthorization',
  'unauthenticated',
  'forbidden',
  'methodNotAllowed',
  'rateLimited',
  'internal',
  'storeUnavailable',
  'outcomeUnknown',
];

/** Description and example of each response header, by header name. */
type HeaderNotes = Readonly<Record<string, readonly [description: string, example: string]>>;

/** Additional response headers, by HTTP status. */
const headersOfStatus: Readonly<Record<number, HeaderNotes>> = {
  401: {
    'WWW-Authenticate': ['Bearer, with the error of the token.', 'Bearer error="invalid_token"'],
  },
  405: { Allow: ['Methods that the path supports.', 'GET, HEAD, POST, DELETE'] },
  412: { ETag: ['Current ETag of the rule, entry or zone policy in the path.', '"jyxt1c3xnc"'] },
  429: { 'Retry-After': ['Seconds to wait.', '30'] },
  503: { 'Retry-After': ['Seconds to wait.', '1'] },
};

const ETAG: HeaderNotes = {
  ETag: [
    'Version of the response, for If-None-Match; for a single rule, entry or zone policy, also for If-Match.',
    '"jyxt1c3xnc"',
  ],
};

const STALE: HeaderNotes = {
  'Floodgate-Stale': [
    'Age of the response in seconds, sent only while the rules database is unreachable.',
    '12',
  ],
};

const tagged: ReadonlySet<SchemaName> = new Set<SchemaName>([
  'RuleAnswer',
  'RuleListAnswer',
  'AccessEntryAnswer',
  'AccessListAnswer',
  'ZonePolicyAnswer',
  'ZonePolicyListAnswer',
]);

/** Returns the OpenAPI 3.1 document of the routes below `base`, generated from the schemas that validate requests. */
export function openApiDocument(routes: readonly Route[], base: string, format: RuleFormat) {
  const examples = examplesOf(format);
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    if (route.open || route.isStream) continue;
    const path = paths[route.path] ?? {};
    paths[route.path] = path;
    path[route.method.toLowerCase()] = operationOf(route, examples);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Floodgate DNS protection rules',
      version: '4',
      summary: 'Manage the DNS protection rules of an account.',
      description:
        'Compatible with the Advanced DNS Protection rules of version 4 of the Cloudflare API. ' +
        'Every body is parsed as JSON, regardless of its content type. A trailing slash is accepted on every path, ' +
        'except for the deletion of all rules.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: base }],
    security: [{ bearer: [] }],
    tags: [
      { name: 'rules' },
      { name: 'lists' },
      { name: 'zones' },
      { name: 'guard' },
      { name: 'tokens' },
      { name: 'keys' },
      { name: 'server' },
    ],
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: namedSchemas(format),
    },
  };
}

type Examples = ReturnType<typeof examplesOf>;

function operationOf(route: Route, examples: Examples) {
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as ParameterName); // the table has them
  const named = [...inPath, ...(route.parameters ?? [])].map((name) => ({ name, ...parameters[name] }));
  return {
    operationId: route.operationId,
    summary: route.summary,
    description: [
      route.permission ? `The token must allow \`${route.permission}\`.` : 'Any valid token is sufficient.',
      ...(route.description ? [route.description] : []),
    ].join(' '),
    tags: [tagOf(route)],
    ...(named.length > 0 && { parameters: named }),
    ...(route.body && { requestBody: { required: true, content: jsonOf(route.body, examples[route.body]) } }),
    responses: {
      200: { ...successOf(route, examples), ...linksOf(route) },
      ...(route.parameters?.includes('If-None-Match') && {
        304: { description: 'Not modified.', headers: headersOf(ETAG) },
      }),
      ...errorsOf(route),
    },
  };
}

function tagOf({ path }: Route): string {
  if (/^\/(?:health|alerts)/.test(path)) return 'server';
  if (path.startsWith('/gateway')) return 'keys';
  if (!path.startsWith('/accounts')) return 'tokens';
  if (/dns_protection\/(?:attacks|status|rates|what-if|zone_assessments)|\/forget$/.test(path))
    return 'guard';
  if (/dns_protection\/zones/.test(path)) return 'zones';
  return /list\b/.test(path) ? 'lists' : 'rules';
}

function successOf(route: Route, examples: Examples) {
  const headers = {
    ...(route.answer !== undefined && tagged.has(route.answer) && headersOf(ETAG)),
    ...(route.method === 'GET' && headersOf(STALE)),
    ...headersOf({
      Ratelimit: ['Remaining requests, if a rate limit is configured.', '"default";r=99;t=300'],
    }),
  };
  return {
    description: 'Success.',
    headers,
    ...(route.answer && { content: jsonOf(route.answer, examples[route.answer]) }),
  };
}

/** Returns OpenAPI links from the response to a creation to the operations on the new object. */
function linksOf(route: Route) {
  if (!route.operationId.startsWith('create')) return {};
  const [, secret] = /^create(Token|Key)$/.exec(route.operationId) ?? [];
  if (secret !== undefined) {
    const parameters = { [`${secret.toLowerCase()}_id`]: '$response.body#/result/id' };
    const operations = [`get${secret}`, `revoke${secret}`];
    return {
      links: Object.fromEntries(operations.map((operationId) => [operationId, { operationId, parameters }])),
    };
  }
  const id = idParameters[route.answer ?? ''] ?? 'entry_id';
  const parameters = { account_id: '$request.path.account_id', [id]: '$response.body#/result/id' };
  const operations = ['get', 'update', 'delete'].map((verb) => route.operationId.replace('create', verb));
  return {
    links: Object.fromEntries(operations.map((operationId) => [operationId, { operationId, parameters }])),
  };
}

/** Path parameter with the id of the created object, by the schema of the response. */
const idParameters: Readonly<Record<string, ParameterName>> = {
  RuleAnswer: 'rule_id',
  ZonePolicyAnswer: 'zone_id',
};

function errorsOf(route: Route) {
  const cases = [...commonErrors, ...(route.errors ?? [])];
  const responses: Record<number, unknown> = {};
  for (const status of new Set(cases.map((errorCase) => errorTable[errorCase].status))) {
    const rows = cases.map((errorCase) => errorTable[errorCase]).filter((row) => row.status === status);
    const [first] = rows;
    const codes = new Set(rows.map((row) => `${row.code}: ${row.message}`));
    responses[status] = {
      description: [...codes].join('; '),
      ...(headersOfStatus[status] && { headers: headersOf(headersOfStatus[status]) }),
      content: jsonOf('ErrorAnswer', first && exampleError(first)),
    };
  }
  return responses;
}

function headersOf(notes: HeaderNotes) {
  return Object.fromEntries(
    Object.entries(notes).map(([name, [description, example]]) => [
      name,
      { description, example, schema: { type: 'string' } },
    ]),
  );
}

function jsonOf(schema: SchemaName, example: unknown) {
  return { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` }, example } };
}
