import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RpcError } from '../../jsonrpc/index.ts';
import { paramsReader } from './readParams.ts';
import { debugRows } from './rows/debugRows.ts';
import { TRACERS, tracerOptions } from './tracerOptions.ts';

const options = tracerOptions(TRACERS, false);
const read = (value: unknown): unknown => options.read(value, 'params[1] (options)');
const CALL_TRACER = { tracer: 'callTracer', tracerConfig: {} };

describe('the options of a trace', () => {
  it.each<[string, object, object]>([
    ['a tracer alone', { tracer: 'callTracer' }, CALL_TRACER],
    [
      'defaults of Subsquid',
      { tracer: 'callTracer', tracerConfig: { onlyTopCall: false, withLog: false, timeout: '20s' } },
      { ...CALL_TRACER, timeoutMs: 20_000 },
    ],
    [
      'state diffs of Subsquid',
      { tracer: 'prestateTracer', tracerConfig: { onlyTopCall: true, diffMode: true } },
      { tracer: 'prestateTracer', tracerConfig: { diffMode: true } },
    ],
    [
      'members that are null',
      { tracer: '4byteTracer', timeout: null, tracerConfig: null, reexec: null },
      { tracer: '4byteTracer', tracerConfig: {} },
    ],
    [
      'options of the step logger',
      { tracer: 'callTracer', reexec: 1e9, disableStack: true, enableMemory: true, limit: 0, debug: true },
      CALL_TRACER,
    ],
    [
      'the lower of two timeouts',
      { tracer: 'callTracer', timeout: '1m0.5s', tracerConfig: { timeout: '2h' } },
      { ...CALL_TRACER, timeoutMs: 60_500 },
    ],
    [
      'a timeout below a millisecond',
      { tracer: 'callTracer', timeout: '1ns' },
      { ...CALL_TRACER, timeoutMs: 1 },
    ],
    [
      'members in any order',
      { tracer: 'prestateTracer', tracerConfig: { includeEmpty: true, diffMode: true, disableCode: true } },
      { tracer: 'prestateTracer', tracerConfig: { diffMode: true, disableCode: true, includeEmpty: true } },
    ],
  ])('may be %s', (_what, given, expected) => {
    expect(JSON.stringify(read(given))).toBe(JSON.stringify(expected));
  });

  it.each<[unknown, string]>([
    [{}, 'params[1] (options).tracer must be one of callTracer, flatCallTracer, prestateTracer, 4byteTracer'],
    [{ tracer: null }, '(gateway.debugTracers); it is missing'],
    [{ tracer: 'callTracerLegacy' }, 'it is "callTracerLegacy"'],
    [{ tracer: '{result: function() {}}' }, 'it is "{result: function() {}}"'],
    [{ tracer: 'CallTracer' }, 'params[1] (options).tracer must be one of'],
    [{ tracer: ['callTracer'] }, 'it is a list of 1'],
    ['callTracer', 'must be an object with tracer'],
    [{ tracer: 'callTracer', timeout: '0s' }, 'params[1] (options).timeout must be a duration of Go above 0'],
    [{ tracer: 'callTracer', timeout: 5 }, 'timeout must be a duration'],
    [{ tracer: 'callTracer', timeout: '5' }, 'it is "5"'],
    [{ tracer: 'callTracer', timeout: '-5s' }, 'it is "-5s"'],
    [{ tracer: 'callTracer', timeout: `1s${' '.repeat(9)}` }, 'timeout must be'],
    [
      { tracer: 'callTracer', tracerConfig: { timeout: 'soon' } },
      'params[1] (options).tracerConfig.timeout must be',
    ],
    [
      { tracer: 'callTracer', tracerConfig: { diffMode: true } },
      '.tracerConfig has unknown members: "diffMode"',
    ],
    [{ tracer: 'flatCallTracer', tracerConfig: { onlyTopCall: true } }, 'known are convertParityErrors'],
    [{ tracer: 'callTracer', tracerConfig: { withLog: 1 } }, 'withLog must be true or false; it is 1'],
    [{ tracer: 'callTracer', tracerConfig: [] }, 'tracerConfig must be an object; it is a list of 0'],
    [{ tracer: 'callTracer', reexec: { deep: [] } }, 'reexec must be null, true, false or a number'],
    [{ tracer: 'callTracer', stateOverrides: {} }, 'unknown members: "stateOverrides"'],
    [{ tracer: 'callTracer', Timeout: '1h' }, 'unknown members: "Timeout"'],
  ])('cannot be %j', (given, message) => {
    expect(() => read(given)).toThrow(message);
  });

  it('have overrides only in debug_traceCall', () => {
    const overrides = { stateOverrides: { '0x1': { balance: '0x1' } }, blockOverrides: { time: 5 } };
    expect(tracerOptions(TRACERS, true).read({ tracer: 'callTracer', ...overrides }, 'it')).toEqual({
      ...CALL_TRACER,
      ...overrides,
    });
  });

  it('name only the tracers that the operator allows', () => {
    const only = tracerOptions(['callTracer'], false);
    expect(() => only.read({ tracer: 'prestateTracer' }, 'it')).toThrow(
      'it.tracer must be one of callTracer (',
    );
  });

  it('are an allowed tracer with flags and a timeout, whatever the client sends', () => {
    const name = fc.constantFrom(
      'tracer',
      'timeout',
      'tracerConfig',
      'reexec',
      'limit',
      'onlyTopCall',
      'withLog',
      'diffMode',
      '__proto__',
      'includePrecompiles',
      'stateOverrides',
      'constructor',
      'enableMemory',
    );
    const value = fc.oneof(
      fc.constantFrom(...TRACERS, 'noopTracer', '5s', '99999999h', null, true, false, 0),
      fc.jsonValue({ maxDepth: 2 }),
    );
    const members = fc.dictionary(name, fc.oneof(value, fc.dictionary(name, value)));
    const sent = fc.tuple(members, fc.constantFrom(...TRACERS)).map(([all, tracer]) => ({ tracer, ...all }));
    let accepted = 0;
    fc.assert(
      fc.property(sent, (given) => {
        let canonical: ReturnType<typeof read>;
        try {
          canonical = read(given);
        } catch (error) {
          expect(error).toBeInstanceOf(RpcError);
          expect((error as RpcError).code).toBe(-32_602);
          return;
        }
        accepted++;
        const { tracer, tracerConfig, timeoutMs, ...rest } = canonical as {
          tracer: string;
          tracerConfig: object;
          timeoutMs?: number;
        };
        expect(TRACERS).toContain(tracer);
        expect(Object.values(tracerConfig).every((value) => value === true)).toBe(true);
        expect(timeoutMs ?? 1).toBeGreaterThanOrEqual(1);
        expect(rest).toEqual({});
      }),
      { numRuns: 500 },
    );
    expect(accepted).toBeGreaterThan(20);
  });
});

describe('the parameters of debug_trace methods', () => {
  const readerOf = (name: string) =>
    paramsReader(debugRows(TRACERS).find((row) => row.name === name)?.params ?? []);

  it.each<[string, unknown[], string]>([
    ['debug_traceTransaction', [`0x${'1'.repeat(64)}`], 'params[1] (options) must be an object with tracer'],
    [
      'debug_traceTransaction',
      ['0x1', { tracer: 'callTracer' }],
      'params[0] (transactionHash) must be a hash',
    ],
    ['debug_traceBlockByNumber', ['pending', { tracer: 'callTracer' }], 'earliest; it is "pending"'],
    ['debug_traceCall', [{}, 'pending', { tracer: 'callTracer' }], '(EIP-1898); it is "pending"'],
    [
      'debug_traceCall',
      [{}, { blockNumber: 'pending' }, { tracer: 'callTracer' }],
      'params[1] (block).blockNumber must be a block number from 0 to 2^53 - 1 (a 0x string or a JSON integer) or ' +
        'one of latest, safe, finalized, earliest; it is "pending"',
    ],
    ['debug_traceCall', [{}, 'latest'], 'params[2] (options) must be an object with tracer'],
    ['debug_traceCall', [{}, null, { tracer: 'callTracer' }], 'params[1] (block) must be a block number'],
  ])('of %s cannot be %j', (name, given, message) => {
    expect(() => readerOf(name)(given)).toThrow(message);
  });
});
