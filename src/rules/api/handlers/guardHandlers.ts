import {
  type AuditLog,
  allowedLocation,
  BadZoneError,
  canonicalZone,
  type Fault,
  InvalidRule,
  isLocationName,
  isRuleId,
  MAX_NAME_CHARACTERS,
  parseMoment,
  parseTimestamp,
  periodFaults,
  pointerTo,
  quoteText,
} from '../../index.ts';
import { successEnvelope } from '../http/envelope.ts';
import { readInteger, readPageRequest, slicePage } from '../http/paging.ts';
import type { ApiRequest, ApiResponse } from '../http/request.ts';
import { notFound } from './collectionHandlers.ts';

type Handler = (request: ApiRequest) => Promise<ApiResponse>;

/** Maximum number of attacks per page. An attack has up to a few KB. */
export const MAX_ATTACKS_PER_PAGE = 100;
export const DEFAULT_ATTACKS_PER_PAGE = 25;
const MICROS_PER_MILLI = 1000;
const HOUR_MS = 3_600_000;
const MOMENT_ALLOWED = 'a time such as 2026-11-20T22:10:38Z';

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
  /** Returns the mean query rates of the guard for each minute of a period; undefined if no guard runs. */
  minuteRates(span: { readonly sinceMs: number; readonly untilMs: number }): object | undefined;
  /** Returns samples of the queries that the guard limited in one second; undefined if no guard runs. */
  samples(atMs: number): object | undefined;
  /** Returns the effect that other sensitivities would have had on the queries of the last minute, by simulation. */
  whatIf(): Promise<object> | undefined;
  attacks(
    accountId: string,
    request: AttackPageRequest,
  ): Promise<{ readonly result: readonly object[]; readonly total: number }>;
  attack(accountId: string, id: string): Promise<object | undefined>;
  /** Returns the assessments of zones, those with the most queries first; undefined if no guard runs. */
  assessments(): readonly { readonly zone: string }[] | undefined;
  /** Whether guards of this account read the audit log of this server, and so forget zones. */
  mayForget(accountId: string): boolean;
  /** Returns recent attacks, detected by this guard, that ended after a time in milliseconds since 1970. */
  endedSince(ms: number): readonly object[];
  /** Returns the guards that protect an account, in the form of the schema `FleetInstance`. */
  fleet(accountId: string): Promise<readonly object[]>;
}

export interface GuardHandlers {
  readonly status: Handler;
  readonly rates: Handler;
  readonly minuteRates: Handler;
  readonly samples: Handler;
  readonly whatIf: Handler;
  readonly attacks: Handler;
  readonly attack: Handler;
  readonly fleet: Handler;
  readonly assessments: Handler;
  readonly forget: Handler;
}

/** Returns the zone of a policy; undefined if the account has no policy with this id. */
export type ZoneOf = (accountId: string, policyId: string) => Promise<string | undefined>;

export interface GuardHandlersDependencies {
  readonly audit: Pick<AuditLog, 'addForgotten'>;
  readonly zoneOf: ZoneOf;
}

export function guardHandlers(
  guard: GuardReports,
  { audit, zoneOf }: GuardHandlersDependencies,
): GuardHandlers {
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

    async minuteRates(request) {
      const { since, until: asked } = readMoments(request.query, ['since', 'until']);
      const faults = periodFaults(since, asked);
      if (faults.length > 0) throw new InvalidRule(faults);
      const until = asked ?? Date.now();
      const span = { sinceMs: since ?? until - HOUR_MS, untilMs: until };
      const reported = request.accountId === guard.accountId ? guard.minuteRates(span) : undefined;
      if (reported === undefined) throw notFound(request);
      return { body: successEnvelope(reported) };
    },

    async samples(request) {
      const { at = Number.NaN } = readMoments({ at: '', ...request.query }, ['at']);
      const reported = request.accountId === guard.accountId ? guard.samples(at) : undefined;
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

    async assessments(request) {
      const all = request.accountId === guard.accountId ? guard.assessments() : undefined;
      if (all === undefined) throw notFound(request);
      const name = readZone(request.query);
      const matching = name === undefined ? all : all.filter(({ zone }) => zone === name);
      const { result, resultInfo } = slicePage(matching, readPageRequest(request.query));
      return { body: successEnvelope(result, { resultInfo }) };
    },

    async forget(request) {
      const { accountId: account, zoneId, actor } = request;
      const policy = zoneId.toLowerCase();
      const mayExist = isRuleId(zoneId) && guard.mayForget(account);
      const zone = mayExist ? await zoneOf(account, policy) : undefined;
      if (zone === undefined) throw notFound(request);
      await audit.addForgotten({ account, zone, policy }, actor);
      return { body: successEnvelope() };
    },
  };
}

interface Bounds {
  readonly standard: number;
  readonly highest: number;
}
const PAGES: Bounds = { standard: 1, highest: Number.MAX_SAFE_INTEGER };
const PER_PAGE: Bounds = { standard: DEFAULT_ATTACKS_PER_PAGE, highest: MAX_ATTACKS_PER_PAGE };

/** Returns the zone in the query in its canonical form. Throws `InvalidRule` if it is not one name. */
function readZone({ zone }: ApiRequest['query']): string | undefined {
  if (zone === undefined) return undefined;
  try {
    return canonicalZone(zone);
  } catch (error) {
    if (!(error instanceof BadZoneError)) throw error;
    throw new InvalidRule([{ pointer: pointerTo('zone'), message: error.message }]);
  }
}

/** Returns times in milliseconds since 1970, undefined if omitted. Throws `InvalidRule` with all faults. */
function readMoments<Name extends string>(
  query: ApiRequest['query'],
  names: readonly Name[],
): Partial<Record<Name, number>> {
  const faults: Fault[] = [];
  const entries = names.flatMap((name) => {
    const text = query[name];
    if (text === undefined) return [];
    const parsed = typeof text === 'string' ? parseMoment(text) : undefined;
    if (parsed !== undefined) return [[name, Math.floor(parseTimestamp(parsed) / MICROS_PER_MILLI)]];
    const got = typeof text === 'string' ? quoteText(text) : 'more than one value';
    const message = `${name} must be ${MOMENT_ALLOWED}; got ${got}`;
    faults.push({ pointer: pointerTo(name), message });
    return [];
  });
  if (faults.length > 0) throw new InvalidRule(faults);
  return Object.fromEntries(entries) as Partial<Record<Name, number>>; // keys: names
}

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
    if (parsed === undefined) return wrong(name, MOMENT_ALLOWED);
    return Math.floor(parseTimestamp(parsed) / MICROS_PER_MILLI);
  };
  const location = (name: string): string | undefined => {
    const text = query[name];
    if (text === undefined) return undefined;
    const isValid = typeof text === 'string' && text.length <= MAX_NAME_CHARACTERS && isLocationName(text);
    return isValid ? text : wrong(name, allowedLocation);
  };
  const perPageAllowed = `an integer from 1 to ${MAX_ATTACKS_PER_PAGE}`;
  const asked = {
    page: number('page', PAGES, 'an integer from 1'),
    perPage: number('per_page', PER_PAGE, perPageAllowed),
    sinceMs: moment('since'),
    untilMs: moment('until'),
    region: location('region'),
    datacenter: location('datacenter'),
  };
  faults.push(...periodFaults(asked.sinceMs, asked.untilMs));
  if (faults.length > 0) throw new InvalidRule(faults);
  return asked;
}
