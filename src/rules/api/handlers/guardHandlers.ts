import {
  type AuditLog,
  allowedLocation,
  BadZoneError,
  canonicalZone,
  InvalidRule,
  isLocationName,
  isRuleId,
  MAX_NAME_CHARACTERS,
  parseTimestamp,
  pointerTo,
} from '../../index.ts';
import { successEnvelope } from '../http/envelope.ts';
import { readPageRequest, slicePage } from '../http/paging.ts';
import { type QueryReader, readQuery } from '../http/queryReader.ts';
import type { ApiRequest, ApiResponse } from '../http/request.ts';
import { notFound } from './collectionHandlers.ts';

type Handler = (request: ApiRequest) => Promise<ApiResponse>;

/** Maximum number of attacks per page. An attack has up to a few KB. */
export const MAX_ATTACKS_PER_PAGE = 100;
export const DEFAULT_ATTACKS_PER_PAGE = 25;
const MICROS_PER_MILLI = 1000;
const HOUR_MS = 3_600_000;

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
  /** Sends a report of the guard in this process, if it protects the account of the request. */
  const send = async (
    request: ApiRequest,
    report: () => Promise<object> | object | undefined,
  ): Promise<ApiResponse> => {
    const reported = request.accountId === guard.accountId ? await report() : undefined;
    if (reported === undefined) throw notFound(request);
    return { body: successEnvelope(reported) };
  };
  return {
    status: (request) => send(request, () => guard.status()),
    rates: (request) => send(request, () => guard.rates()),
    whatIf: (request) => send(request, () => guard.whatIf()),
    async minuteRates(request) {
      const { sinceMs, untilMs = Date.now() } = readQuery(request.query, periodOf);
      return send(request, () => guard.minuteRates({ sinceMs: sinceMs ?? untilMs - HOUR_MS, untilMs }));
    },
    async samples(request) {
      const at = readQuery({ at: '', ...request.query }, (reader) => reader.moment('at'));
      return send(request, () => guard.samples(millisOf(at) ?? Number.NaN));
    },
    async attacks({ accountId, query }) {
      const asked = readQuery(query, attackPage);
      const { page, perPage } = asked;
      const { result, total } = await guard.attacks(accountId, asked);
      const resultInfo = {
        page,
        per_page: perPage,
        count: result.length,
        total_count: total,
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

const millisOf = (moment: string | undefined): number | undefined =>
  moment === undefined ? undefined : Math.floor(parseTimestamp(moment) / MICROS_PER_MILLI);

function periodOf(reader: QueryReader): Pick<AttackPageRequest, 'sinceMs' | 'untilMs'> {
  const { since, until } = reader.period();
  return { sinceMs: millisOf(since), untilMs: millisOf(until) };
}

function attackPage(reader: QueryReader): AttackPageRequest {
  const location = (name: string): string | undefined =>
    reader.read(name, allowedLocation, (text) =>
      text.length <= MAX_NAME_CHARACTERS && isLocationName(text) ? text : undefined,
    );
  return {
    page: reader.integer('page') ?? 1,
    perPage: reader.integer('per_page', MAX_ATTACKS_PER_PAGE) ?? DEFAULT_ATTACKS_PER_PAGE,
    ...periodOf(reader),
    region: location('region'),
    datacenter: location('datacenter'),
  };
}
