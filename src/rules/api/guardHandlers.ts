import { type Fault, InvalidRule, parseMoment, parseTimestamp, pointerTo, shown } from '../index.ts';
import { successEnvelope } from './envelope.ts';
import { readInteger } from './paging.ts';
import type { ApiAnswer, ApiRequest } from './request.ts';
import { notFound } from './ruleHandlers.ts';

type Handler = (request: ApiRequest) => Promise<ApiAnswer>;

/** Attacks on a page: one has up to a few KB. */
export const MAX_ATTACKS_PER_PAGE = 100;
export const DEFAULT_ATTACKS_PER_PAGE = 25;
const MICROS_PER_MILLI = 1000;

/** Which attacks are asked for, by when they began; the newest first. */
export interface AttackPageRequest {
  readonly page: number;
  readonly perPage: number;
  readonly sinceMs: number | undefined;
  readonly untilMs: number | undefined;
  /** Only those at a place. */
  readonly region: string | undefined;
  readonly datacenter: string | undefined;
}

/** What guards tell: the one beside this API, and the others of an account where they share a store. */
export interface GuardReports {
  /** Whose DNS the guard beside this API guards; undefined where there is none. */
  readonly accountId: string | undefined;
  /** How that one stands; undefined where there is none. */
  status(): object | undefined;
  /** Its queries a second, second by second. */
  rates(): object | undefined;
  /** What other sensitivities would have done with its last minute. */
  whatIf(): Promise<object> | undefined;
  attacks(
    accountId: string,
    request: AttackPageRequest,
  ): Promise<{ readonly result: readonly object[]; readonly total: number }>;
  attack(accountId: string, id: string): Promise<object | undefined>;
  /** Attacks here that ended since then, of those that began last. */
  endedSince(ms: number): readonly object[];
  /** The guards of an account, in the form of the schema `FleetInstance`. */
  fleet(accountId: string): Promise<readonly object[]>;
}

export interface GuardHandlers {
  readonly status: Handler;
  readonly rates: Handler;
  readonly whatIf: Handler;
  readonly attacks: Handler;
  readonly attack: Handler;
  readonly fleet: Handler;
}

/** The status is of the guard beside this API: other accounts have none here. */
export function guardHandlers(guard: GuardReports): GuardHandlers {
  return {
    async status(request) {
      const status = request.accountId === guard.accountId ? guard.status() : undefined;
      if (status === undefined) throw notFound(request);
      return { body: successEnvelope(status) };
    },

    async rates(request) {
      const told = request.accountId === guard.accountId ? guard.rates() : undefined;
      if (told === undefined) throw notFound(request);
      return { body: successEnvelope(told) };
    },

    async whatIf(request) {
      const told = request.accountId === guard.accountId ? await guard.whatIf() : undefined;
      if (told === undefined) throw notFound(request);
      return { body: successEnvelope(told) };
    },

    async attacks(request) {
      const asked = readAttackQuery(request.query);
      const { page, perPage } = asked;
      const { result, total } = await guard.attacks(request.accountId, asked);
      const resultInfo = {
        ...{ page, per_page: perPage, count: result.length, total_count: total },
        total_pages: Math.ceil(total / perPage),
      };
      return { body: successEnvelope(result, { resultInfo }) };
    },

    async attack(request) {
      const attack = await guard.attack(request.accountId, request.attackId.toLowerCase());
      if (attack === undefined) throw notFound(request);
      return { body: successEnvelope(attack) };
    },

    async fleet({ accountId }) {
      return { body: successEnvelope(await guard.fleet(accountId)) };
    },
  };
}

interface Bounds {
  readonly standard: number;
  readonly highest: number;
}
const PAGES: Bounds = { standard: 1, highest: Number.MAX_SAFE_INTEGER };
const PER_PAGE: Bounds = { standard: DEFAULT_ATTACKS_PER_PAGE, highest: MAX_ATTACKS_PER_PAGE };

/** Throws `InvalidRule` with every fault. Parameters that it does not know are ignored. */
function readAttackQuery(query: ApiRequest['query']): AttackPageRequest {
  const faults: Fault[] = [];
  const wrong = (name: string, allowed: string): undefined => {
    const value = query[name];
    const got = typeof value === 'string' ? shown(value) : 'more than one value';
    faults.push({ pointer: pointerTo(name), message: `${name} must be ${allowed}; got ${got}` });
  };
  const number = (name: string, { standard, highest }: Bounds, allowed: string): number =>
    readInteger(query[name], standard, highest) ?? wrong(name, allowed) ?? standard;
  const moment = (name: string): number | undefined => {
    const text = query[name];
    if (text === undefined) return undefined;
    const parsed = typeof text === 'string' ? parseMoment(text) : undefined;
    if (parsed === undefined) return wrong(name, 'a time such as 2026-11-20T22:10:38Z');
    return Math.floor(parseTimestamp(parsed) / MICROS_PER_MILLI);
  };
  const word = (name: string): string | undefined => {
    const text = query[name];
    return text === undefined || typeof text === 'string' ? text : wrong(name, 'one value');
  };
  const perPageAllowed = `an integer from 1 to ${MAX_ATTACKS_PER_PAGE}`;
  const asked = {
    page: number('page', PAGES, 'an integer from 1'),
    perPage: number('per_page', PER_PAGE, perPageAllowed),
    sinceMs: moment('since'),
    untilMs: moment('until'),
    region: word('region'),
    datacenter: word('datacenter'),
  };
  if (faults.length > 0) throw new InvalidRule(faults);
  return asked;
}
