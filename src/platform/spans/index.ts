/** Spans of requests: parent (W3C Trace Context), sampling, and export to a collector (OTLP over HTTP). */
export { beginHttpSpan } from './httpSpan.ts';
export type { Span } from './span.ts';
export { SpanExporter } from './spanExporter.ts';
export { SpanMetrics } from './spanMetrics.ts';
export { Tracer } from './tracer.ts';
