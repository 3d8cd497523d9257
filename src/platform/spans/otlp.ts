import type { FinishedSpan, SpanKind } from './span.ts';

/** What spans come from. */
export interface Resource {
  readonly serviceName: string;
  readonly version: string;
  /** Tells this run from others of the same service. */
  readonly instanceId: string;
}

const KINDS: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3 };
const STATUS_ERROR = 2;
const MICROSECONDS_PER_MS = 1_000;

/** The body of an `ExportTraceServiceRequest` in OTLP's JSON: ids in hex, 64-bit numbers as text. */
export const exportRequest = (spans: readonly FinishedSpan[], resource: Resource): string =>
  JSON.stringify({
    resourceSpans: [
      {
        resource: {
          attributes: [
            attribute('service.name', resource.serviceName),
            attribute('service.version', resource.version),
            attribute('service.instance.id', resource.instanceId),
          ],
        },
        scopeSpans: [{ scope: { name: 'floodgate', version: resource.version }, spans: spans.map(spanOf) }],
      },
    ],
  });

function spanOf(span: FinishedSpan): object {
  const { traceId, spanId, parentId, name, kind, startMs, endMs, attributes, failure } = span;
  return {
    traceId,
    spanId,
    ...(parentId !== undefined && { parentSpanId: parentId }),
    name,
    kind: KINDS[kind],
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(endMs),
    attributes: [...attributes].map(([key, value]) => attribute(key, value)),
    status: failure === undefined ? {} : { code: STATUS_ERROR },
  };
}

const attribute = (key: string, value: string | number): object => ({
  key,
  value: typeof value === 'string' ? { stringValue: value } : { intValue: String(value) },
});

/** Exact to the microsecond: a double has no more digits for a time since 1970. */
const nanoseconds = (ms: number): string => `${Math.round(ms * MICROSECONDS_PER_MS)}000`;
