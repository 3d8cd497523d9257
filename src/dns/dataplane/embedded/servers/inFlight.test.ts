import { describe, expect, it } from 'vitest';
import { questionOf } from '../../../protocol/index.ts';
import { InFlight, RING_SIZE } from './inFlight.ts';

const KEY = { high: 1, low: 2 };
const ask = (name: string, type = 1) => questionOf(name, type, KEY);

describe('queries in flight', () => {
  it('are pending until they are settled, each under its own ticket', () => {
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

  it('are matched by name in any case, type and class', () => {
    const inFlight = new InFlight();
    const ticket = inFlight.add(ask('www.example.test'), { address: '192.0.2.1', port: 1 }, 0, 0);
    expect(inFlight.matches(ticket, ask('WWW.example.TEST'))).toBe(true);
    expect(inFlight.matches(ticket, ask('www.example.test', 28))).toBe(false);
    expect(inFlight.matches(ticket, ask('ww.example.test'))).toBe(false);
  });

  it('expire in the order sent', () => {
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

  it('evict the oldest one when the ring is full', () => {
    const inFlight = new InFlight();
    const first = inFlight.add(ask('a.test'), { address: '', port: 0 }, 0, 0);
    for (let i = 0; i < RING_SIZE * 2; i++) inFlight.add(ask('a.test'), { address: '', port: 0 }, 0, 0);
    expect(inFlight.isWaiting(first)).toBe(false);
    expect(inFlight.waiting).toBe(RING_SIZE);
    expect(inFlight.expire(1)).toBe(RING_SIZE);
    expect(inFlight.waiting).toBe(0);
  });

  it('are reported as unanswered once, when expired or evicted, but not while pending at another server', () => {
    const unanswered: number[] = [];
    const ring = () => new InFlight((zone) => unanswered.push(zone));
    const [first, second] = [ring(), ring()];
    const client = { address: '192.0.2.1', port: 1 };
    const ticket = first.add(ask('a.test'), client, 0, 0, 7);
    const again = second.addAgain(first, ticket, 500);
    first.pair(ticket, { inFlight: second, ticket: again });
    second.pair(again, { inFlight: first, ticket });
    expect(first.expire(1000)).toBe(1);
    expect(unanswered).toEqual([]);
    expect(second.expire(1000)).toBe(1);
    expect(unanswered).toEqual([7]);
    const answered = first.add(ask('a.test'), client, 0, 2000, 8);
    first.settle(answered);
    first.expire(5000);
    expect(unanswered).toEqual([7]);
    first.add(ask('a.test'), client, 0, 5000, 9);
    for (let i = 0; i < RING_SIZE; i++) first.add(ask('a.test'), client, 0, 5000);
    expect(unanswered.filter((zone) => zone !== 0)).toEqual([7, 9]);
  });

  it('have their response time counted once, also when they are sent to two servers', () => {
    const [first, second] = [new InFlight(), new InFlight()];
    const client = { address: '192.0.2.1', port: 1 };
    const ticket = first.add(ask('a.test'), client, 0, 1000, 7);
    expect([first.takeTimed(ticket), first.takeTimed(ticket), first.sentMs(ticket)]).toEqual([7, 0, 1000]);
    expect(second.takeTimed(second.addAgain(first, ticket, 1500))).toBe(0);
    const other = first.add(ask('b.test'), client, 0, 1000, 8);
    const copy = second.addAgain(first, other, 1001);
    expect([second.takeTimed(copy), second.takeTimed(copy)]).toEqual([8, 0]);
  });

  it('have no response time if their class is not IN, because servers reject them', () => {
    const inFlight = new InFlight();
    const chaos = Object.assign(ask('a.test'), { class: 3 });
    const ticket = inFlight.add(chaos, { address: '192.0.2.1', port: 1 }, 0, 0, 7);
    expect([inFlight.userZone(ticket), inFlight.takeTimed(ticket)]).toEqual([7, 0]);
  });

  it('show nothing about the health of a server if servers may reject or ignore them', () => {
    const [first, second] = [new InFlight(), new InFlight()];
    const client = { address: '192.0.2.1', port: 1 };
    const chaos = Object.assign(ask('a.test'), { class: 3 });
    const unusual = Object.assign(ask('b.test'), { isUnusual: true });
    for (const question of [chaos, unusual]) {
      const ticket = first.add(question, client, 0, 0, 7);
      const copy = second.addAgain(first, ticket, 1);
      expect([first.showsHealth(ticket), second.showsHealth(copy)]).toEqual([false, false]);
      expect([first.takeTimed(ticket), second.takeTimed(copy)]).toEqual([0, 0]);
    }
    const ticket = first.add(ask('c.test'), client, 0, 0, 7);
    expect([first.takeTimed(ticket), first.showsHealth(ticket)]).toEqual([7, true]);
  });

  it('that are sent to two servers know each other until they are settled, and keep no query', () => {
    const [first, second] = [new InFlight(), new InFlight()];
    const ticket = first.add(ask('a.test'), { address: '192.0.2.1', port: 1 }, 0, 0);
    first.keep(ticket, Buffer.from('query'));
    expect([first.counterpart(ticket), first.kept(ticket)]).toEqual([undefined, Buffer.from('query')]);
    const copy = second.addAgain(first, ticket, 10);
    first.pair(ticket, { inFlight: second, ticket: copy });
    expect(first.counterpart(ticket)).toEqual({ inFlight: second, ticket: copy });
    expect([first.counterpart(ticket + 1), second.counterpart(copy)]).toEqual([undefined, undefined]);
    expect(first.kept(ticket)).toBeUndefined();
    first.settle(ticket);
    expect(first.counterpart(ticket)).toBeUndefined();
  });

  it('are copied completely for a second server', () => {
    const [first, second] = [new InFlight(), new InFlight()];
    const asked = Object.assign(ask('a.test', 28), { id: 77, edns: 3 });
    const ticket = first.add(asked, { address: '192.0.2.1', port: 1234 }, 2, 100, 9);
    const copy = second.addAgain(first, ticket, 150);
    const read = [
      second.clientAddress(copy),
      second.clientPort(copy),
      second.clientId(copy),
      second.frontend(copy),
    ];
    expect(read).toEqual(['192.0.2.1', 1234, 77, 2]);
    expect([second.edns(copy), second.userZone(copy), second.sentMs(copy)]).toEqual([3, 9, 150]);
    expect([second.matches(copy, asked), second.hasQuestion(copy)]).toEqual([true, true]);
  });

  it('are reported as late once, and only while they are pending', () => {
    const inFlight = new InFlight();
    const [one = 0, two = 0, three = 0] = [1, 2, 3].map(() =>
      inFlight.add(ask('a.test'), { address: '', port: 1 }, 0, 0),
    );
    inFlight.settle(two);
    const late: number[] = [];
    inFlight.markLate(three, (ticket) => late.push(ticket));
    inFlight.markLate(three, (ticket) => late.push(ticket));
    expect([late, inFlight.isLate(one), inFlight.isLate(three)]).toEqual([[one], true, false]);
  });

  it('are visited once if they are older than a ticket', () => {
    const inFlight = new InFlight();
    const [one = 0, two = 0, three = 0] = [1, 2, 3].map(() =>
      inFlight.add(ask('a.test'), { address: '', port: 1 }, 0, 0),
    );
    const visited: number[] = [];
    inFlight.visitOlder(two, (ticket) => visited.push(ticket));
    inFlight.visitOlder(three, (ticket) => visited.push(ticket));
    expect(visited).toEqual([one, two]);
  });
});
