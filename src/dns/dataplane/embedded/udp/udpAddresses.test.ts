import { expect, it } from 'vitest';
import { until } from '../../../../../test/support/until.ts';
import { QUIET } from '../../../../platform/logging/index.ts';
import { FrontendNumbers, UdpAddresses } from './udpAddresses.ts';
import type { UdpRelay } from './udpRelay.ts';

const LOOPBACK = '127.0.0.1';
const MINUTE_MS = 60_000;

/** Starts to listen on all addresses of this host. The loopback address cannot be bound while `isAway`. */
async function setUp() {
  const state = { isAway: true, tries: 0, nowMs: MINUTE_MS, lines: [] as string[] };
  const udp = {
    async listen(_frontend: number, { host }: { host: string }) {
      if (host !== LOOPBACK) return;
      state.tries++;
      if (state.isAway) throw Object.assign(new Error('not available'), { code: 'EADDRNOTAVAIL' });
    },
    unlisten: async () => undefined,
  } as Partial<UdpRelay> as UdpRelay; // the addresses use only these two
  const note = ({ address }: { address?: string }, message: string) =>
    address === LOOPBACK && state.lines.push(message.split(' ')[0] ?? '');
  const log = { ...QUIET, info: note, warn: note };
  const addresses = new UdpAddresses({ host: '0.0.0.0', port: 53 }, new FrontendNumbers(), { udp, log });
  await addresses.start();
  const refresh = () => {
    state.nowMs += MINUTE_MS;
    addresses.refresh(state.nowMs);
  };
  const triedAgain = async () => {
    const before = state.tries;
    await until('the address to be tried', () => {
      refresh();
      return state.tries > before;
    });
  };
  return { addresses, state, refresh, triedAgain };
}

it('an address that cannot be bound is tried again until it can be, and logged once', async () => {
  const { state, triedAgain } = await setUp();
  await triedAgain();
  await triedAgain();
  state.isAway = false;
  await triedAgain();
  await until('it to be served', () => state.lines.includes('serving'));
  expect(state.lines).toEqual(['cannot', 'serving']);
});

it('an address that cannot be bound is not tried again after the end', async () => {
  const { addresses, state, refresh } = await setUp();
  await addresses.settled();
  refresh();
  await addresses.settled();
  expect(state.tries).toBe(1);
});
