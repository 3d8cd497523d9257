import type { FinishedSpan, SpanKind } from './span.ts';

export interface Resource {
  readonly version: string;
  readonly instanceId: string;
}

const SERVICE_NAME = 'floodgate';
const KINDS: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3 };
const STATUS_ERROR = 2;
const MICROSECONDS_PER_MS = 1_000;

/** Returns the body of an `ExportTraceServiceRequest` in OTLP's JSON: ids in hex, 64-bit numbers as text. */
export const exportRequest = (spans: readonly FinishedSpan[], resource: Resource): string =>
  JSON.stringify({
    resourceSpans: [
      {
        resource: {
          attributes: [
            attribute('service.name', SERVICE_NAME),
            attribute('service.version', resource.version),
            attribute('service.instance.id', resource.instanceId),
          ],
        },
        scopeSpans: [{ scope: { name: SERVICE_NAME, version: resource.version }, spans: spans.map(spanOf) }],
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

/** Converts milliseconds since 1970 to nanoseconds, exact to the microsecond. A double is not more precise. */
const nanoseconds = (ms: number): string => `${Math.round(ms * MICROSECONDS_PER_MS)}000`;
