import type { RuleFormat } from '../index.ts';
import { namedSchemas, type SchemaName } from './envelopeSchemas.ts';
import { type ErrorCase, errorTable } from './errors.ts';
import { type ParameterName, parameters } from './parameters.ts';
import type { Route } from './route.ts';

/** Errors that every operation may answer. */
const commonErrors: readonly ErrorCase[] = [
  'malformedAuthorization',
  'unauthenticated',
  'forbidden',
  'methodNotAllowed',
  'rateLimited',
  'internal',
  'storeUnavailable',
];

/** Headers that come with an answer of a status. */
const headersOfStatus: Readonly<Record<number, Record<string, string>>> = {
  401: { 'WWW-Authenticate': 'Bearer, and what is wrong with the token.' },
  405: { Allow: 'The methods that the path has.' },
  412: { ETag: 'The rule or entry as it stands now, where the path names one.' },
  429: { 'Retry-After': 'Seconds to wait.' },
  503: { 'Retry-After': 'Seconds to wait.' },
};

/** The OpenAPI 3.1 document of these routes, served below `base`. It is made of what validates and of nothing else. */
export function openApiDocument(routes: readonly Route[], base: string, format: RuleFormat) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    if (route.open) continue;
    const path = paths[route.path] ?? {};
    paths[route.path] = path;
    path[route.method.toLowerCase()] = operationOf(route);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Floodgate DNS protection rules',
      version: '4',
      summary: 'Manage the DNS protection rules of an account.',
      description:
        'Compatible with the Advanced DNS Protection rules of version 4 of the Cloudflare API. ' +
        'Every body is read as JSON, whatever its content type. A trailing slash is accepted on every path, ' +
        'but for the deletion of all rules.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: base }],
    security: [{ bearer: [] }],
    tags: [{ name: 'rules' }, { name: 'lists' }, { name: 'tokens' }],
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: namedSchemas(format),
    },
  };
}

function operationOf(route: Route) {
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as ParameterName); // the table has them
  const named = [...inPath, ...(route.parameters ?? [])].map((name) => ({ name, ...parameters[name] }));
  return {
    operationId: route.operationId,
    summary: route.summary,
    description: [
      route.permission ? `The token must allow \`${route.permission}\`.` : 'Any valid token will do.',
      ...(route.description ? [route.description] : []),
    ].join(' '),
    tags: [tagOf(route)],
    ...(named.length > 0 && { parameters: named }),
    ...(route.body && { requestBody: { required: true, content: jsonOf(route.body) } }),
    responses: { 200: { ...successOf(route), ...linksOf(route) }, ...errorsOf(route) },
  };
}

function tagOf({ path }: Route): string {
  if (!path.startsWith('/accounts')) return 'tokens';
  return /list\b/.test(path) ? 'lists' : 'rules';
}

function successOf(route: Route) {
  const headers = {
    ...((route.answer === 'RuleAnswer' || route.answer === 'AccessEntryAnswer') &&
      headersOf({ ETag: 'The state of the rule or entry, for If-Match.' })),
    ...headersOf({ Ratelimit: 'What is left, where a rate limit is configured.' }),
  };
  return { description: 'Success.', headers, ...(route.answer && { content: jsonOf(route.answer) }) };
}

/** Where a created rule or entry is found again, for readers that follow links. */
function linksOf(route: Route) {
  if (!route.operationId.startsWith('create')) return {};
  const id = route.answer === 'RuleAnswer' ? 'rule_id' : 'entry_id';
  const parameters = { account_id: '$request.path.account_id', [id]: '$response.body#/result/id' };
  const operations = ['get', 'update', 'delete'].map((verb) => route.operationId.replace('create', verb));
  return {
    links: Object.fromEntries(operations.map((operationId) => [operationId, { operationId, parameters }])),
  };
}

function errorsOf(route: Route) {
  const cases = [...commonErrors, ...(route.errors ?? [])];
  const responses: Record<number, unknown> = {};
  for (const status of new Set(cases.map((errorCase) => errorTable[errorCase].status))) {
    const rows = cases.map((errorCase) => errorTable[errorCase]).filter((row) => row.status === status);
    const codes = new Set(rows.map((row) => `${row.code}: ${row.message}`));
    responses[status] = {
      description: [...codes].join('; '),
      ...(headersOfStatus[status] && { headers: headersOf(headersOfStatus[status]) }),
      content: jsonOf('ErrorAnswer'),
    };
  }
  return responses;
}

function headersOf(descriptions: Readonly<Record<string, string>>) {
  return Object.fromEntries(
    Object.entries(descriptions).map(([name, description]) => [
      name,
      { description, schema: { type: 'string' } },
    ]),
  );
}

function jsonOf(schema: SchemaName) {
  return { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } };
}
