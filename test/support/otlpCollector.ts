import type { ServerResponse } from 'node:http';
import { Ajv } from 'ajv';
import { type HttpServer, startHttpServer } from './httpServer.ts';

/** A received span, simplified. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: number;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly isError: boolean;
}

export interface OtlpCollector extends HttpServer {
  readonly url: string;
  /** All accepted spans, in order. */
  readonly spans: CollectedSpan[];
  /** Bodies as received, and the headers of the last request. */
  readonly bodies: string[];
  readonly headers: Readonly<Record<string, unknown>>;
  /** Deviations from OTLP. */
  readonly faults: string[];
}

const id = (digits: number) => ({ type: 'string', pattern: `^(?!0+$)[0-9a-f]{${digits}}$` });
const text = { type: 'string', minLength: 1 };
const nanoseconds = { type: 'string', pattern: '^[1-9][0-9]{17,18}$' };
const list = (items: object) => ({ type: 'array', items });
/**
 * Returns the schema of an object with these members and no others, because collectors silently drop misspelt
 * members.
 */
const object = (properties: object, required: readonly string[]) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const attributes = list(
  object(
    {
      key: text,
      value: {
        oneOf: [
          object({ stringValue: { type: 'string' } }, ['stringValue']),
          object({ intValue: { type: 'string', pattern: '^-?[0-9]+$' } }, ['intValue']),
        ],
      },
    },
    ['key', 'value'],
  ),
);
const span = object(
  {
    traceId: id(32),
    spanId: id(16),
    parentSpanId: id(16),
    name: text,
    kind: { enum: [1, 2, 3, 4, 5] },
    startTimeUnixNano: nanoseconds,
    endTimeUnixNano: nanoseconds,
    attributes,
    status: object({ code: { enum: [0, 1, 2] }, message: { type: 'string' } }, []),
  },
  ['traceId', 'spanId', 'name', 'kind', 'startTimeUnixNano', 'endTimeUnixNano'],
);
/** `ExportTraceServiceRequest` of opentelemetry-proto 1.x in its JSON mapping, as far as Floodgate uses it. */
const isRequest = new Ajv().compile(
  object(
    {
      resourceSpans: list(
        object(
          {
            resource: object({ attributes }, ['attributes']),
            scopeSpans: list(
              object({ scope: object({ name: text, version: text }, ['name']), spans: list(span) }, [
                'spans',
              ]),
            ),
          },
          ['scopeSpans'],
        ),
      ),
    },
    ['resourceSpans'],
  ),
);

type Respond = (response: ServerResponse, count: number) => boolean;

const take: Respond = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  return true;
};

/** Starts a collector of OTLP over HTTP as JSON. `respond` returns whether it accepted the request. */
export async function startOtlpCollector(respond: Respond = take): Promise<OtlpCollector> {
  const spans: CollectedSpan[] = [];
  const bodies: string[] = [];
  const faults: string[] = [];
  const collector = { headers: {} };
  const server = await startHttpServer((body, request, response) => {
    bodies.push(body);
    collector.headers = request.headers;
    if (request.url !== '/v1/traces' || request.headers['content-type'] !== 'application/json')
      faults.push(`${request.method} ${request.url} ${request.headers['content-type']}`);
    const parsed = JSON.parse(body);
    if (!isRequest(parsed)) faults.push(JSON.stringify(isRequest.errors));
    if (respond(response, bodies.length)) spans.push(...spansIn(parsed));
  });
  return {
    url: server.url,
    stop: server.stop,
    spans,
    bodies,
    faults,
    get headers() {
      return collector.headers;
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: the form was validated, or is reported as a fault
const spansIn = (request: any): CollectedSpan[] =>
  // biome-ignore lint/suspicious/noExplicitAny: see above
  request.resourceSpans.flatMap((resource: any) =>
    // biome-ignore lint/suspicious/noExplicitAny: see above
    resource.scopeSpans.flatMap((scope: any) => scope.spans.map(collected)),
  );

// biome-ignore lint/suspicious/noExplicitAny: see above
const collected = ({ status, attributes: given, ...reported }: any): CollectedSpan => ({
  ...reported,
  isError: status?.code === 2,
  attributes: Object.fromEntries(
    // biome-ignore lint/suspicious/noExplicitAny: see above
    given.map(({ key, value }: any) => [key, value.stringValue ?? Number(value.intValue)]),
  ),
});
