import { type Fault, InvalidRule, parseMoment, parseTimestamp, pointerTo, quoteText } from '../../index.ts';
import { successEnvelope } from '../http/envelope.ts';
import { readInteger } from '../http/paging.ts';
import type { ApiRequest, ApiResponse } from '../http/request.ts';
import { notFound } from './collectionHandlers.ts';

type Handler = (request: ApiRequest) => Promise<ApiResponse>;

/** Maximum number of attacks per page. An attack has up to a few KB. */
export const MAX_ATTACKS_PER_PAGE = 100;
export const DEFAULT_ATTACKS_PER_PAGE = 25;
const MICROS_PER_MILLI = 1000;

export interface AttackPageRequest {
  readonly page: number;
  readonly perPage: number;
  readonly sinceMs: number | undefined;
  readonly untilMs: number | undefined;
  readonly region: string | undefined;
  readonly datacenter: string | undefined;
}

/** Reports of the guard in this process and, if guards share a database, of the account's other guards. */
export interface GuardReports {
  /** Account that the guard in this process protects; undefined if no guard runs. */
  readonly accountId: string | undefined;
  /** Returns the guard's current status; undefined if no guard runs. */
  status(): object | undefined;
  /** Returns the query rates of the guard for each second; undefined if no guard runs. */
  rates(): object | undefined;
  /** Returns the effect that other sensitivities would have had on the queries of the last minute, by simulation. */
  whatIf(): Promise<object> | undefined;
  attacks(
    accountId: string,
    request: AttackPageRequest,
  ): Promise<{ readonly result: readonly object[]; readonly total: number }>;
  attack(accountId: string, id: string): Promise<object | undefined>;
  /** Returns recent attacks, detected by this guard, that ended after a time in milliseconds since 1970. */
  endedSince(ms: number): readonly object[];
  /** Returns the guards that protect an account, in the form of the schema `FleetInstance`. */
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

export function guardHandlers(guard: GuardReports): GuardHandlers {
  return {
    async status(request) {
      const status = request.accountId === guard.accountId ? guard.status() : undefined;
      if (status === undefined) throw notFound(request);
      return { body: successEnvelope(status) };
    },

    async rates(request) {
      const reported = request.accountId === guard.accountId ? guard.rates() : undefined;
      if (reported === undefined) throw notFound(request);
      return { body: successEnvelope(reported) };
    },

    async whatIf(request) {
      const reported = request.accountId === guard.accountId ? await guard.whatIf() : undefined;
      if (reported === undefined) throw notFound(request);
      return { body: successEnvelope(reported) };
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

/** Parses the query parameters of a list of attacks. Ignores unknown ones. Throws `InvalidRule` with all faults. */
function readAttackQuery(query: ApiRequest['query']): AttackPageRequest {
  const faults: Fault[] = [];
  const wrong = (name: string, allowed: string): undefined => {
    const value = query[name];
    const got = typeof value === 'string' ? quoteText(value) : 'more than one value';
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
