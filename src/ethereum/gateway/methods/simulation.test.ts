import { describe, expect, it } from 'vitest';
import { isSimulation, MAX_SIMULATED_BLOCKS, MAX_SIMULATED_CALLS, simulation } from './simulation.ts';

const CALL = { to: `0x${'1'.repeat(40)}` };
const block = (calls: number) => ({ calls: Array.from({ length: calls }, () => CALL) });
const read = (...blocks: object[]) => simulation.read({ blockStateCalls: blocks }, 'params[0]');

describe('the parameter of eth_simulateV1', () => {
  it('is returned with its calls', () => {
    expect(read(block(2), {})).toMatchObject({ blockStateCalls: [block(2), {}] });
  });

  it('has a maximum number of blocks and of calls in all blocks', () => {
    const blocks = Array.from({ length: MAX_SIMULATED_BLOCKS }, () => ({}));
    expect(() => read(...blocks)).not.toThrow();
    expect(() => read(...blocks, {})).toThrow('blocks of a simulation');
    expect(() => read(block(MAX_SIMULATED_CALLS - 1), block(1))).not.toThrow();
    expect(() => read(block(MAX_SIMULATED_CALLS - 1), block(2))).toThrow('calls of a simulation');
  });
});

describe('the result of eth_simulateV1', () => {
  const check = (...result: object[]) => isSimulation([read(block(2), {}, block(1))], result as never, '0x1');

  it('has one result per call, in any number of blocks', () => {
    expect(() => check(block(2), block(0), block(0), block(1))).not.toThrow();
    expect(() => check(block(2))).toThrow('expected the results of 3 calls, got 2');
    expect(() => check(block(2), block(2))).toThrow('expected the results of 3 calls, got 4');
    expect(() => check(block(3), {})).toThrow('no list of calls');
  });
});
