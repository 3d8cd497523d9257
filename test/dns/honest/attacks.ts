/** Floods of random names, at the rates of the adversary suite. */
import { during, type Flow, flow, HOUR, MINUTE } from './flows.ts';
import { labelOf, newNames } from './names.ts';

export interface Attack {
  readonly zone: string;
  readonly from: number;
  readonly to: number;
  readonly flow: Flow;
}

/** Zone of the other customer in every world. */
export const OTHER_ZONE = 'shop.test';
const RATES = [300, 999, 3000, 20_000];
const EVERY = 3 * HOUR;
const LENGTH = 3 * MINUTE;

interface Flood {
  readonly perSecond: number;
  readonly from: number;
  readonly to: number;
}

/** Returns a flood of names that were not asked for before, from forged addresses. */
export const floodOf = (zone: string, kind: number, { perSecond, from, to }: Flood): Attack => ({
  zone,
  from,
  to,
  flow: flow(zone, during(from, to, perSecond), {
    names: newNames((number) => `${labelOf(number)}-${perSecond}.${zone}`),
    kind,
    clients: undefined,
    isAttack: true,
  }),
});

/** Delay after which floods begin in the middle between those without a delay. */
export const BETWEEN_OTHERS = EVERY / 2;

/** Returns floods that follow each other with hours between them. */
export const attacksOn = (zone: string, kind: number, delay = 0): Attack[] =>
  RATES.map((perSecond, index) => {
    const from = (index + 1) * EVERY + delay;
    return floodOf(zone, kind, { perSecond, from, to: from + LENGTH });
  });
