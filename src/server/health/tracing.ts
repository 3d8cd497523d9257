import { randomUUID } from 'node:crypto';
import { validateHeaderValue } from 'node:http';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { type Config, ConfigError } from '../../config/index.ts';
import { SpanExporter, SpanMetrics, Tracer } from '../../platform/spans/index.ts';
import type { Tuning } from '../tuning.ts';
import { VERSION } from '../version.ts';

export interface Tracing {
  readonly tracer: Tracer;
  /** Stops the export of spans. The remaining spans are sent within a time limit. */
  stop(): Promise<void>;
}

interface TracingDependencies {
  readonly logger: Logger;
  readonly registry: Registry;
  readonly tuning?: Tuning;
}

/** Opens the exporter of spans; undefined if no collector is configured. Throws ConfigError for invalid options. */
export function openTracing(
  { spans }: Config,
  { logger, registry, tuning }: TracingDependencies,
): Tracing | undefined {
  const { endpoint, sampler, samplerArg: ratio } = spans;
  if (endpoint === undefined) return undefined;
  if (!URL.canParse(endpoint))
    throw new ConfigError('spans.endpoint is not a URL; allowed: one like http://127.0.0.1:4318/v1/traces');
  const metrics = new SpanMetrics(registry);
  const resource = { version: VERSION, instanceId: randomUUID() };
  const intervalMs = tuning?.spanIntervalMs;
  const exporter = new SpanExporter(
    { url: new URL(endpoint), headers: headersOf(spans.headers), resource, intervalMs },
    { metrics, log: logger },
  );
  const tracer = new Tracer(
    { sampler, ratio },
    { finished: (span) => exporter.add(span), dropped: () => metrics.dropped('too_many') },
  );
  return { tracer, stop: () => exporter.stop() };
}

/** Parses `name=value` entries with percent-encoded values, the format of `OTEL_EXPORTER_OTLP_HEADERS`. */
function headersOf(entries: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    entries.map((entry, i) => {
      const equals = entry.indexOf('=');
      const name = entry.slice(0, equals).toLowerCase();
      try {
        const value = decodeURIComponent(entry.slice(equals + 1));
        validateHeaderValue(name, value);
        return [name, value];
      } catch {
        throw new ConfigError(
          `spans.headers: the value of header ${i + 1} (not shown) cannot be sent; allowed: visible characters, others percent-encoded`,
        );
      }
    }),
  );
}
