import { describe, expect, it } from 'vitest';
import { TRACE_KINDS, type TraceKind, valueBits } from '../chunk/attributes.ts';
import { FilterMatcher } from './filterMatcher.ts';
import type { HistoryFilter } from './query.ts';

interface Trace {
  readonly kind?: TraceKind;
  readonly value?: bigint;
  readonly isInternal?: boolean;
  readonly hasFailed?: boolean;
}

/** Attributes as `attributes.ts` describes them. A failed frame transfers no value. */
const attributesOf = ({ kind = 'call', value = 0n, isInternal = false, hasFailed = false }: Trace): number =>
  (hasFailed ? 1 << 12 : valueBits(value)) |
  (TRACE_KINDS.indexOf(kind) << 8) |
  (isInternal ? 1 << 11 : 0) |
  (kind === 'reward' ? 1 << 13 : 0);

describe('a filter of an address history', () => {
  it.each<[string, HistoryFilter, [Trace, boolean | undefined]]>([
    ['no member: any trace', {}, [{}, true]],
    ['kinds: one of them', { kinds: ['create', 'call'] }, [{}, true]],
    ['kinds: another kind', { kinds: ['create'] }, [{ value: 5n }, false]],
    ['failed: a failed trace', { failed: true }, [{ hasFailed: true }, true]],
    ['failed: another trace', { failed: true }, [{ value: 5n }, false]],
    ['not failed: a failed trace', { failed: false }, [{ hasFailed: true }, false]],
    ['internal: an internal trace', { internal: true }, [{ isInternal: true }, true]],
    ['internal: a root', { internal: true }, [{ value: 5n }, false]],
    ['internal: a reward', { internal: true }, [{ kind: 'reward' }, false]],
    ['root: a root', { internal: false }, [{}, true]],
    ['root: an internal trace', { internal: false }, [{ isInternal: true, value: 5n }, false]],
    ['root: a reward', { internal: false }, [{ kind: 'reward', value: 5n }, false]],
    ['minimum value: more bits', { minValue: 5n }, [{ value: 8n }, true]],
    ['minimum value: as many bits', { minValue: 5n }, [{ value: 4n }, undefined]],
    ['minimum value: fewer bits', { minValue: 5n }, [{ value: 3n }, false]],
    ['calls with a value: a call with a value', { callsCarryValue: true }, [{ value: 1n }, true]],
    ['calls with a value: a call without', { callsCarryValue: true }, [{}, false]],
    ['calls with a value: a failed call', { callsCarryValue: true }, [{ hasFailed: true }, undefined]],
    ['calls with a value: a creation', { callsCarryValue: true }, [{ kind: 'create' }, true]],
  ])('decides by attributes: %s', (_, filter, [trace, expected]) => {
    expect(new FilterMatcher(filter).byAttributes(attributesOf(trace))).toBe(expected);
  });

  it('decides by value, which must be at least the minimum, and above 0', () => {
    const matching = (minValue: bigint | undefined, values: readonly bigint[]) =>
      values.filter((value) => new FilterMatcher(minValue === undefined ? {} : { minValue }).byValue(value));
    expect(matching(5n, [4n, 5n, 6n])).toEqual([5n, 6n]);
    expect(matching(undefined, [0n, 1n])).toEqual([1n]);
  });

  it.each<[HistoryFilter, boolean]>([
    [{}, true],
    [{ kinds: TRACE_KINDS, minValue: 0n }, true],
    [{ kinds: ['call'] }, false],
    [{ minValue: 1n }, false],
    [{ internal: false }, false],
    [{ failed: false }, false],
    [{ callsCarryValue: true }, false],
  ])('%o is open: %s', (filter, isOpen) => {
    expect(new FilterMatcher(filter).isOpen).toBe(isOpen);
  });
});
