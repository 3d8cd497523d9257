import { describe, expect, it } from 'vitest';
import type { SamplerOptions } from './sampler.ts';
import type { FinishedSpan } from './span.ts';
import { Tracer } from './tracer.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CLIENT = '00f067aa0ba902b7';
const SAMPLED = `00-${TRACE}-${CLIENT}-01`;
const NOT_SAMPLED = `00-${TRACE}-${CLIENT}-00`;

function tracing(options: Partial<SamplerOptions & { maxSpans: number }> = {}) {
  const finished: FinishedSpan[] = [];
  let dropped = 0;
  const tracer = new Tracer(
    { sampler: 'traceidratio', ratio: 1, ...options },
    { finished: (span) => finished.push(span), dropped: () => dropped++ },
  );
  const begin = (traceparent?: string) => tracer.begin({ name: 'request', kind: 'server', traceparent });
  return { begin, finished, dropped: () => dropped };
}

describe('a span', () => {
  it('continues the trace of its request and propagates it', () => {
    const { begin, finished } = tracing();
    const request = begin(SAMPLED);
    const call = request?.child('eth_call', 'client');
    call?.set('rpc.method', 'eth_call');
    call?.end('timeout');
    request?.end();
    const [inner, outer] = finished;
    expect(inner).toMatchObject({ traceId: TRACE, name: 'eth_call', kind: 'client', failure: 'timeout' });
    expect(inner?.parentId).toBe(outer?.spanId);
    expect(inner?.attributes.get('error.type')).toBe('timeout');
    expect(outer).toMatchObject({ traceId: TRACE, parentId: CLIENT, failure: undefined });
    expect(call?.traceparent).toBe(`00-${TRACE}-${inner?.spanId}-01`);
    expect((inner?.endMs ?? 0) >= (inner?.startMs ?? 1)).toBe(true);
  });

  it('starts a trace if the header is missing or invalid', () => {
    const { begin, finished } = tracing();
    for (const header of [undefined, 'nonsense', `00-${'0'.repeat(32)}-${CLIENT}-01`]) begin(header)?.end();
    expect(new Set(finished.map(({ traceId }) => traceId)).size).toBe(3);
    expect(finished.every(({ parentId }) => parentId === undefined)).toBe(true);
  });

  it('is reported only once', () => {
    const { begin, finished } = tracing();
    const span = begin();
    span?.end();
    span?.end('late');
    expect(finished.map(({ failure }) => failure)).toEqual([undefined]);
  });

  it('has a limited number of child spans; further ones are counted and propagate the trace', () => {
    const { begin, finished, dropped } = tracing({ maxSpans: 3 });
    const request = begin(SAMPLED);
    const calls = Array.from({ length: 10 }, () => request?.child('call', 'internal'));
    for (const call of calls) call?.end();
    request?.end();
    expect(finished).toHaveLength(3);
    expect(dropped()).toBe(8);
    expect(calls.at(-1)?.traceparent).toBe(request?.traceparent);
    expect(calls.at(-1)?.child('node', 'client').traceparent).toBe(request?.traceparent);
  });
});

describe('the sampler', () => {
  it('records nothing at ratio 0 and propagates that decision', () => {
    const { begin, finished } = tracing({ ratio: 0 });
    expect(begin()).toBeUndefined();
    const span = begin(SAMPLED);
    expect(span?.child('call', 'client').traceparent).toBe(NOT_SAMPLED);
    span?.end();
    expect(finished).toEqual([]);
  });

  it('decides by the trace id, so that all services decide identically', () => {
    const low = `00-${'1'.repeat(18)}${'0'.repeat(13)}1-${CLIENT}-01`;
    const high = `00-${'1'.repeat(18)}${'f'.repeat(14)}-${CLIENT}-00`;
    const { begin, finished } = tracing({ ratio: 0.5 });
    begin(low)?.end();
    begin(high)?.end();
    expect(finished.map(({ traceId }) => traceId)).toEqual([high.slice(3, 35)]);
  });

  it('records about its share of new traces', () => {
    const { begin, finished } = tracing({ ratio: 0.25 });
    for (let i = 0; i < 4_000; i++) begin()?.end();
    expect(finished.length).toBeGreaterThan(800);
    expect(finished.length).toBeLessThan(1_200);
  });

  it('follows the flag of the client with parentbased_traceidratio', () => {
    const ours = tracing({ sampler: 'parentbased_traceidratio', ratio: 0 });
    ours.begin(SAMPLED)?.end();
    ours.begin(NOT_SAMPLED)?.end();
    ours.begin()?.end();
    expect(ours.finished).toHaveLength(1);
  });

  it('records every trace with always_on, whatever the ratio', () => {
    const { begin, finished } = tracing({ sampler: 'always_on', ratio: 0 });
    for (const header of [undefined, SAMPLED, NOT_SAMPLED]) begin(header)?.end();
    expect(finished).toHaveLength(3);
  });
});
