import { describe, expect, it } from 'vitest';
import { questionOf } from '../../protocol/index.ts';
import { InFlight, RING_SIZE } from './inFlight.ts';

const KEY = { high: 1, low: 2 };
const ask = (name: string, type = 1) => questionOf(name, type, KEY);

describe('the questions in flight', () => {
  it('wait until they are settled, each under its own ticket', () => {
    const inFlight = new InFlight();
    expect(inFlight.isWaiting(0)).toBe(false);
    const one = inFlight.add(ask('one.test'), { address: '192.0.2.1', port: 1001 }, 0, 0);
    const two = inFlight.add(ask('two.test'), { address: '192.0.2.2', port: 1002 }, 1, 0);
    inFlight.settle(one);
    expect([inFlight.isWaiting(one), inFlight.isWaiting(two), inFlight.waiting]).toEqual([false, true, 1]);
    expect([inFlight.clientAddress(two), inFlight.clientPort(two), inFlight.frontend(two)]).toEqual([
      '192.0.2.2',
      1002,
      1,
    ]);
  });

  it('are answered by the same name in any case, with the same type and class, and by nothing else', () => {
    const inFlight = new InFlight();
    const ticket = inFlight.add(ask('www.example.test'), { address: '192.0.2.1', port: 1 }, 0, 0);
    expect(inFlight.matches(ticket, ask('WWW.example.TEST'))).toBe(true);
    expect(inFlight.matches(ticket, ask('www.example.test', 28))).toBe(false);
    expect(inFlight.matches(ticket, ask('ww.example.test'))).toBe(false);
  });

  it('are given up in the order they were sent', () => {
    const inFlight = new InFlight();
    const tickets = Array.from({ length: 10 }, (_, i) =>
      inFlight.add(ask('a.test'), { address: '', port: 0 }, 0, i * 100),
    );
    inFlight.settle(tickets[2] ?? 0);
    expect(inFlight.expire(500)).toBe(4);
    expect(tickets.map((ticket) => inFlight.isWaiting(ticket))).toEqual([
      ...Array(5).fill(false),
      ...Array(5).fill(true),
    ]);
    expect(inFlight.expire(500)).toBe(0);
    expect(inFlight.expire(10_000)).toBe(5);
    expect(inFlight.waiting).toBe(0);
  });

  it('are never more than the ring holds: the oldest gives way', () => {
    const inFlight = new InFlight();
    const first = inFlight.add(ask('a.test'), { address: '', port: 0 }, 0, 0);
    for (let i = 0; i < RING_SIZE * 2; i++) inFlight.add(ask('a.test'), { address: '', port: 0 }, 0, 0);
    expect(inFlight.isWaiting(first)).toBe(false);
    expect(inFlight.waiting).toBe(RING_SIZE);
    expect(inFlight.expire(1)).toBe(RING_SIZE);
    expect(inFlight.waiting).toBe(0);
  });
});
