import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTraceparent, traceparentOf } from './traceContext.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

describe('traceparent', () => {
  it('is parsed and formatted consistently', () => {
    const header = `00-${TRACE}-${SPAN}-01`;
    const context = { traceId: TRACE, spanId: SPAN, isSampled: true };
    expect(parseTraceparent(header)).toEqual(context);
    expect(traceparentOf(context)).toBe(header);
    expect(parseTraceparent(`00-${TRACE}-${SPAN}-00`)?.isSampled).toBe(false);
    // Unknown flags do not affect the known one.
    expect(parseTraceparent(`00-${TRACE}-${SPAN}-fe`)?.isSampled).toBe(false);
    expect(parseTraceparent(`00-${TRACE}-${SPAN}-03`)?.isSampled).toBe(true);
  });

  it('may have a newer version with additional fields', () => {
    expect(parseTraceparent(`cc-${TRACE}-${SPAN}-01-what-comes`)?.traceId).toBe(TRACE);
    expect(parseTraceparent(`cc-${TRACE}-${SPAN}-01`)?.traceId).toBe(TRACE);
  });

  it.each([
    ['nothing', ''],
    ['no version', `${TRACE}-${SPAN}-01`],
    ['the version that is invalid', `ff-${TRACE}-${SPAN}-01`],
    ['more than version 00 has', `00-${TRACE}-${SPAN}-01-more`],
    ['additional text without a dash', `cc-${TRACE}-${SPAN}-01.more`],
    ['upper case', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ['no trace', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['no span', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['a short id', `00-${TRACE.slice(1)}-${SPAN}-01`],
    ['a space', ` 00-${TRACE}-${SPAN}-01`],
    ['two values', `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
    ['a very long value', `cc-${TRACE}-${SPAN}-01-${'a'.repeat(100_000)}`],
  ])('is rejected with %s', (_what, header) => {
    expect(parseTraceparent(header)).toBeUndefined();
  });

  it('is rejected if it is a list', () => {
    expect(parseTraceparent([`00-${TRACE}-${SPAN}-01`])).toBeUndefined();
    expect(parseTraceparent(undefined)).toBeUndefined();
  });

  it('is rejected if it is any other text', () => {
    fc.assert(
      fc.property(fc.string(), (header) => {
        expect(parseTraceparent(header)).toBeUndefined();
      }),
    );
  });
});
